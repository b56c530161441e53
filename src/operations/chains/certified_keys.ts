/**
 * The table of signing keys as the private keys at hand prove it. The proof is made of the keys that a
 * process holds, the certificates that join other keys to them, and the entries of the system chain that
 * record when each key was taken in and retired. The table itself is not trusted. Source: evidence design,
 * section 11.
 */
import { AlteredError } from "../../domain/errors.ts";
import { splitName, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { type Crypto, equalBytes } from "../../evidence/crypto.ts";
import { orNull } from "../../evidence/or_null.ts";
import { OwnNotes } from "../../evidence/own_notes.ts";
import { parseRotationCertificate, type Rotation } from "../../evidence/rotation.ts";
import { signingKeyRotatedSchema } from "../../evidence/structural.ts";
import { loadEpochs, newestCheckpoint, placesOfEvents, readEntry } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { readProven } from "../../store/proofs.ts";
import type { SigningKeyRow } from "../../store/records.ts";

export interface CertifiedKeys {
  /** The rows that the table must have, oldest first; none if no key at hand signed the system chain. */
  readonly rows: readonly SigningKeyRow[];
  /** Opens the deployment's own notes. */
  readonly notes: OwnNotes;
}

/** The database, and the cryptography to check it. */
export interface KeySource {
  readonly database: Database;
  readonly crypto: Crypto;
}

/**
 * Reads the table's rows from their proof.
 * @param held raw public keys whose private keys are at hand, the key in use first.
 */
export async function readCertifiedKeys(
  source: KeySource,
  held: readonly Uint8Array[],
): Promise<CertifiedKeys> {
  const { database, crypto } = source;
  const notes = new OwnNotes(crypto);
  notes.setSources({ held, certificates: [] });
  const epochs = await loadEpochs(database, SYSTEM_CHAIN);
  const origins = new Map(epochs.map(({ chain, origin }) => [chain, origin]));
  const prefix = splitName(epochs.at(-1)?.origin ?? "")?.prefix;
  if (prefix === undefined) return { rows: [], notes };
  const rotations = await readRotations(source, origins);
  notes.setSources({ held, certificates: rotations.map(({ certificate }) => certificate) });
  const ownRotations = rotations.filter(({ rotation: { newKey, prefix: rotationPrefix } }) =>
    rotationPrefix === prefix && notes.has(newKey, prefix)
  );
  const first = ownRotations.find(({ rotation }) => rotation.ordinal === FIRST_ROTATION)?.rotation.oldKey ??
    await signerOfSystemChain(source, held);
  if (first === null) return { rows: [], notes };
  const steps = await readProvenSteps(source, { ownRotations, origins, notes });
  const keys = [
    { ordinal: 1, public_key: first, certificate: null },
    // A service that ran on an altered table has recorded the same rotation again.
    ...steps.filter((step) => step.isTakenIn && step === takeInStepOf(steps, step.rotation.ordinal)).map((
      { rotation: { ordinal, newKey }, certificate },
    ) => ({
      ordinal,
      public_key: newKey,
      certificate,
    })),
  ];
  const rows = keys.map((key) => ({
    ...key,
    from_size: sizeAfter(takeInStepOf(steps, key.ordinal)),
    until_size:
      steps.find(({ isTakenIn, rotation }) => !isTakenIn && rotation.ordinal > key.ordinal)?.position ?? null,
  }));
  return { rows, notes };
}

/**
 * True if the deployment goes on with the keys at hand: the first of them that a row names is the newest row's.
 * Before a rotation is recorded no row names the first key, and the second one is in use.
 * @param rows rows of the table, oldest first.
 */
export function isNewestKeyHeld(
  rows: readonly Pick<SigningKeyRow, "public_key">[],
  held: readonly Uint8Array[],
): boolean {
  const newest = rows.at(-1)?.public_key;
  const inUse = held.find((key) => rows.some(({ public_key }) => equalBytes(public_key, key)));
  return newest !== undefined && inUse !== undefined && equalBytes(newest, inUse);
}

/** The entry with which a key came in; undefined for the key that the log began with. */
function takeInStepOf(steps: readonly RotationStep[], ordinal: number): RotationStep | undefined {
  return steps.find(({ isTakenIn, rotation }) => isTakenIn && rotation.ordinal === ordinal);
}

/** The first size of the system chain that is signed after an entry, counted over all epochs; 0 without one. */
function sizeAfter(step: RotationStep | undefined): number {
  return step === undefined ? 0 : step.position + 1;
}

const ROTATION_EVENT = "SIGNING_KEY_ROTATED";

/** The ordinal in the certificate of the first rotation. */
const FIRST_ROTATION = 2;

interface RecordedRotation {
  readonly chain: string;
  readonly seq: number;
  readonly position: number;
  readonly certificate: string;
  readonly rotation: Rotation;
}

/**
 * Rotations that entries of the system chain record. Each certificate is verified; the entries are proven
 * later.
 */
async function readRotations(
  { database, crypto }: KeySource,
  origins: ReadonlyMap<string, string>,
): Promise<readonly RecordedRotation[]> {
  const rotations: RecordedRotation[] = [];
  const places = await placesOfEvents(database, { family: SYSTEM_CHAIN, eventType: ROTATION_EVENT });
  for (const { chain, seq, position } of places) {
    if (!origins.has(chain)) continue;
    const text = (await readEntry(database, { chain, seq }))?.parts.get("detail")?.text;
    const certificate = parseDetail(text)?.cert;
    const rotation = certificate === undefined ? null : parseRotationCertificate(crypto, certificate);
    if (rotation !== null) rotations.push({ chain, seq, position, certificate: certificate!, rotation });
  }
  return rotations;
}

function parseDetail(text: string | undefined) {
  return signingKeyRotatedSchema.safeParse(orNull(() => JSON.parse(text ?? "null"))).data;
}

interface RotationStep extends Pick<RecordedRotation, "rotation" | "certificate" | "position"> {
  /** True if the key was taken in; false if the keys before it were retired. */
  readonly isTakenIn: boolean;
}

/** The steps of these rotations that proven entries record, in their order. */
async function readProvenSteps(
  { database, crypto }: KeySource,
  { ownRotations, origins, notes }: {
    readonly ownRotations: readonly RecordedRotation[];
    readonly origins: ReadonlyMap<string, string>;
    readonly notes: OwnNotes;
  },
): Promise<readonly RotationStep[]> {
  const signing = { openOwn: (note: string, origin: string) => Promise.resolve(notes.open(note, origin)) };
  const steps: RotationStep[] = [];
  for (const { chain, seq, position, certificate, rotation } of ownRotations) {
    try {
      const place = { chain, origin: origins.get(chain)!, seq };
      const proven = await readProven({ database, crypto, signing }, place);
      const detail = parseDetail(proven?.stored.parts.get("detail")?.text);
      if (proven?.stored.entry.event_type !== ROTATION_EVENT || detail?.cert !== certificate) continue;
      steps.push({ rotation, certificate, position, isTakenIn: detail.overlap });
    } catch (error) {
      if (!(error instanceof AlteredError)) throw error;
    }
  }
  return steps;
}

/** The held key that signed the newest checkpoint of the system chain; null if none did. */
async function signerOfSystemChain(
  { database, crypto }: KeySource,
  held: readonly Uint8Array[],
): Promise<Uint8Array | null> {
  const newest = (await loadEpochs(database, SYSTEM_CHAIN)).at(-1);
  const checkpoint = newest === undefined ? null : await newestCheckpoint(database, newest.chain);
  if (newest === undefined || checkpoint === null) return null;
  return held.find((publicKey) => {
    const own = new OwnNotes(crypto);
    own.setSources({ held: [publicKey], certificates: [] });
    return own.open(checkpoint.note, newest.origin) !== null;
  }) ?? null;
}
