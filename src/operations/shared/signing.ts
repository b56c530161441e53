/**
 * The signing keys of a deployment: which key is in use, how a new key is taken in, and how the old one is
 * retired.
 *
 * A rotation is a certificate signed by both keys, and an entry of the system chain. It is then also the
 * first entry that each other chain gets. Until the old key is retired, every checkpoint carries both
 * signatures.
 * Source: evidence design, section 11.
 */
import { organizationOf, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { isUnavailable, unavailable } from "../../domain/errors.ts";
import { type Crypto, equalBytes, type Signer } from "../../evidence/crypto.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import type { KnownCheckpoint } from "../../evidence/kept.ts";
import { OwnNotes } from "../../evidence/own_notes.ts";
import { formatRotationCertificate, parseRotationCertificate } from "../../evidence/rotation.ts";
import type { Log } from "../../observability/log.ts";
import type { StoredHead } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import type { SigningKeyRow } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import {
  insertSigningKey,
  readSigningKeys,
  retireKeysBefore,
  SIGNING_KEYS_QUERY,
} from "../../store/signing_keys.ts";
import type { Signing, SigningSource, Writer } from "../../store/writer.ts";
import { originOf } from "./deployment.ts";
import { eventDraft } from "./drafts.ts";
import type { World } from "../../domain/world.ts";

/** The source of the private keys. */
export interface SignerSource {
  /** A stamp of the files: it changes if one of them changes. */
  stamp(): string;
  /** The key in use, then the previous one if it is still held. @throws if a file is no key. */
  read(): readonly Signer[];
}

export interface SigningKeysOptions {
  readonly database: Database;
  readonly crypto: Crypto;
  readonly world: World;
  readonly source: SignerSource;
  readonly log: Pick<Log, "error">;
}

/** The keys that this process signs with, kept in step with the files and the database. */
export class SigningKeys implements SigningSource {
  readonly rows = SIGNING_KEYS_QUERY;
  readonly #options: SigningKeysOptions;
  #stamp: string;
  #signers: readonly Signer[];
  #rows: readonly SigningKeyRow[] = [];
  #isLeftBehind = false;
  /** The rows that were found certified, so that they are looked at once. */
  #certified = "";
  readonly #own: OwnNotes;

  constructor(options: SigningKeysOptions) {
    this.#options = options;
    this.#own = new OwnNotes(options.crypto);
    this.#stamp = options.source.stamp();
    this.#signers = options.source.read();
  }

  /** The signers that were read from the files, whether or not the database knows their keys. */
  get held(): readonly Signer[] {
    return this.#signers;
  }

  /** The keys that the database knows, oldest first. */
  get known(): readonly SigningKeyRow[] {
    return this.#rows;
  }

  /**
   * The checkpoint in a note, if it has this origin and one of this deployment's own keys signed it; else
   * null. Own keys are those that the process holds, and those that certificates join to them. Other keys in
   * the database are not own.
   */
  async openOwn(note: string, origin: string): Promise<KnownCheckpoint | null> {
    const known = this.#ownNotes().open(note, origin);
    if (known !== null) return known;
    // Another process may have taken in a key since this one last read the keys.
    await this.#refreshIfAvailable();
    return this.#ownNotes().open(note, origin);
  }

  #ownNotes(): OwnNotes {
    this.#own.setSources({
      held: this.#signers.map(({ publicKey }) => publicKey),
      certificates: this.#rows.flatMap(({ certificate }) => certificate === null ? [] : [certificate]),
    });
    return this.#own;
  }

  async #refreshIfAvailable(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }

  /**
   * The keys to sign with now.
   * @throws {ServiceError} SERVICE_UNAVAILABLE if the process holds no key that the database lets sign;
   *   {AlteredRows}.
   */
  current(): Signing {
    return this.#signingBy(this.#signers, this.#rows);
  }

  /**
   * The keys to sign with now, after a look at the files and the database: a rotation by another process
   * takes effect at once, and a retired key signs nothing more, whether or not its successor can be read.
   * @throws as {@link current}.
   */
  async refresh(): Promise<Signing> {
    return this.update(await this.#load());
  }

  /**
   * Like {@link refresh}, with rows that were read from the database just now.
   * @throws as {@link current}.
   */
  update(rows: readonly SigningKeyRow[]): Signing {
    const { source } = this.#options;
    const stamp = source.stamp();
    this.#rows = rows;
    if (stamp !== this.#stamp || this.#holdsUnknown()) {
      const [first, ...others] = this.#readFiles();
      // A rotation changes the files first; until the database knows the new key, the old one goes on
      // signing.
      if (first !== undefined && this.#isKnown(first)) {
        this.#stamp = stamp;
        this.#signers = [first, ...others];
      }
    }
    this.#logIfLeftBehind();
    return this.current();
  }

  /** True if each key but the first was handed on to by the one before it, as its certificate says. */
  #areCertified(rows: readonly SigningKeyRow[]): boolean {
    const name = rows.map((row) => `${row.ordinal} ${row.public_key.toHex()} ${row.certificate}`).join("\n");
    if (name === this.#certified) return true;
    const { crypto } = this.#options;
    const areCertified = rows.every(({ ordinal, public_key, certificate }, index) => {
      const before = rows[index - 1];
      if (ordinal !== index + 1) return false;
      if (before === undefined) return certificate === null;
      const rotation = certificate === null ? null : parseRotationCertificate(crypto, certificate);
      return rotation?.ordinal === ordinal && equalBytes(rotation.oldKey, before.public_key) &&
        equalBytes(rotation.newKey, public_key);
    });
    if (areCertified) this.#certified = name;
    return areCertified;
  }

  #isKnown({ publicKey }: Signer): boolean {
    return this.#rows.some((row) => equalBytes(row.public_key, publicKey));
  }

  #logIfLeftBehind(): void {
    const newest = this.#rows.at(-1);
    const isLeftBehind = newest !== undefined &&
      !this.#signers.some(({ publicKey }) => equalBytes(publicKey, newest.public_key));
    if (isLeftBehind && !this.#isLeftBehind) {
      this.#options.log.error(
        "the signing key was rotated, but JISS_SIGNING_KEY_FILE does not hold the new one: the old one signs until it is retired; after that nothing is recorded",
      );
    }
    this.#isLeftBehind = isLeftBehind;
  }

  /**
   * True if the database does not know a held key: another process may have taken it in, for example after a
   * restore.
   */
  #holdsUnknown(): boolean {
    return this.#rows.length > 0 && !this.#signers.every((signer) => this.#isKnown(signer));
  }

  /**
   * The signers in the files; none if the files cannot be read, perhaps during a change: the held keys go on.
   */
  #readFiles(): readonly Signer[] {
    try {
      return this.#options.source.read();
    } catch {
      return [];
    }
  }

  /** Reads again the keys that the database knows. */
  async reload(): Promise<void> {
    this.#rows = await this.#load();
  }

  #load(): Promise<readonly SigningKeyRow[]> {
    return readSigningKeys(this.#options.database);
  }

  #signingBy(signers: readonly Signer[], rows: readonly SigningKeyRow[]): Signing {
    const { world } = this.#options;
    // No key is retired before its successor signs.
    if (rows.at(-1)?.until_size != null || !this.#areCertified(rows)) {
      throw new AlteredRows(SYSTEM_CHAIN, "a row of signing_key");
    }
    const active = rows.filter((row) => row.until_size === null);
    // If a rotation was cut short, both files may hold the same key: it signs once.
    const known = signers.filter(({ publicKey }, index) =>
      active.some((row) => equalBytes(row.public_key, publicKey)) &&
      signers.findIndex((other) => equalBytes(other.publicKey, publicKey)) === index
    );
    // The first key has no row until the installation has one.
    const usable = rows.length === 0 ? signers.slice(0, 1) : known;
    const [first] = usable;
    if (first === undefined) {
      throw unavailable("The signing key was rotated, and this process does not have the new one yet.");
    }
    const ordinal = rows.find((row) => equalBytes(row.public_key, first.publicKey))?.ordinal ?? 1;
    return {
      signers: usable,
      ordinal,
      rotations: (head) =>
        rows.filter((row) =>
          row.ordinal > head.keyOrdinal && row.ordinal <= ordinal && row.certificate !== null
        )
          .map((row) => rotationDraft(world, { head, certificate: row.certificate!, overlap: true })),
    };
  }
}

