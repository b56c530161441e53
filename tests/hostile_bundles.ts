/**
 * Files that an attacker could send to an auditor: each of one shape and any length, made to cost the
 * verifier as much as possible. Only what is needed to reach the costly place is valid.
 */
import { recordedInteractionSchema } from "../src/domain/interaction.ts";
import {
  beginningLine,
  checkpointLine,
  headerLine,
  ladderLine,
  modelLine,
  partLine,
  trailerLine,
} from "../src/evidence/bundle.ts";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { hex, type Signer, utf8 } from "../src/evidence/crypto.ts";
import { appendEntry, type ChainHead, emptyChain } from "../src/evidence/entry.ts";
import { genesisPrevious, modelSha256, type PartName } from "../src/evidence/hashes.ts";
import { type Frontier, rootOf } from "../src/evidence/merkle.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { formatCheckpoint, formatVerifierKey, signNote } from "../src/evidence/note.ts";
import { formatRotationCertificate } from "../src/evidence/rotation.ts";
import { throwAwaySigner } from "./bundle_builder.ts";
import { JIS_1_0_0 } from "./models.ts";

const PREFIX = "jiss.test/01HOSTILE/";
const NOW = "2026-11-20T09:00:00.000Z";
const NO_HASH = "0".repeat(64);
const SALT = new Uint8Array(32);

const owner = throwAwaySigner("hostile");

/** A key to pin, which signs whatever must be signed to reach the costly place. */
export const HOSTILE_KEY = formatVerifierKey(nodeCrypto, {
  name: `${PREFIX}org/acme`,
  publicKey: owner.publicKey,
});

/** The lines of a shape, with this many repetitions of its costly thing. */
export type Shape = (count: number) => Iterable<string>;

// ---- pieces -------------------------------------------------------------------------------------------------

interface HeaderFields {
  readonly chain?: string;
  readonly base?: {
    readonly size: number;
    readonly prev: string;
    readonly peaks: string[];
    readonly checkpoint: string | null;
  };
  readonly keys?: { readonly vkey: string; readonly cert: string | null }[];
}

function header({ chain = "org/acme", base, keys = [] }: HeaderFields = {}): string {
  const origin = `${PREFIX}${chain}`;
  return headerLine({
    origin,
    chain,
    base: base ?? { size: 0, prev: hex(genesisPrevious(nodeCrypto, origin)), peaks: [], checkpoint: null },
    keys,
    retention_days: null,
    exported_at: NOW,
    software: "hostile",
  });
}

function noteOf(origin: string, { size, peaks }: Frontier, signers: readonly Signer[] = [owner]): string {
  const text = formatCheckpoint({ origin, size, root: rootOf(nodeCrypto, peaks) });
  return signNote(nodeCrypto, { text, name: origin }, signers);
}

interface Fields {
  readonly eventType: string;
  readonly subject?: string | null;
  readonly parts?: Partial<Record<PartName, unknown>>;
}

/** A chain with valid links and tree, written line by line. */
class Chain {
  readonly chain: string;
  readonly origin: string;
  head: ChainHead;

  constructor(chain = "org/acme") {
    this.chain = chain;
    this.origin = `${PREFIX}${chain}`;
    this.head = emptyChain(nodeCrypto, this);
  }

  /** An entry's line and those of its parts; with `absent`, parts without content. */
  *entry(
    { eventType, subject = null, parts = {} }: Fields,
    absent?: "erased" | "withheld",
  ): Generator<string> {
    const { head, appended } = appendEntry(nodeCrypto, this.head, {
      id: "01HOSTILE",
      actor: "system",
      eventType,
      orgId: this.chain.split("/")[1] ?? null,
      prefix: null,
      subject,
      at: Date.parse(NOW),
      parts: Object.entries(parts).map(([name, data]) => ({
        name: name as PartName,
        salt: SALT,
        text: canonicalJson(data),
      })),
    });
    const seq = this.head.frontier.size;
    this.head = head;
    yield appended.text;
    for (const { name, salt, text } of appended.parts) {
      yield partLine(absent ? { seq, name, absent } : { seq, name, salt: hex(salt), text });
    }
  }

