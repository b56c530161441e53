/**
 * Counts what a verifier tells about probes and what is no fault: cases for which nobody asked, choices that the
 * organization can have had, and records that cannot be compared. Source: evidence-format.md, section 11.
 */
import type { FindingLog } from "./finding_log.ts";

/** A way in which an organization can have chosen among draws. */
export type Choice = "recalled" | "lost" | "unscored" | "other";

export class ProbeRemarks {
  readonly #leftOut = { count: 0, first: 0, straddling: 0 };
  readonly #chosen: Record<Choice, number> = { recalled: 0, lost: 0, unscored: 0, other: 0 };
  #firstChosen = Infinity;
  readonly #uncompared = { count: 0, first: 0 };

  /** Counts a case before which a probe was due and none was drawn; `isStraddling`: it may have been drawn on the day before. */
  countLeftOut(seq: number, isStraddling: boolean): void {
    if (isStraddling) {
      this.#leftOut.straddling += 1;
      return;
    }
    if (this.#leftOut.count === 0) this.#leftOut.first = seq;
    this.#leftOut.count += 1;
  }

  countChoice(choice: Choice, seq: number): void {
    this.#chosen[choice] += 1;
    this.#firstChosen = Math.min(this.#firstChosen, seq);
  }

  countUncompared(seq: number): void {
    if (this.#uncompared.count === 0) this.#uncompared.first = seq;
    this.#uncompared.count += 1;
  }

  /** Reports what was counted, one finding for each kind. */
  report(log: FindingLog): void {
    const { recalled, lost, unscored, other } = this.#chosen;
    if (recalled + lost + unscored + other > 0) {
      const detail =
        `${recalled} recalled after they were drawn, ${lost} not decided in their time, ${unscored} for cases that were not scored, ${other} for cases of other stakes or another domain`;
      log.add("PROBE_SELECTION", { seq: this.#firstChosen, detail });
    }
    const { count, first, straddling } = this.#leftOut;
    if (count > 0) {
      const late = straddling === 0 ? "" : `, and ${straddling} just after midnight`;
      log.add("PROBE_LEFT_OUT", { seq: first, detail: `${count} ${count === 1 ? "case" : "cases"}${late}` });
    }
    const { count: records, first: seq } = this.#uncompared;
    if (records > 0) {
      log.add("PROBE_UNCOMPARED", { seq, detail: `${records} ${records === 1 ? "record" : "records"}` });
    }
  }
}
