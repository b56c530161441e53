/**
 * Checkpoints that an auditor keeps between visits: reads them from the texts in which they were saved, and
 * keeps them in a memory that never loses one.
 *
 * A rewritten history contradicts kept checkpoints. This module does not check their signatures: the code
 * that uses a checkpoint does.
 */
import * as z from "zod";
import { splitName } from "./chain_name.ts";
import { fromHex, hex } from "./crypto.ts";
import { KeyHolders } from "./key_holders.ts";
import { isSoundPublicKey, parseCheckpoint, parseNote } from "./note.ts";
import { orNull } from "./or_null.ts";

/** A checkpoint with its signed note. */
export interface KnownCheckpoint {
  readonly origin: string;
  /** Number of entries, at least 1. */
  readonly size: number;
  readonly root: Uint8Array;
  readonly note: string;
}

/** A checkpoint that the auditor kept. */
export interface KeptCheckpoint extends KnownCheckpoint {
  /**
   * Whether an earlier visit compared it with the other kept checkpoints of its family. If so, a newer
   * settled one that agrees with a bundle stands for it too. Default: false.
   */
  readonly isSettled?: boolean;
  /**
   * Prefixes of other deployments under the same holder's keys that earlier visits accepted beside its own.
   * Default: all, since the auditor passed it for this visit.
   */
  readonly beside?: ReadonlySet<string>;
}

/** The checkpoint in a note; null if the note is not a signed checkpoint of at least one entry. */
export function knownCheckpointOrNull(note: string): KnownCheckpoint | null {
  const checkpoint = orNull(() => parseCheckpoint(parseNote(note).text));
  return checkpoint === null || checkpoint.size === 0 ? null : { ...checkpoint, note };
}

/** Identity of a checkpoint: equal for the same origin, size and root, whichever keys signed them. */
export function identityOf(
  { origin, size, root }: Pick<KnownCheckpoint, "origin" | "size" | "root">,
): string {
  return `${origin}\n${size}\n${hex(root)}`;
}

// ---- reading ----------------------------------------------------------------------------------------------

const WHOLE_CHECKPOINT =
  "One is three lines (name of the log, number of entries, root hash), an empty line, and under it, each on one line, the signatures, which begin with “— ”.";
const SIGNATURE_LINE = /^— \S+ [A-Za-z0-9+/=]+$/;

/**
 * The checkpoints in a saved text, in its order. Signed notes may stand anywhere in the text: it may be a
 * proof, a printed page, several notes one after another, or a saved JSON answer with a checkpoint or a
 * proof.
 * @throws {SyntaxError} if it holds none, or one that cannot be read.
 */
export function checkpointsIn(text: string): readonly KnownCheckpoint[] {
  const found = signedTexts(text).flatMap(notesIn);
  if (found.length === 0) {
    throw new SyntaxError(
      `There is no signed checkpoint in it. ${WHOLE_CHECKPOINT} A saved answer or proof of the service that holds one will do as well.`,
    );
  }
  return found;
}

/** The texts that may hold notes: members of a JSON answer, or the text itself if it is not JSON. */
function signedTexts(text: string): readonly string[] {
  const answer = jsonObject(text);
  if (answer === null) return [text];
  const holders = [answer, answer.evidence, answer.checkpoint].filter(isObject);
  return holders.flatMap(({ note, proof, checkpoint }) => [note, proof, checkpoint])
    .filter((member) => typeof member === "string");
}

function jsonObject(text: string): Record<string, unknown> | null {
  const value: unknown = orNull(() => JSON.parse(text.trim()));
  return isObject(value) ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function notesIn(text: string): readonly KnownCheckpoint[] {
  // Copying may add or remove line ends and margins; neither is signed.
  const lines = text.split("\n").map((line) => line.trim());
  const found: KnownCheckpoint[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!SIGNATURE_LINE.test(lines[at]!)) continue;
    const first = at;
    while (at + 1 < lines.length && SIGNATURE_LINE.test(lines[at + 1]!)) at += 1;
    found.push(noteAt(lines, first, at + 1));
  }
  return found;
}

/** The note whose signatures stand in the lines from `first` to before `end`. */
function noteAt(lines: readonly string[], first: number, end: number): KnownCheckpoint {
  const note = lines.slice(Math.max(first - 4, 0), end).map((line) => `${line}\n`).join("");
  const checkpoint = knownCheckpointOrNull(note);
  if (checkpoint !== null) return checkpoint;
  throw new SyntaxError(
    `The signature in line ${first + 1} does not stand under a whole checkpoint. ${WHOLE_CHECKPOINT}`,
  );
}

// ---- memory -----------------------------------------------------------------------------------------------

function isSoundKeyText(text: string): boolean {
  const publicKey = orNull(() => fromHex(text));
  return publicKey !== null && isSoundPublicKey(publicKey);
}

/**
 * The content of an auditor's directory: keys that were trusted, and every checkpoint that was found good.
 */
