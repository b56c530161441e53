/** Chooses the bundles that are reported one by one, if there are very many. */
import { type BundleReport, rankOf } from "./report.ts";

/** The most bundles that are reported one by one. */
export const TOLD_BUNDLES = 64;

export interface Told<Report> {
  /**
   * The chosen reports, in their order: all of them, or those with the worst verdicts if there are too many.
   */
  readonly told: readonly Report[];
  /** A sentence with the number of other reports for each verdict; null if there are none. */
  readonly others: string | null;
}

/** Chooses the reports to show one by one. */
export function choose<Report extends Pick<BundleReport, "verdict" | "exitCode">>(
  reports: readonly Report[],
): Told<Report> {
  if (reports.length <= TOLD_BUNDLES) return { told: reports, others: null };
  const worst = [...reports.keys()].sort((a, b) => rankOf(reports[a]!) - rankOf(reports[b]!) || a - b);
  const chosen = new Set(worst.slice(0, TOLD_BUNDLES));
  const rest = reports.filter((_, index) => !chosen.has(index));
  const counts = [...Map.groupBy(rest, ({ verdict }) => verdict)].map(([verdict, ones]) =>
    `${ones.length} ${verdict}`
  );
  return {
    told: reports.filter((_, index) => chosen.has(index)),
    others: `And ${rest.length} more: ${counts.join("; ")}.`,
  };
}
