/**
 * A valid bundle of any size, written as it streams: an organization's evidence chain with scores, late
 * labels and commits of many operators, optionally with all of them erased at the end. Everything in it
 * replays.
 *
 * deno run -A --lock=tests/deno.lock tests/big_bundle.ts --entries N --operators K [--erased] -o FILE
 */
import { parseArgs } from "node:util";
import {
  CHECKPOINT_EVERY,
  checkpointLine,
  headerLine,
  modelLine,
  partLine,
  trailerLine,
} from "../src/evidence/bundle.ts";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { hex, type Sha256Stream, utf8 } from "../src/evidence/crypto.ts";
import { appendEntry, type ChainHead, emptyChain, type EntryDraft } from "../src/evidence/entry.ts";
import { genesisPrevious } from "../src/evidence/hashes.ts";
import { rootOf } from "../src/evidence/merkle.ts";
import { nodeCrypto, signerFromPem } from "../src/evidence/node_crypto.ts";
import { formatCheckpoint, formatVerifierKey, signNote } from "../src/evidence/note.ts";
import { pemOf } from "./harness.ts";
import { idOf, pseudonymOf, REVIEW_MODEL, reviews, saltOf } from "./reviews.ts";

export interface BigBundleOptions {
  /** All entries of the chain, including the genesis and, if operators are erased, one for each of them. */
  readonly entries: number;
  readonly operators: number;
  /** Whether every operator is erased at the end, so that the file gives none of their parts. */
  readonly erased: boolean;
}

const DEPLOYMENT = "01BGBNDE000000000000000000";
const ORGANIZATION = "big";
const CHAIN = `org/${ORGANIZATION}`;
const ORIGIN = `jiss.test/${DEPLOYMENT}/${CHAIN}`;
const SEED = "big";

/** 2026-01-05T08:00:00.000Z: the start of the chain. */
const BEGIN = 1_767_600_000_000;
/** The time between an operator's interactions: four a day. */
const ROUND_MS = 6 * 3_600_000;

/** UTF-16 units of text that are collected before they are emitted. */
const PIECE_LENGTH = 65_536;
const NO_HASH = new Uint8Array(32);

const signer = signerFromPem(pemOf("jiss big bundle"));

/** The key to pin for all of these bundles. */
export const BIG_BUNDLE_KEY = formatVerifierKey(nodeCrypto, { name: ORIGIN, publicKey: signer.publicKey });

/** The bundle's bytes, in pieces. @throws {RangeError} if there are fewer entries than operators need. */
export function* bigBundle(options: BigBundleOptions): Generator<Uint8Array> {
  const { entries, operators, erased } = options;
  const reviewed = entries - 1 - (erased ? operators : 0);
  if (operators < 1 || reviewed < operators) {
    throw new RangeError(`${entries} entries, ${operators} operators`);
  }
  const digest = nodeCrypto.sha256Stream();
  const chain = new ChainWriter(options);
  yield* hashed(pieces(chain.lines(reviewed)), digest);
  const bundle_sha256 = hex(digest.digest());
  yield utf8(`${trailerLine({ checkpoint: chain.checkpoint(), size: entries, bundle_sha256 })}\n`);
}

/** Writes the bundle to a file. */
export async function writeBigBundle(path: string, options: BigBundleOptions): Promise<void> {
  const file = await Deno.open(path, { write: true, create: true, truncate: true });
  await ReadableStream.from(bigBundle(options)).pipeTo(file.writable);
}

function* hashed(all: Iterable<Uint8Array>, digest: Sha256Stream): Generator<Uint8Array> {
  for (const piece of all) {
    digest.update(piece);
    yield piece;
  }
}

function* pieces(lines: Iterable<string>): Generator<Uint8Array> {
  let text = "";
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < PIECE_LENGTH) continue;
    yield utf8(text);
    text = "";
  }
  yield utf8(text);
}

interface SystemEvent {
  readonly subject: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

class ChainWriter {
  readonly #options: BigBundleOptions;
  /** How many entries are about each operator. */
  readonly #entriesOf: Uint32Array;
  #head: ChainHead = emptyChain(nodeCrypto, { chain: CHAIN, origin: ORIGIN });
  #now = BEGIN;
  /** Size of the last checkpoint in the file. */
  #shown = 0;