export const memorySchema = z.strictObject({
  v: z.literal("jis.memory/1"),
  /** Raw public keys, hexadecimal. */
  keys: z.array(z.string().refine(isSoundKeyText)),
  /** Sets of two or more such keys, each of one holder; no key is in two sets. Absent if no set is known. */
  holders: z.array(z.array(z.string().refine(isSoundKeyText)).min(2)).optional(),
  /**
   * Pairs of prefixes: deployments under one holder's keys that ended well beside each other. Absent if there
   * are none.
   */
  beside: z.array(z.tuple([z.string(), z.string()])).optional(),
  /** By origin, smallest first. `alone` is set if the checkpoint is not settled ({@link KeptCheckpoint}). */
  checkpoints: z.record(
    z.string(),
    z.array(z.strictObject({ size: z.int().min(1), note: z.string(), alone: z.literal(true).optional() })),
  ),
});

export type Memory = z.infer<typeof memorySchema>;

export function emptyMemory(): Memory {
  return { v: "jis.memory/1", keys: [], checkpoints: {} };
}

/**
 * The checkpoints in a memory; those of one origin stand together, smallest first.
 * @throws {SyntaxError} if a note is not a checkpoint of the origin and size under which it is stored.
 */
export function recallCheckpoints(memory: Memory): readonly KeptCheckpoint[] {
  const pairs = (memory.beside ?? []).flatMap((
    [first, second],
  ) => [{ one: first, other: second }, { one: second, other: first }]);
  const byPrefix = Map.groupBy(pairs, ({ one: first }) => first);
  return Object.entries(memory.checkpoints).flatMap(([origin, kept]) => {
    const prefix = splitName(origin)?.prefix ?? "";
    const beside = new Set((byPrefix.get(prefix) ?? []).map(({ other: second }) => second));
    return kept.map(({ size, note, alone = false }) => {
      const checkpoint = knownCheckpointOrNull(note);
      if (checkpoint?.origin === origin && checkpoint.size === size) {
        return { ...checkpoint, isSettled: !alone, beside };
      }
      throw new SyntaxError(
        `The kept checkpoint of ${origin} at ${size} entries is damaged: put a copy of the memory in its place.`,
      );
    });
  });
}

/**
 * The memory with keys and checkpoints added. No checkpoint is ever removed or replaced: of two notes with
 * the same size and root the first stays; of two roots at one size, which prove a forked log, both stay. A
 * settled checkpoint stays settled. Keys of one holder stay together, even if they are no longer trusted.
 * @throws {SyntaxError} like {@link recallCheckpoints}.
 */
export function remember(
  memory: Memory,
  { keys, superseded = [], holderKeys = [], beside = [], checkpoints }: {
    readonly keys: readonly Uint8Array[];
    /** Keys that one of these replaced: its certificate makes them trusted, so they are no longer pinned. */
    readonly superseded?: readonly Uint8Array[];
    /** Sets of keys, each of one holder. */
    readonly holderKeys?: readonly (readonly Uint8Array[])[];
    /** Pairs of prefixes: deployments under one holder's keys that were accepted beside each other. */
    readonly beside?: readonly (readonly [string, string])[];
    readonly checkpoints: readonly KeptCheckpoint[];
  },
): Memory {
  const gone = new Set(superseded.map(hex));
  const known = new Map<string, KeptCheckpoint>();
  for (const checkpoint of [...recallCheckpoints(memory), ...checkpoints]) {
    const identity = identityOf(checkpoint);
    const before = known.get(identity) ?? checkpoint;
    const isSettled = before.isSettled || checkpoint.isSettled;
    known.set(identity, { ...before, ...(isSettled === undefined ? {} : { isSettled }) });
  }
  const sorted = [...known.values()].sort((a, b) =>
    a.origin < b.origin ? -1 : a.origin > b.origin ? 1 : a.size - b.size
  );
  const byOrigin = Map.groupBy(sorted, ({ origin }) => origin);
  const holders = holdersOf([...(memory.holders ?? []).map((holder) => holder.map(fromHex)), ...holderKeys]);
  const accepted = new Map(
    [...memory.beside ?? [], ...beside].map(([first, second]): [string, [string, string]] => {
      const pair: [string, string] = first < second ? [first, second] : [second, first];
      return [pair.join("\n"), pair];
    }),
  );
  return {
    v: memory.v,
    keys: [...new Set([...memory.keys, ...keys.map(hex)])].filter((key) => !gone.has(key)),
    ...(holders.length === 0 ? {} : { holders }),
    ...(accepted.size === 0 ? {} : { beside: [...accepted.values()].sort() }),
    checkpoints: Object.fromEntries(
      [...byOrigin].map(([origin, kept]) => [
        origin,
        kept.map(({ size, note, isSettled = false }) =>
          isSettled ? { size, note } : { size, note, alone: true as const }
        ),
      ]),
    ),
  };
}

/** The sorted keys of each holder of several keys. Sets with a common key are merged. */
function holdersOf(holderKeys: readonly (readonly Uint8Array[])[]): string[][] {
  return new KeyHolders(holderKeys).severalOf(holderKeys.flat()).map((holder) => holder.map(hex).sort())
    .sort();
}
