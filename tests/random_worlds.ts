/**
 * An auditor's files from a deployment with a random life: exports at random moments, the checkpoints kept
 * from earlier visits, and the report that an honest verifier must give for each bundle in them.
 *
 * Everything follows from the seed. Nothing in these histories is an attack: any finding that is not foretold
 * here is a false alarm. The expectation follows from the sizes of chains and from the ends of days, which
 * are noted as they come, and from no part of the verifier.
 */
import { publicKeyPem } from "./auditing.ts";
import { parseChain, splitName } from "../src/evidence/chain_name.ts";
import { checkpointsIn, type KnownCheckpoint } from "../src/evidence/kept.ts";
import type { ExpectedEntry } from "../src/evidence/kept_check.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { formatVerifierKey } from "../src/evidence/note.ts";
import { originOf, retentionOf } from "../src/operations/shared/deployment.ts";
import { BUNDLE_PARTS, bundleFile, type BundleParts } from "../src/operations/chains/export.ts";
import { type Random, seeded } from "../src/simulation/random.ts";
import { newestCheckpoint } from "../src/store/chains.ts";
import { type Database, query } from "../src/store/database.ts";
import type { Answer } from "./harness.ts";
import { RandomDeployment } from "./random_deployment.ts";

/** Entries of the longest chain of a history. */
const LONGEST = 300;
/** The most steps of a history, and about how many from one file to the next. */
const STEPS = 300;
const STEPS_BETWEEN_FILES = 11;
/** The auditor keeps the evidence of one in this many answers. */
const KEPT_ANSWERS = 6;
/** About how many checkpoints a file is compared with. */
const KEPT_CHECKPOINTS = 8;
/** The most entries that one step adds, to all chains together. */
const STEP_ENTRIES = 30;

/** An exported file, and what its auditor has besides. */
export interface ExportedFile {
  /** Names it in a failure: with the seed it can be made again. */
  readonly name: string;
  readonly text: string;
  /** Trusted keys, as `--key` takes them. */
  readonly key: string;
  readonly known: readonly KnownCheckpoint[];
  readonly expected: readonly ExpectedEntry[];
  readonly replay: boolean;
  /** In the order of the file. */
  readonly bundles: readonly ExpectedReport[];
}

/** The report that a bundle must get. */
export interface ExpectedReport {
  readonly origin: string;
  readonly base: number;
  readonly size: number;
  readonly verdict: "INTACT" | "INTACT, UNANCHORED" | "INTACT, NOT COMPARED";
  readonly exit: 0 | 2;
  /** Parts that the file withholds. */
  readonly withheld: number;
  /** Codes of what is reported without being an alarm, in alphabetical order. */
  readonly reported: readonly string[];
  /** Codes that may be reported too, for operators and scores whose entries are not all in the file. */
  readonly mayReport: readonly string[];
}

/** Something to account for: kept, or pinned by a kept checkpoint of the system chain. */
type ToAccountFor = Pick<KnownCheckpoint, "origin" | "size">;

interface OpenCheckpoint extends ToAccountFor {
  /** Whether no bundle of its own chain shares a history with this one. */
  readonly isOfAnother: boolean;
}

interface ChainRow {
  readonly chain: string;
  readonly family: string;
  readonly origin: string;
  readonly size: number;
  readonly last_ts: string;
  readonly min_index: number;
}

/** The files of one history, as they are exported. With a directory, which must be empty, it has restores. */
export async function* randomHistory(
  seed: string,
  { directory = null }: { readonly directory?: string | null } = {},
): AsyncGenerator<ExportedFile> {
  const auditor = new Auditor(seed);
  const deployment = await RandomDeployment.open({
    seed,
    directory,
    onAnswer: (answer) => auditor.see(answer),
  });
  try {
    const random = seeded(`${seed}/moments`);
    const steps = Math.floor(random.uniform(1, STEPS));
    for (let step = 1; step <= steps; step += 1) {
      await deployment.step();
      const longest = Math.max(...(await auditor.look(deployment)).map(({ size }) => size));
      const isLast = step === steps || longest > LONGEST - STEP_ENTRIES;
      if (isLast || random.bernoulli(1 / STEPS_BETWEEN_FILES)) yield await auditor.ask(deployment);
      if (isLast) return;
    }
  } finally {
    await deployment.close();
  }
}