  constructor(options: BigBundleOptions) {
    this.#options = options;
    this.#entriesOf = new Uint32Array(options.operators);
  }

  /** Everything before the trailer, with this many reviews. */
  *lines(reviewed: number): Generator<string> {
    const { operators, erased } = this.#options;
    yield this.#headerLine();
    yield modelLine(REVIEW_MODEL);
    yield* this.#entry(this.#system("CHAIN_GENESIS", {
      subject: null,
      detail: { deployment: DEPLOYMENT, origin: ORIGIN, retention_days: null, vkey: BIG_BUNDLE_KEY },
    }));
    const reviewOptions = {
      orgId: ORGANIZATION,
      operators,
      seed: SEED,
      first: 1,
      from: BEGIN,
      roundMs: ROUND_MS,
    };
    const story = reviews(reviewOptions);
    let { index, draft } = story.next(NO_HASH).value;
    for (let left = reviewed; left > 0; left -= 1) {
      this.#entriesOf[index]! += 1;
      yield* this.#entry(draft, { erased });
      ({ index, draft } = story.next(this.#head.previous).value);
    }
    if (erased) yield* this.#erasures();
  }

  /** The signed checkpoint of all entries so far. */
  checkpoint(): string {
    const { size, peaks } = this.#head.frontier;
    const text = formatCheckpoint({ origin: ORIGIN, size, root: rootOf(nodeCrypto, peaks) });
    return signNote(nodeCrypto, { text, name: ORIGIN }, [signer]);
  }

  #headerLine(): string {
    return headerLine({
      origin: ORIGIN,
      chain: CHAIN,
      base: { size: 0, prev: hex(genesisPrevious(nodeCrypto, ORIGIN)), peaks: [], checkpoint: null },
      keys: [{ vkey: BIG_BUNDLE_KEY, cert: null }],
      retention_days: null,
      exported_at: new Date(BEGIN).toISOString(),
      software: "jiss 0.0.0-test",
    });
  }

  *#erasures(): Generator<string> {
    for (const [index, entries] of this.#entriesOf.entries()) {
      const detail = { requested_at: new Date(this.#now).toISOString(), basis: "request", entries };
      yield* this.#entry(this.#system("SUBJECT_ERASED", { subject: pseudonymOf(SEED, index), detail }));
    }
  }

  #system(eventType: string, { subject, detail }: SystemEvent): EntryDraft {
    const seq = this.#head.frontier.size;
    const salt = saltOf(SEED, { seq, name: "detail" });
    return {
      id: idOf(seq),
      actor: "system",
      eventType,
      orgId: ORGANIZATION,
      prefix: null,
      subject,
      at: this.#now,
      parts: [{ name: "detail", salt, text: canonicalJson(detail) }],
    };
  }

  /** The lines of the next entry, after the checkpoint that is due before it. */
  *#entry(draft: EntryDraft, { erased } = { erased: false }): Generator<string> {
    const seq = this.#head.frontier.size;
    const isNewDay = dayOf(draft.at) !== dayOf(this.#now);
    if (isNewDay || seq - this.#shown >= CHECKPOINT_EVERY) {
      this.#shown = seq;
      yield checkpointLine(this.checkpoint());
    }
    this.#now = draft.at;
    const { head, appended } = appendEntry(nodeCrypto, this.#head, draft);
    this.#head = head;
    yield appended.text;
    // Reviews have their parts in the same order as a bundle.
    for (const { name, salt, text } of appended.parts) {
      yield partLine(erased ? { seq, name, absent: "erased" } : { seq, name, salt: hex(salt), text });
    }
  }
}

/** The UTC day of epoch milliseconds, counted from 1970. */
function dayOf(at: number): number {
  return Math.floor(at / 86_400_000);
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      entries: { type: "string" },
      operators: { type: "string" },
      erased: { type: "boolean", default: false },
      output: { type: "string", short: "o" },
    },
  });
  const [entries, operators] = [Number(values.entries), Number(values.operators)];
  await writeBigBundle(values.output!, { entries, operators, erased: values.erased });
  console.log(BIG_BUNDLE_KEY);
}
