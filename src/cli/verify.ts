/**
 * `jiss verify`: works offline, with the given files only. It reads no configuration and opens no database.
 *
 * Saved documents are verified first, at any place on the command line: the bundles of their log are compared
 * with what they prove. Then all bundles go through one verifier, in an order of its own, so that the epochs
 * of a chain and the anchors of the system chain are compared across files.
 */
import { parseChain, splitName } from "../evidence/chain_name.ts";
import { OtherDeployments, placeOf } from "../evidence/other_deployments.ts";
import type { FileReport } from "../evidence/files.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "../evidence/kept.ts";
import type { KeyHolders } from "../evidence/key_holders.ts";
import { seedOf } from "../evidence/keyed_hash.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import type { BundleReport } from "../evidence/report.ts";
import type { PinnedKey } from "../evidence/trust.ts";
import { requireNewCertificate, writeCertificate } from "./auditor_certificate.ts";
import { AuditorMemory } from "./auditor_memory.ts";
import { AuditorTrust, readCheckpoints, readPins } from "./auditor_trust.ts";
import { CommandFailure, EXIT, isSystemError, type Shell } from "./shell.ts";
import { verifyBundles } from "./verify_bundles.ts";
import { compareDocument, readDocuments } from "./verify_documents.ts";
import { gatherGiven } from "./verify_given.ts";
import { digestInput, type Input, openInput, STANDARD_INPUT } from "./verify_input.ts";
import { jsonReport } from "./verify_json.ts";
import { isIntact, judge, type Outcome } from "./verify_outcome.ts";
import { reportText } from "./verify_report.ts";

/** The contract's exit code if files can be neither verified nor refuted: never 1, which means a fault. */
const UNUSABLE = EXIT.usage;

export interface VerifyOptions {
  /** Key files, or keys. */
  readonly key?: readonly string[];
  readonly checkpoint?: readonly string[];
  /** The auditor's directory. */
  readonly state?: string;
  readonly replay: boolean;
  readonly json?: boolean;
  /** A file that does not exist yet, for the auditor's certificate. */
  readonly report?: string;
}

/**
 * Verifies the files and returns the exit code: 0 intact, 1 tampered or diverged, 2 not verifiable or not
 * compared.
 * @throws {CommandFailure} 2 if nothing can be verified. Or, after the verdict was printed, if the visit could
 * not be kept or the certificate not be written: then 1 if a fault was found, else 2.
 */
export async function verify(
  shell: Pick<Shell, "clock" | "realWorld" | "version">,
  files: readonly string[],
  options: VerifyOptions,
) {
  const { report, json = false } = options;
  try {
    if (report !== undefined) requireNewCertificate(report);
    const { outcome, notKept } = await verifyFiles(shell, files, options);
    console.log(json ? JSON.stringify(jsonReport(outcome)) : reportText(outcome));
    const notWritten = report === undefined
      ? null
      : await writeCertificate(shell, outcome, { path: report, isSilent: json });
    const { exitCode } = judge(outcome);
    const failures = [notKept, notWritten].filter((failure) => failure !== null);
    if (failures.length === 0) return exitCode;
    throw new CommandFailure(
      failures.map(({ message }) => message).join("\njiss: "),
      exitCode === 1 ? exitCode : UNUSABLE,
    );
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    // A failure of this program says nothing against the files.
    const { message, stack } = error as Error;
    throw new CommandFailure(
      isSystemError(error) ? message : `this program failed: ${stack ?? message}`,
      UNUSABLE,
    );
  }
}