  *genesis(more: Record<string, unknown> = {}): Generator<string> {
    const vkey = formatVerifierKey(nodeCrypto, { name: this.origin, publicKey: owner.publicKey });
    const detail = { deployment: "01HOSTILE", origin: this.origin, retention_days: null, vkey, ...more };
    const eventType = /^sys\/e/.test(this.chain) ? "CHAIN_RESTORED" : "CHAIN_GENESIS";
    yield* this.entry({ eventType, parts: { detail } });
  }

  note(signers?: readonly Signer[]): string {
    return noteOf(this.origin, this.head.frontier, signers);
  }
}

/** The lines with a matching trailer. */
function* closed(
  lines: Iterable<string>,
  end: () => { readonly checkpoint: string; readonly size: number },
): Generator<string> {
  const digest = nodeCrypto.sha256Stream();
  for (const line of lines) {
    digest.update(utf8(`${line}\n`));
    yield line;
  }
  yield trailerLine({ ...end(), bundle_sha256: hex(digest.digest()) });
}

function* times(count: number, lines: (index: number) => Iterable<string>): Generator<string> {
  for (let index = 0; index < count; index += 1) yield* lines(index);
}

function* after(first: Iterable<string>, then: Iterable<string>): Generator<string> {
  yield* first;
  yield* then;
}

/** 32 hexadecimal digits, different for each index. */
function subjectOf(index: number): string {
  return hex(nodeCrypto.sha256(utf8(`subject ${index}`)).slice(0, 16));
}

/**
 * A pseudonym that collides with all others in a map with a known hash: the last word cancels the mixing of
 * the first three.
 */