function rotationDraft(
  world: World,
  { head: { family, lastTimestamp }, certificate, overlap }: {
    readonly head: Pick<StoredHead, "family" | "lastTimestamp">;
    readonly certificate: string;
    readonly overlap: boolean;
  },
): EntryDraft {
  return eventDraft(world, {
    type: "SIGNING_KEY_ROTATED",
    caller: { actor: "system", orgId: organizationOf(family), prefix: null },
    now: Date.parse(lastTimestamp),
    detail: { cert: certificate, overlap },
  });
}

export interface RotationContext {
  readonly writer: Writer;
  readonly crypto: Crypto;
  readonly world: World;
  readonly logName: string;
  readonly installation: { readonly deploymentId: string };
}

/** Takes in a new key: both keys sign the certificate, and every checkpoint from this commit on. */
export async function takeInKey(
  context: RotationContext,
  { current, next, now, reason }: {
    readonly current: Signing;
    readonly next: Signer;
    readonly now: number;
    readonly reason: string;
  },
): Promise<void> {
  const { writer, crypto, world } = context;
  const [old] = current.signers;
  const ordinal = current.ordinal + 1;
  const certificate = formatRotationCertificate(crypto, {
    prefix: originOf(context, ""),
    ordinal,
    from: new Date(now).toISOString(),
    reason,
    old: old!,
    new: next,
  });
  const draft = rotationDraft(world, {
    head: { family: SYSTEM_CHAIN, lastTimestamp: new Date(now).toISOString() },
    certificate,
    overlap: true,
  });
  await writer.submit({
    needs: [],
    chains: [SYSTEM_CHAIN],
    signing: { signers: [next, old!], ordinal, rotations: current.rotations },
    plan(unit) {
      const { position } = unit.append(SYSTEM_CHAIN, draft);
      unit.setSigningKey(SYSTEM_CHAIN, ordinal);
      unit.execute(
        insertSigningKey({
          ordinal,
          public_key: next.publicKey,
          certificate,
          from_size: position + 1,
          until_size: null,
        }),
      );
      return () => undefined;
    },
  });
}