async function verifyFiles(
  { clock, realWorld }: Pick<Shell, "clock" | "realWorld">,
  files: readonly string[],
  { key = [], checkpoint = [], state, replay, report }: VerifyOptions,
): Promise<{
  readonly outcome: Outcome;
  /** The reason why the visit could not be kept; null if it was, or if it was not to be. */
  readonly notKept: CommandFailure | null;
}> {
  if (files.filter((file) => file === STANDARD_INPUT).length > 1) {
    throw new CommandFailure("standard input can be given only once", UNUSABLE);
  }
  const keyFiles = await readPins(key);
  const givenKeys = keyFiles.flatMap(({ keys }) => keys);
  const checkpointFiles = await readCheckpoints(checkpoint);
  const kept = checkpointFiles.flatMap(({ checkpoints }) => checkpoints);
  using memory = state === undefined
    ? null
    : await AuditorMemory.open(state, { create: givenKeys.length > 0 });
  const pins = pinsOf(givenKeys, memory);
  if (pins === null && kept.length > 0) {
    throw new CommandFailure(
      "--checkpoint needs --key: a checkpoint proves something only under a key that you trust",
      UNUSABLE,
    );
  }
  using opened = await openInputs(files);
  const digested = report === undefined ? null : opened.all.map(digestInput);
  const inputs = digested ?? opened.all;

  const bundles = sortBundles(inputs.filter(({ head }) => head !== null));
  const trust = new AuditorTrust(pins ?? [], [...new Set(bundles.flatMap(({ head }) => head!.certificates))]);
  const documentsRead = await readDocuments(inputs.filter(({ head }) => head === null), {
    trust,
    hasPins: pins !== null,
  });
  const proven = documentsRead.flatMap(({ report, isFormer }) =>
    report?.fault === null ? [{ report, isCurrent: !isFormer }] : []
  );
  const remembered = memory?.checkpoints ?? [];
  const known: readonly KeptCheckpoint[] = [...kept, ...remembered];
  const { reports, holders } = await verifyBundles(clock, bundles, {
    pins,
    together: [
      ...keyFiles.map(({ keys }) => keys.map(({ publicKey }) => publicKey)),
      ...memory?.holders ?? [],
    ],
    known,
    proven,
    replay,
    census: report !== undefined,
    seed: seedOf(realWorld().random(8)),
  });

  const current = proven.filter(({ isCurrent }) => isCurrent).map(({ report }) => report.checkpoint!);
  const trusted = [...known.filter((one) => trust.isSigned(one)), ...current];
  const otherDeployments = OtherDeployments.of(nodeCrypto, { kept: known, holders });
  const documents = documentsRead.map((document) =>
    compareDocument(document, { reports, known: trusted, kept: known, otherDeployments, trust })
  );
  const outcome = {
    bundles: reports.map((report) => ({
      ...report,
      contradicted: contradictedBy(report, trusted),
    })),
    documents,
    replay,
    unusedCheckpoints: unusedCheckpoints(kept, [...reports, ...proven.map(({ report }) => report)]).length,
    rememberedIn: memory === null ? null : memory.directory,
    given: digested && await gatherGiven(digested, { keyFiles, checkpointFiles, remembered, memory }),
  };
  if (memory === null) return { outcome, notKept: null };
  try {
    remember(memory, { outcome, given: givenKeys, known, trusted, reports, proven: current, holders, trust });
    return { outcome, notKept: null };
  } catch (error) {
    // The verdict must not be lost with the memory.
    if (!(error instanceof CommandFailure)) throw error;
    return { outcome: { ...outcome, rememberedIn: null }, notKept: error };
  }
}

/** The keys, checkpoints and certificates of a visit, for the next one. */
function remember(
  memory: AuditorMemory,
  { outcome, given, known, trusted, reports, proven, holders, trust }: {
    readonly outcome: Outcome;
    /** The keys of `--key`. */
    readonly given: readonly PinnedKey[];
    readonly known: readonly KeptCheckpoint[];
    /** Checkpoints that trusted keys signed: known ones, and those of saved documents. */
    readonly trusted: readonly KnownCheckpoint[];
    readonly reports: readonly FileReport[];
    /** Checkpoints of saved documents that a key in use signed. */
    readonly proven: readonly KnownCheckpoint[];
    readonly holders: KeyHolders;
    readonly trust: AuditorTrust;
  },
): void {
  const own = [...given.map(({ publicKey }) => publicKey), ...memory.keys, ...memory.holders.flat()];
  const together = holders.severalOf(own);
  if (!isIntact(judge(outcome))) {
    // Both keys signed the certificate that joins them, whatever it came with: it must not be forgotten.
    const isOpen = judge(outcome).verdict === "INTACT, NOT COMPARED";
    if (isOpen && memory.keys.length > 0) {
      memory.remember({ keys: [], holderKeys: together, checkpoints: [] });
    }
    return;
  }
  const found = reports.flatMap(({ checkpoint }) => checkpoint === null ? [] : [checkpoint]);
  // Only keys in use are kept: an old key may be in anybody's hands by now, and must not be pinned later.
  const signers = found.map((one) => ({ ...one, keys: trust.currentSignersOf(one) }));
  const keys = [
    ...given.filter(({ until }) => until === null).map(({ publicKey }) => publicKey),
    ...signers.flatMap((one) => one.keys),
  ];
  const superseded = signers.flatMap((one) => trust.supersededBy(one.origin, one.keys));
  const checkpoints = [...trusted, ...found].map((one) => ({ ...one, isSettled: isSettled(one, reports) }));
  const all = OtherDeployments.of(nodeCrypto, { kept: [...known, ...proven, ...found], holders });
  const beside = [...proven, ...found].flatMap((one) => {
    const place = placeOf(one.origin);
    if (place === null) return [];
    const others = all.prefixesBeside({ place, keys: trust.signersOf(one) });
    return [...others].map((other) => [place.prefix, other] as const);
  });
  memory.remember({ keys, superseded, holderKeys: together, beside, checkpoints });
}