/** Keeps what was shown, and asks for files. */
class Auditor {
  readonly #seed: string;
  readonly #random: Random;
  #known: readonly KnownCheckpoint[] = [];
  #expected: readonly ExpectedEntry[] = [];
  /** The sizes of chains at the ends of days. */
  readonly #days = new Map<string, Map<string, number>>();
  #asked = 0;

  constructor(seed: string) {
    this.#seed = seed;
    this.#random = seeded(`${seed}/auditor`);
  }

  /** Keeps the proof in an answer now and then. */
  see({ body, text }: Answer): void {
    const evidence = body?.evidence;
    if (evidence === undefined || !this.#random.bernoulli(1 / KEPT_ANSWERS)) return;
    const [checkpoint] = checkpointsIn(text);
    this.#known = [...this.#known, checkpoint!];
    if (evidence.entry === undefined) return;
    const { entry: { seq }, entry_hash: entryHash } = evidence;
    this.#expected = [...this.#expected, { origin: checkpoint!.origin, seq, entryHash }];
  }

  /** Notes the size of each chain at this moment of its day, and keeps a checkpoint now and then. */
  async look({ harness: { database } }: RandomDeployment): Promise<readonly ChainRow[]> {
    const rows = await chainsOf(database);
    for (const { chain, size, last_ts } of rows) {
      const days = this.#days.get(chain) ?? new Map<string, number>();
      this.#days.set(chain, days.set(last_ts.slice(0, "YYYY-MM-DD".length), size));
      if (!this.#random.bernoulli(0.03)) continue;
      const { note } = (await newestCheckpoint(database, chain))!;
      this.#known = [...this.#known, ...checkpointsIn(note)];
    }
    return rows;
  }

  /** Asks for a file: of all chains, or of one family; with all parts, or fewer. */
  async ask(deployment: RandomDeployment): Promise<ExportedFile> {
    const random = this.#random;
    const { database } = deployment.harness;
    const rows = await chainsOf(database);
    const all = [...new Set(rows.map(({ family }) => family))];
    const grown = rows.map(({ size }) => size);
    const families = random.bernoulli(0.3) ? all : [random.pick(rows, grown).family];
    const parts = random.pick(BUNDLE_PARTS, [8, 2, 1]);
    const replay = parts === "all" || random.bernoulli(0.3);
    const provable = this.#known.filter((checkpoint) => !isLostInSilence(checkpoint, { rows, parts }));
    const { key, isLate } = await this.#pickKey(deployment);
    const known = [
      ...provable.filter(() => random.bernoulli(KEPT_CHECKPOINTS / provable.length)),
      // A chain that only an earlier key signed is supported only by what is known from elsewhere.
      ...(isLate ? await newestOf(database, rows) : []),
    ];
    const bundles: ExpectedReport[] = [];
    const texts: string[] = [];
    const isAskedForLinks = random.bernoulli(0.5);
    let pinned: readonly ToAccountFor[] = [];
    let hasSystem = false;
    // The system's is the first.
    for (const family of families) {
      const ownKnown = known.filter(({ origin }) => familyIn(origin) === family);
      const links = isAskedForLinks ? ownKnown.map(({ size }) => size) : [];
      const given = await bundlesOf(deployment, { family, parts, links });
      const chains = rows.filter((row) => row.family === family).filter((row, index, epochs) =>
        // Without parts nothing names the end of a wholly removed epoch, once the next one's beginning is
        // removed too.
        row.min_index < row.size || (epochs[index + 1]?.min_index ?? 0) === 0 || parts !== "none"
      );
      const isCut = chains.map(({ min_index }) => min_index > 0);
      const owed = [...ownKnown, ...pinned.filter(({ origin }) => familyIn(origin) === family)];
      const open = this.#openIn(chains, { owed, links, parts });
      if (family === "sys") {
        const anchors = chains.map(({ origin }, index) =>
          anchorsIn(given[index]!, sizesOf(ownKnown, origin))
        );
        pinned = anchors.flatMap((ones) => ones.pinned);
        const answers = chains.map((_, index) => open[index]!.length === 0 && !anchors[index]!.hides);
        // Without parts each epoch stands alone: the one that was kept may answer, whatever a later one shows.
        const isAnswered = parts === "none" ? answers.includes(true) : !answers.includes(false);
        hasSystem = ownKnown.length > 0 && isAnswered;
      } else if (ownKnown.length === 0 && !hasSystem) {
        const [system] = known.filter(({ origin }) => familyIn(origin) === "sys");
        if (system !== undefined) { for (const ones of open) ones.push({ ...system, isOfAnother: false }); }
      }
      for (const [index, chain] of chains.entries()) {
        const isOpen = isCut.slice(0, index + 1).includes(true);
        bundles.push(this.#foretell(chain, {
          known: ownKnown,
          owed,
          links,
          open: open[index]!,
          replay,
          withheld: given[index]!.split('"withheld":true}\n').length - 1,
          mayReport: [
            ...(isOpen || chain.chain !== family ? ["COMMIT_UNCOMPARED"] : []),
            ...(isOpen ? ["STATE_UNANCHORED"] : []),
          ],
        }));
      }
      texts.push(...given);
    }
    this.#asked += 1;
    const name = `history ${JSON.stringify(this.#seed)}, file ${this.#asked} (${
      families.join(" ")
    }; parts ${parts})`;
    const expected = this.#expected.filter(() => random.bernoulli(0.4));
    return { name, text: texts.join(""), key, known, expected, replay, bundles };
  }

