/**
 * Checks the lines of a bundle before its entries: models, then the ladder over a removed prefix, then the
 * first entry of a chain that a restore began, if that entry was removed.
 */
import { beginningLineSchema, ladderLineSchema, modelLineSchema } from "./bundle.ts";
import { canonicalTextOf } from "./canonical_text.ts";
import { checkOwner, type Checks } from "./checks.ts";
import { hex } from "./crypto.ts";
import { entryHash } from "./hashes.ts";
import { isEntry, isMembers } from "./line_shapes.ts";
import { isFirstOf } from "./prefix_check.ts";
import { malformed, parseLine, type ReadLine } from "./read_line.ts";

/** The stages of the preamble, in the order of its lines. */
const Stage = { models: 0, ladder: 1, beginning: 2, over: 3 } as const;

export class Preamble {
  readonly #checks: Checks;
  #stage: (typeof Stage)[keyof typeof Stage] = Stage.models;
  /** The size up to which the ladder leads so far. */
  #ladderSize = 0;

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  /** Whether a line after the preamble was read. */
  get isOver(): boolean {
    return this.#stage === Stage.over;
  }

  /** Notes a line after the preamble: no line of the preamble may follow it. */
  end(): void {
    if (this.isOver) return;
    this.#stage = Stage.over;
    this.#checks.kept.endLadder(this.#checks.chain);
  }

  /** Takes the line of a model. */
  takeModel(line: ReadLine): void {
    const { log, models } = this.#checks;
    const model = parseLine(log, line, modelLineSchema);
    if (model === null) return;
    if (this.#stage > Stage.models) return malformed(log, line.number, "a model after the models");
    const taken = models.add(model, { line: line.number, bytes: line.bytes.length });
    if (taken === "known") malformed(log, line.number, "a second model of one name");
    if (taken === "too many") {
      log.add("LIMIT_EXCEEDED", { line: line.number, detail: "models that are too many or too large" });
    }
  }

  /** Takes a step of the ladder. */
  takeLadder(line: ReadLine): void {
    const { header, kept, log } = this.#checks;
    const ladder = parseLine(log, line, ladderLineSchema);
    if (ladder === null) return;
    const { from, to } = ladder;
    const isNext = from >= this.#ladderSize && from < header.base.size && from < to;
    if (this.#stage > Stage.ladder || !isNext) return malformed(log, line.number, "a ladder out of order");
    this.#stage = Stage.ladder;
    this.#ladderSize = to;
    kept.applyLadderStep(ladder);
  }

  /** Takes the first entry of a chain that a restore began and from which a prefix was removed. */
  takeBeginning(line: ReadLine): void {
    const { crypto, header, genesis, kept, log, name, parts, prefix, structure } = this.#checks;
    const parsed = parseLine(log, line, beginningLineSchema);
    if (parsed === null) return;
    const { number, bytes, value: { entry, data } } = line;
    const isDue = this.#stage < Stage.beginning && header.base.size > 0 && (name?.epoch ?? 1) > 1;
    if (!isDue) return malformed(log, number, "a beginning out of place");
    this.#stage = Stage.beginning;
    const text = canonicalTextOf(entry);
    if (text === null || !isMembers(entry) || !isEntry(entry) || entry.seq !== 0) {
      return malformed(log, number, "the entry of a beginning");
    }
    checkOwner(this.#checks, entry, number);
    const hash = entryHash(crypto, text);
    kept.compareEntry(0, hash);
    const isFirst = entry.prev === hex(genesis);
    // If the base is not proven, the check of the header has reported it.
    const isInTree = prefix === null || isFirstOf(crypto, prefix, { hash, path: parsed.path });
    if (!isFirst || !isInTree) {
      const detail = isFirst ? "it is not in the tree of what was removed" : "prev of a beginning";
      return log.add("GENESIS_MISMATCH", { seq: 0, line: number, detail });
    }
    const part = { seq: 0, name: "detail", salt: parsed.salt, data } as const;
    parts.open(entry, number);
    parts.take({ part, bytes, isCanonical: false }, number);
    parts.close();
    structure.checkBeginning(entry);
  }
}