/**
 * Sorts the bundles so that each comes after those that it is compared with: system chains first, then
 * earlier epochs before later ones, and for one chain the smaller file first, which is mostly the older one.
 */
function sortBundles(bundles: readonly Input[]): readonly Input[] {
  const origins = bundles.map(({ head }) => head!.origin);
  const ranked = bundles.map((input) => {
    const { origin } = input.head!;
    const name = parseChain(splitName(origin)?.rest ?? "");
    const rank = [
      name?.family === "sys" ? 0 : 1,
      name?.epoch ?? 1,
      origins.indexOf(origin),
      input.size ?? Infinity,
    ];
    return { input, rank };
  });
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ input }) => input);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing < 0 ? 0 : a[differing]! < b[differing]! ? -1 : 1;
}

/** The given keys, else those of the memory; null if there is neither. */
function pinsOf(given: readonly PinnedKey[], memory: AuditorMemory | null): readonly PinnedKey[] | null {
  if (given.length > 0) return given;
  if (memory === null) return null;
  return memory.keys.map((publicKey) => ({ publicKey, prefix: null, from: null, until: null }));
}

/** Opens all files, so that an unreadable one is reported before anything is verified. */
async function openInputs(
  files: readonly string[],
): Promise<Disposable & { readonly all: readonly Input[] }> {
  const all: Input[] = [];
  for (const file of files) all.push(await openInput(file));
  return {
    all,
    [Symbol.dispose]() {
      for (const input of all) input.close();
    },
  };
}

/**
 * Whether the checkpoint was compared with the kept checkpoints of its family, in an earlier visit or now: a
 * bundle of the family is compared with all of them.
 */
function isSettled({ origin, isSettled = false }: KeptCheckpoint, reports: readonly BundleReport[]): boolean {
  const family = placeOf(origin)?.family;
  return isSettled || reports.some((report) => placeOf(report.origin)?.family === family);
}

// ---- what was kept ----------------------------------------------------------------------------------------

/** The kept checkpoints whose chain is not among the verified files. */
function unusedCheckpoints(
  kept: readonly KnownCheckpoint[],
  verified: readonly { readonly origin: string | null }[],
): readonly KnownCheckpoint[] {
  const origins = new Set(verified.map(({ origin }) => origin));
  return kept.filter(({ origin }) => !origins.has(origin));
}

/** The kept checkpoints that a bundle contradicts: those of the sizes that its findings name. */
function contradictedBy(
  { origin, verdict, findings }: BundleReport,
  known: readonly KnownCheckpoint[],
): readonly KnownCheckpoint[] {
  if (verdict !== "DIVERGED") return [];
  const named = findings.filter(({ code }) => code.endsWith("_VS_KNOWN_CHECKPOINT"))
    .flatMap(({ detail }) => [...(detail ?? "").matchAll(/size (\d+)/g)].map(([, size]) => Number(size)));
  return known.filter((checkpoint) => checkpoint.origin === origin && named.includes(checkpoint.size));
}