  #foretell(
    { chain, origin, size, min_index: base }: ChainRow,
    { known, owed, links, open, withheld, replay, mayReport }: {
      readonly known: readonly KnownCheckpoint[];
      readonly owed: readonly ToAccountFor[];
      readonly links: readonly number[];
      readonly open: readonly OpenCheckpoint[];
      readonly withheld: number;
      readonly replay: boolean;
      readonly mayReport: readonly string[];
    },
  ): ExpectedReport {
    const own = sizesOf(known, origin);
    const isLinked = (kept: number) => this.#isLinked(kept, { chain, size, min_index: base }, links);
    const reported = [
      ...(sizesOf(owed, origin).some((kept) => kept < base && !isLinked(kept))
        ? ["KNOWN_CHECKPOINT_UNLINKABLE"]
        : []),
      ...(open.some((checkpoint) => checkpoint.isOfAnother) ? ["KNOWN_EPOCH_UNLINKED"] : []),
      ...(base > 0 ? ["PRUNED_PREFIX"] : []),
      ...(own.some((kept) => kept > size) ? ["RESTORED"] : []),
    ];
    return {
      origin,
      base,
      size,
      verdict: open.length > 0
        ? "INTACT, NOT COMPARED"
        : own.some(isLinked)
        ? "INTACT"
        : "INTACT, UNANCHORED",
      exit: open.length > 0 || (withheld > 0 && replay) ? 2 : 0,
      withheld,
      reported,
      mayReport,
    };
  }

  /** Whether a size of a chain is in a bundle of it, or proofs lead from there to it. */
  #isLinked(
    kept: number,
    { chain, size, min_index: base }: Pick<ChainRow, "chain" | "size" | "min_index">,
    links: readonly number[],
  ): boolean {
    if (kept >= base) return kept <= size;
    return links.includes(kept) || [...this.#days.get(chain)!.values()].includes(kept);
  }

  /** The owed entries of a family that the bundle of its own chain does not account for. */
  #openIn(
    chains: readonly ChainRow[],
    { owed, links, parts }: {
      readonly owed: readonly ToAccountFor[];
      readonly links: readonly number[];
      readonly parts: BundleParts;
    },
  ): OpenCheckpoint[][] {
    // A chain that a restore began names the one before it in its first entry.
    const continues = (index: number) => index > 0 && parts !== "none";
    const firsts = chains.map((_, index) => {
      let first = index;
      while (continues(first)) first -= 1;
      return first;
    });
    return chains.map((_, index) => {
      const line = chains.filter((_, other) => firsts[other] === firsts[index]);
      return owed.flatMap((checkpoint) => {
        const own = line.find(({ origin }) => origin === checkpoint.origin);
        // Entries beyond a chain's end were lost with a restore that the next chain records: an older
        // checkpoint must agree. The same holds for an epoch between two that follow one another.
        const before = line.filter((chain) => epochIn(chain.origin) <= epochIn(checkpoint.origin));
        const isLost = own === undefined
          ? before.length > 0 && before.length < line.length
          : checkpoint.size > own.size;
        const isOlderThere = before.some((chain) =>
          owed.some(({ origin, size }) => origin === chain.origin && this.#isLinked(size, chain, links))
        );
        const isAnswered = isLost
          ? isOlderThere
          : own !== undefined && this.#isLinked(checkpoint.size, own, links);
        return isAnswered ? [] : [{ ...checkpoint, isOfAnother: own === undefined && !isLost }];
      });
    });
  }

  /**
   * Keys that an auditor may have: all present ones, the very first, or the newest; `isLate` if the first is
   * no longer in use.
   */
  async #pickKey(
    { harness: { database, dependencies, send }, keys }: RandomDeployment,
  ): Promise<{ readonly key: string; readonly isLate: boolean }> {
    const rows = await database.read(query.selectFrom("signing_key").select("public_key").compile());
    const pems = keys.map(({ publicKey }) => publicKeyPem(publicKey));
    // A restore forgot a key whose signatures the auditor has seen.
    if (rows.length < keys.length) return { key: pems.join(""), isLate: false };
    const [{ publicKey }] = keys as [RandomDeployment["keys"][number]];
    const verifierKey = formatVerifierKey(nodeCrypto, { name: originOf(dependencies, "sys"), publicKey });
    const { text } = await send("/.well-known/jwks.json");
    const early = [pems[0]!, verifierKey];
    const key = this.#random.pick([...early, pems.at(-1)!, text]);
    return { key, isLate: !early.includes(key) };
  }
}