export function collidingSubjectOf(index: number): string {
  const words = [0, index, 0];
  let mixed = words[0]! ^ Math.imul(words[1]!, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) ^ words[2]!;
  const last = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return [...words, last].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Keys in a row of certificates, beginning with the owner's, and the header's entries for them. */
export function successors(count: number): {
  readonly signers: readonly Signer[];
  readonly keys: { readonly vkey: string; readonly cert: string | null }[];
} {
  const signers = [owner];
  const keys: { vkey: string; cert: string | null }[] = [{ vkey: HOSTILE_KEY, cert: null }];
  for (let index = 0; index < count; index += 1) {
    const [old, next] = [signers.at(-1)!, throwAwaySigner(`hostile ${index}`)];
    const fields = { prefix: PREFIX, ordinal: index + 2, from: NOW, reason: "scheduled", old, new: next };
    keys.push({ vkey: "", cert: formatRotationCertificate(nodeCrypto, fields) });
    signers.push(next);
  }
  return { signers, keys };
}

const ONE_KIB = "x".repeat(1000);
const own = [{ vkey: HOSTILE_KEY, cert: null }];

// ---- shapes -------------------------------------------------------------------------------------------------

export const SHAPES = {
  headers: (count) => times(count, () => [header()]),
  "headers, each of a chain of its own": (count) =>
    times(count, (index) => [header({ chain: `org/o${index}` })]),
  "headers behind the mark of an editor": (count) => times(count, () => [`\ufeff${header()}`]),
  "headers that are none": (count) => times(count, () => ['{"kind":"jis.bundle/1"}']),
  "headers of a later version": (count) => times(count, () => ['{"kind":"jis.bundle/9"}']),
  "headers with long names": (count) => times(count, (index) => [header({ chain: `${ONE_KIB}${index}` })]),
  "headers with keys that are none": (count) =>
    times(count, () => [header().replace('"keys":[]', `"keys":[${"1,".repeat(50_000)}1]`)]),
  "headers with many certificates": (count) => {
    // The newest first: each has no effect until the last is read.
    const keys = successors(400).keys.toReversed();
    return times(count, () => [header({ keys })]);
  },
  "bundles of many bad lines each": (count) => times(count, () => [header(), ...Array(70).fill("x")]),
  "bundles of one entry, all of one chain": (count) => {
    const chain = new Chain();
    const lines = [
      ...closed(
        after([header({ keys: own })], chain.genesis()),
        () => ({ checkpoint: chain.note(), size: 1 }),
      ),
    ];
    return times(count, () => lines);
  },
  "bundles of one entry, each of a chain of its own": (count) =>
    times(count, (index) => {
      const chain = new Chain(`org/o${index}`);
      const first = header({ chain: chain.chain, keys: own });
      return closed(after([first], chain.genesis()), () => ({ checkpoint: chain.note(), size: 1 }));
    }),
  "bundles of one entry, each with the next certificate of a long row": (count) => {
    const { keys: [first, ...made] } = successors(Math.min(count, 4_000));
    return times(count, (index) => {
      const chain = new Chain(`org/o${index}`);
      const keys = [first!, made[index % made.length]!];
      return closed(
        after([header({ chain: chain.chain, keys })], chain.genesis()),
        () => ({ checkpoint: chain.note(), size: 1 }),
      );
    });
  },
  "bundles of one entry each, of one chain that grows": (count) => growing(count),
  "epochs, each restored from the one before": (count) => epochs(count),
  "bundles that all record a removal": (count) =>
    times(count, () => {
      const chain = new Chain();
      return closed(
        after(
          [header({ keys: own })],
          after(
            chain.genesis(),
            chain.entry({ eventType: "RETENTION_PRUNED", parts: { detail: {} } }, "withheld"),
          ),
        ),
        () => ({ checkpoint: chain.note(), size: 2 }),
      );
    }),
  "bad lines": (count) => after([header()], times(count, () => ["x"])),
  "models of nothing": (count) =>
    after(
      [header()],
      times(count, (index) => {
        const document = { a: Array.from({ length: 5_000 }, () => []), index };
        return [modelLine({ sha256: modelSha256(nodeCrypto, document), document })];
      }),
    ),
  "one large model and many scores that name it": (count) =>
    largeModel(count, ({ decay }) => {
      decay.projection_days = Array(Math.min(400_000, 400 * count)).fill(1);
    }),
  "one model of a long name and many scores that name it": (count) =>
    largeModel(count, (document) => {
      document.version = "x".repeat(Math.min(900_000, 1_000 * count));
    }),
  "one model with words that every score repeats": (count) =>
    largeModel(count, ({ maintenance }) => {
      const word = "x".repeat(Math.min(120_000, 200 * count));
      for (const name of Object.keys(maintenance.interventions)) {
        maintenance.interventions[name as keyof typeof maintenance.interventions] = word;
      }
    }),
  "models of too much that nobody reads": (count) =>
    after(
      [header()],
      times(count, (index) => {
        const { maintenance } = JIS_1_0_0;
        const trend = {
          ...maintenance.trend,
          ...Object.fromEntries(Array(5_000).entries().map(([at]) => [at, []])),
        };
        const document = { ...JIS_1_0_0, maintenance: { ...maintenance, trend }, index };
        return [modelLine({ sha256: modelSha256(nodeCrypto, document), document })];
      }),
    ),
  ladders: (count) =>
    after(
      [header({ base: { size: 2 ** 40, prev: NO_HASH, peaks: [NO_HASH], checkpoint: null } })],
      times(count, (index) => [ladderLine({ from: index + 1, to: index + 2, proof: [] })]),
    ),
  beginnings: (count) =>
    after(
      [
        header({
          chain: "org/acme/e2",
          base: { size: 2 ** 40, prev: NO_HASH, peaks: [NO_HASH], checkpoint: null },
        }),
      ],
      times(count, (index) => [
        beginningLine({
          entry: { index },
          salt: NO_HASH,
          data: { a: Array.from({ length: 5_000 }, () => []) },
          path: Array(64).fill(NO_HASH),
        }),
      ]),
    ),
  "proofs that are none": (count) =>
    after(
      [header({ base: { size: 2 ** 40, prev: NO_HASH, peaks: [NO_HASH], checkpoint: null } })],
      times(count, (index) => [ladderLine({ from: index + 1, to: index + 2, proof: Array(5_000).fill("") })]),
    ),
  checkpoints: (count) => {
    const chain = new Chain();
    const genesis = [...chain.genesis()];
    const line = checkpointLine(chain.note());
    return after([header({ keys: own }), ...genesis], times(count, () => [line]));
  },
  "checkpoints by ever other keys": (count) => {
    const { signers, keys } = successors(12);
    const chain = new Chain();
    const signed = function* (index: number) {
      yield* chain.entry({ eventType: "X" });
      const chosen = signers.filter((_, bit) => bit === 0 || ((index >> (bit - 1)) & 1) === 1);
      yield checkpointLine(chain.note(chosen));
    };
    return after(after([header({ keys })], chain.genesis()), times(count, signed));
  },
  "checkpoints of long notes": (count) => {
    const chain = new Chain();
    const genesis = [...chain.genesis()];
    const line = checkpointLine(
      `${chain.note()}${Array(20).fill(`— ${"n".repeat(1000)} ${"A".repeat(40)}\n`).join("")}`,
    );
    return times(count, () => [header({ keys: own }), ...genesis, line]);
  },
  "key changes": (count) => {
    const chain = new Chain();
    const made = successors(Math.min(count, 4_000)).keys.slice(1);
    return after(
      after([header({ keys: own })], chain.genesis()),
      times(count, (index) =>
        chain.entry({
          eventType: "SIGNING_KEY_ROTATED",
          parts: { detail: { cert: made[index % made.length]!.cert!, overlap: true } },
        })),
    );
  },
  "removals from other chains": (count) => {
    const chain = new Chain("org/acme/e2");
    return after(
      after([header({ chain: "org/acme/e2", keys: own })], chain.genesis()),
      times(count, (index) =>
        chain.entry({
          eventType: "RETENTION_PRUNED",
          parts: {
            detail: {
              origin: `${PREFIX}org/acme`,
              from: 0,
              to: index + 1,
              root: NO_HASH,
              last_ts: "2020-01-01T00:00:00.000Z",
              cutoff: "2020-01-02T00:00:00.000Z",
              policy_days: 1,
            },
          },
        })),
    );
  },
  "chains that the system chain anchors": (count) => {
    const chain = new Chain("sys");
    return after(
      after([header({ chain: "sys", keys: own })], chain.genesis()),
      times(count, (index) =>
        chain.entry({
          eventType: "ORG_CHECKPOINTS",
          parts: {
            detail: {
              checkpoints: Array.from({ length: 500 }, (_, at) => ({
                origin: `${PREFIX}org/${index}-${at}`,
                size: 1,
                root: NO_HASH,
              })),
            },
          },
        })),
    );
  },
  "anchors that are none": (count) => {
    const chain = new Chain("sys");
    return after(
      after([header({ chain: "sys", keys: own })], chain.genesis()),
      times(
        count,
        () =>
          chain.entry({
            eventType: "ORG_CHECKPOINTS",
            parts: { detail: { checkpoints: Array(20_000).fill(0) } },
          }),
      ),
    );
  },
  "gaps that are filled late": (count) => {
    const entryAt = (seq: number) =>
      canonicalJson({
        actor: "system",
        chain: "org/acme",
        commit: {},
        event_type: "X",
        id: "1",
        org_id: "acme",
        prefix: null,
        prev: NO_HASH,
        seq,
        subject: null,
        timestamp: NOW,
        v: "jis.audit/1",
      });
    return after([header(), entryAt(2 * count + 2)], times(count, (index) => [entryAt(2 * index + 1)]));
  },
  "operators, each with something erased": (count) => operators(count, subjectOf, "erased"),
  "operators whose pseudonyms collide": (count) => operators(count, collidingSubjectOf, "erased"),
  "operators, then headers": (count) =>
    after(operators(count, subjectOf, "erased"), times(count, () => [header()])),
  "records, each of a name of its own": (count) => {
    const chain = new Chain();
    return after(
      after([header({ keys: own })], chain.genesis()),
      times(count, (index) =>
        chain.entry({
          eventType: "DRS_COMPUTED",
          subject: subjectOf(0),
          parts: { input: { decision_id: `d${index}` }, result: {} },
        })),
    );
  },
  "scores of inputs that are none": (count) => {
    const chain = new Chain();
    return after(
      after([header({ keys: own })], chain.genesis()),
      times(count, (index) =>
        chain.entry({
          eventType: "SCORE_COMPUTED",
          subject: subjectOf(index),
          parts: {
            input: { interaction: Array(10_000).fill(0), state: { cells: Array(10_000).fill(0) } },
            result: {},
          },
        })),
    );
  },
} satisfies Record<string, Shape>;

/** A changed document, and this many scores of new operators by it. */
function* largeModel(
  count: number,
  change: (document: { -readonly [Name in keyof typeof JIS_1_0_0]: (typeof JIS_1_0_0)[Name] }) => void,
): Generator<string> {
  const document = structuredClone(JIS_1_0_0);
  change(document);
  const sha256 = modelSha256(nodeCrypto, document);
  const chain = new Chain();
  yield header({ keys: own });
  yield modelLine({ sha256, document });
  yield* chain.genesis();
  const input = {
    v: "jis.input/1",
    algo: { formulas: document.formulas, model_version: document.version.slice(0, 64), model_sha256: sha256 },
    as_of: NOW,
    operator_id: "o",
    domain: "general",
    interaction: recordedInteractionSchema.parse({ time_to_decision_ms: 4000, decision: "accepted" }),
    mode: "full",
    role_tier: "tier_1",
    mode_override: "normal",
    prior: null,
    state: null,
    weights: { omega: 1, s: 0, r: 0, kappa: 0, wP: 0, inert: false, domain: "general", presented: true },
  };
  for (let index = 0; index < count; index += 1) {
    yield* chain.entry({
      eventType: "SCORE_COMPUTED",
      subject: subjectOf(index),
      parts: { input: { ...input, session_id: `s${index}` }, result: {} },
    });
  }
}

function* operators(count: number, name: (index: number) => string, absent: "erased"): Generator<string> {
  const chain = new Chain();
  yield header({ keys: own });
  yield* chain.genesis();
  for (let index = 0; index < count; index += 1) {
    yield* chain.entry({
      eventType: "SCORE_COMPUTED",
      subject: name(index),
      parts: { input: {}, result: {} },
    }, absent);
  }
}

/** The shapes in which checkpoints kept from earlier visits are compared for many bundles. */
export const SETTLED_SHAPES = [
  "bundles of one entry, all of one chain",
  "bundles of one entry, each of a chain of its own",
  "bundles of one entry, each with the next certificate of a long row",
  "bundles of one entry each, of one chain that grows",
  "epochs, each restored from the one before",
] as const;

/** This many kept checkpoints of the chain in these shapes, and as many of another deployment. */
export function keptOfShapes(count: number): string {
  const notes: string[] = [];
  const chain = new Chain();
  for (let size = 1; size <= count; size += 1) {
    for (const _line of size === 1 ? chain.genesis() : chain.entry({ eventType: "X" }));
    notes.push(chain.note(), noteOf(`jiss.test/01ELSEWHERE/sys`, chain.head.frontier));
  }
  return notes.join("\n");
}

/** The second bundle begins where the first ended, and so on: every end is an anchor for all that follow. */
function* growing(count: number): Generator<string> {
  const chain = new Chain();
  for (let index = 0; index < count; index += 1) {
    const { frontier, previous } = chain.head;
    const base = index === 0 ? undefined : {
      size: frontier.size,
      prev: hex(previous),
      peaks: frontier.peaks.map(hex),
      checkpoint: chain.note(),
    };
    const removed = index === 0 ? null : {
      origin: chain.origin,
      from: 0,
      to: frontier.size,
      root: hex(rootOf(nodeCrypto, frontier.peaks)),
      last_ts: "2020-01-01T00:00:00.000Z",
      cutoff: "2020-01-02T00:00:00.000Z",
      policy_days: 1,
    };
    const lines = removed === null
      ? chain.genesis()
      : chain.entry({ eventType: "RETENTION_PRUNED", parts: { detail: removed } });
    yield* closed(
      after([header({ base, keys: own })], lines),
      () => ({ checkpoint: chain.note(), size: index + 1 }),
    );
  }
}

function* epochs(count: number): Generator<string> {
  let last: Chain | null = null;
  for (let epoch = 1; epoch <= count; epoch += 1) {
    const chain: Chain = new Chain(epoch === 1 ? "org/acme" : `org/acme/e${epoch}`);
    const more = last === null ? {} : {
      previous_origin: last.origin,
      last_known_checkpoint: last.note(),
      restored_size: last.head.frontier.size,
      restored_root: hex(rootOf(nodeCrypto, last.head.frontier.peaks)),
      reason: ONE_KIB,
    };
    yield* closed(after([header({ chain: chain.chain, keys: own })], chain.genesis(more)), () => ({
      checkpoint: chain.note(),
      size: 1,
    }));
    last = chain;
  }
}

/** Writes a shape's file; its size in bytes. */
export async function writeHostile(path: string, shape: Shape, count: number): Promise<number> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  let bytes = 0;
  let text = "";
  const flush = async () => {
    const encoded = utf8(text);
    text = "";
    bytes += encoded.length;
    for (let written = 0; written < encoded.length;) written += await file.write(encoded.subarray(written));
  };
  for (const line of shape(count)) {
    text += `${line}\n`;
    if (text.length > 262_144) await flush();
  }
  await flush();
  return bytes;
}
