/** Checks the entries of a bundle, each with the lines of its parts, and the checkpoints among them. */
import { checkOwner, type Checks } from "./checks.ts";
import type { Entry } from "./entry.ts";
import { entryHashOfBytes } from "./line_hashes.ts";
import { isEntry, isPart } from "./line_shapes.ts";
import { malformed, type ReadLine, seqOf } from "./read_line.ts";

export class EntryLines {
  readonly #checks: Checks;
  #count = 0;
  /** Hash of the entry whose parts are being read. */
  #hash: Uint8Array = new Uint8Array(0);

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  /** The number of entries that were read. */
  get count(): number {
    return this.#count;
  }

  /** Takes the line of an entry, and checks the entry before it. */
  takeEntry({ number, bytes, value }: ReadLine): void {
    const { crypto, chain, kept, log, parts } = this.#checks;
    if (!isEntry(value)) {
      this.close();
      malformed(log, number, "an entry", seqOf(value));
      return chain.skipUnreadable();
    }
    // A second entry of the same seq replaces the first. Parts of the first may follow it.
    if (parts.entry?.seq === value.seq) parts.skipUnreadable();
    this.close();
    checkOwner(this.#checks, value, number);
    this.#count += 1;
    this.#hash = entryHashOfBytes(crypto, bytes);
    chain.takeEntry(value, { hash: this.#hash, line: number });
    kept.compareEntry(value.seq, this.#hash);
    kept.compare(chain);
    if (!chain.isUnbroken) this.#stopFollowing();
    parts.open(value, number);
  }

  /** Takes the line of a part of the open entry. */
  takePart({ number, bytes, value, isCanonical }: ReadLine): void {
    const { chain, log, parts } = this.#checks;
    if (!isPart(value)) {
      parts.skipUnreadable();
      return malformed(log, number, "a part", seqOf(value));
    }
    // This part belongs to an entry that could not be read.
    if (chain.isUncertain && value.seq >= chain.next) return;
    if (!parts.take({ part: value, bytes, isCanonical }, number)) {
      malformed(log, number, `a part ${value.name} that does not belong there`, value.seq);
    }
  }

  /** Takes the text of a checkpoint among the entries. */
  takeCheckpoint(note: string, line: number): void {
    this.close();
    this.#checks.checkpoints.takeInside(note, line);
  }

  /** Takes a line that is not even JSON: it may have been an entry or one of the open entry's parts. */
  takeUnreadable(number: number, detail: string): void {
    const { chain, log, parts } = this.#checks;
    malformed(log, number, detail, parts.isIncomplete ? parts.entry!.seq : chain.next);
    parts.skipUnreadable();
    chain.skipUnreadable();
  }

  /** Checks the open entry, if there is one: all its parts are read. */
  close(): void {
    const { census, parts, probes, repeats, replay, structure } = this.#checks;
    const { entry: entry } = parts;
    if (entry === null) return;
    parts.close();
    structure.checkEntry(entry);
    this.#continueFamily(entry);
    this.#compareScore(entry);
    probes.checkEntry(entry);
    repeats?.checkEntry(entry);
    replay?.checkEntry(entry, this.#hash);
    census?.takeEntry(entry);
  }

  /** Notes from which chain a chain goes on that a restore began: its first entry says so. */
  #continueFamily({ seq }: Entry): void {
    const { name, options, structure } = this.#checks;
    if (seq === 0 && name !== null && name.epoch > 1) options.family.continueFrom(structure.restored);
  }

  #compareScore({ seq }: Entry): void {
    const { kept, parts } = this.#checks;
    if (parts.stateOf("result") !== "given") return;
    kept.compareScore(seq, { hash: this.#hash, result: parts.dataOf("result") });
  }

  /** Ends the checks that need every entry before the one at hand. */
  #stopFollowing(): void {
    const { commits, probes, repeats, states } = this.#checks;
    probes.stopFollowing();
    repeats?.stopFollowing();
    states.stopFollowing();
    commits.stopFollowing();
  }
}