/** The family of an origin. */
function familyIn(origin: string): string {
  return parseChain(splitName(origin)!.rest)!.family;
}

function epochIn(origin: string): number {
  return parseChain(splitName(origin)!.rest)!.epoch;
}

/** The sizes that a chain has to account for. */
function sizesOf(owed: readonly ToAccountFor[], origin: string): readonly number[] {
  return owed.filter((one) => one.origin === origin).map(({ size }) => size);
}

/**
 * The statements of a bundle of the system chain about other chains, in the entries that kept checkpoints of
 * these sizes cover: for each chain the last anchor below each of them; and whether the bundle withholds some
 * of it.
 */
function anchorsIn(
  bundle: string,
  kept: readonly number[],
): { readonly pinned: readonly ToAccountFor[]; readonly hides: boolean } {
  const lines = bundle.trimEnd().split("\n").map((line) => JSON.parse(line));
  const entries = lines.filter(({ event_type }) => event_type === "ORG_CHECKPOINTS");
  const details = new Map(
    lines.filter(({ kind, name }) => kind === "jis.part/1" && name === "detail").map((
      part,
    ) => [part.seq, part]),
  );
  const pinned = kept.flatMap((size) => {
    const last = new Map<string, ToAccountFor>();
    for (const { seq } of entries.filter(({ seq }) => seq < size)) {
      for (const one of details.get(seq).data?.checkpoints ?? []) last.set(one.origin, one);
    }
    return [...last.values()];
  });
  const hides = entries.some(({ seq }) => seq < Math.max(0, ...kept) && details.get(seq).withheld === true);
  return { pinned, hides };
}

/** The newest checkpoint of each chain. */
async function newestOf(database: Database, rows: readonly ChainRow[]): Promise<readonly KnownCheckpoint[]> {
  const notes = await Promise.all(rows.map(({ chain }) => newestCheckpoint(database, chain)));
  return notes.flatMap((newest) => checkpointsIn(newest!.note));
}

async function chainsOf(database: Database): Promise<readonly ChainRow[]> {
  const rows = await database.read(
    query.selectFrom("audit_chain")
      .select(["chain", "family", "origin", "size", "last_ts", "min_index"])
      .orderBy((eb) => eb.case().when("family", "=", "sys").then(0).else(1).end())
      .orderBy("family").orderBy("epoch").compile(),
  );
  return rows;
}

/** The bundle of each epoch of a family, oldest first. */
async function bundlesOf(
  { harness: { dependencies, clock } }: RandomDeployment,
  { family, parts, links }: {
    readonly family: string;
    readonly parts: BundleParts;
    readonly links: readonly number[];
  },
): Promise<readonly string[]> {
  const bundles = [""];
  const options = {
    family,
    parts,
    links,
    retentionDays: retentionOf(dependencies, family),
    now: clock.now(),
    software: "jiss 0.0.0-test",
  };
  for await (const line of bundleFile(dependencies, options)) {
    bundles[bundles.length - 1] += line;
    if (line.startsWith('{"bundle_sha256"')) bundles.push("");
  }
  return bundles.slice(0, -1);
}

/** Whether a checkpoint covers entries that a restore lost, in a file that withholds the record of that. */
function isLostInSilence(
  { origin, size }: KnownCheckpoint,
  { rows, parts }: { readonly rows: readonly ChainRow[]; readonly parts: BundleParts },
): boolean {
  return parts === "none" && rows.some((row) => row.origin === origin && row.size < size);
}
