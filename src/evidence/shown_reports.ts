/** Chooses the bundles that are reported one by one, if there are very many. */
import { type BundleReport, rankOf } from "./report.ts";

/** The most bundles that are reported one by one. */
export const SHOWN_BUNDLES = 64;

export interface ShownReports<Report> {
  /**
   * The chosen reports, in their order: all of them, or those with the worst verdicts if there are too many.
   */
  readonly shown: readonly Report[];
  /** A sentence with the number of other reports for each verdict; null if there are none. */
  readonly others: string | null;
}

/** Chooses the reports to show one by one. */
export function chooseReports<Report extends Pick<BundleReport, "verdict" | "exitCode">>(
  reports: readonly Report[],
): ShownReports<Report> {
  if (reports.length <= SHOWN_BUNDLES) return { shown: reports, others: null };
  const worst = [...reports.keys()].sort((a, b) => rankOf(reports[a]!) - rankOf(reports[b]!) || a - b);
  const chosen = new Set(worst.slice(0, SHOWN_BUNDLES));
  const rest = reports.filter((_, index) => !chosen.has(index));
  const counts = [...Map.groupBy(rest, ({ verdict }) => verdict)].map(([verdict, sameVerdict]) =>
    `${sameVerdict.length} ${verdict}`
  );
  return {
    shown: reports.filter((_, index) => chosen.has(index)),
    others: `And ${rest.length} more: ${counts.join("; ")}.`,
  };
}