/**
 * Completes a rotation that was cut short between its files and its entry: the database does not know the key
 * in use yet, but knows the one before it.
 */
export async function finishRotation(
  context: RotationContext & { readonly signing: SigningKeys; readonly now: number },
): Promise<void> {
  const { signing, now } = context;
  const [next] = signing.held;
  if (signing.known.some((row) => equalBytes(row.public_key, next!.publicKey))) return;
  await takeInKey(context, { current: signing.current(), next: next!, now, reason: "scheduled" });
  await signing.reload();
}

/** Ends the overlap: from this commit on, the old key signs nothing more. */
export async function retireKey(
  { writer, world }: RotationContext,
  { current, known, now }: {
    readonly current: Signing;
    readonly known: readonly SigningKeyRow[];
    readonly now: number;
  },
): Promise<void> {
  const own = known.find((row) => row.ordinal === current.ordinal)!;
  const draft = rotationDraft(world, {
    head: { family: SYSTEM_CHAIN, lastTimestamp: new Date(now).toISOString() },
    certificate: own.certificate!,
    overlap: false,
  });
  await writer.submit({
    needs: [],
    chains: [SYSTEM_CHAIN],
    signing: { ...current, signers: current.signers.slice(0, 1) },
    plan(unit) {
      const { position } = unit.append(SYSTEM_CHAIN, draft);
      unit.execute(retireKeysBefore(current.ordinal, position));
      return () => undefined;
    },
  });
}
