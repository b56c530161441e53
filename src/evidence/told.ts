/** Which of very many bundles are told of one by one. */
import { type BundleReport, rankOf } from "./report.ts";

/** Bundles that are told of one by one at most. */
export const TOLD_BUNDLES = 64;

export interface Told<Report> {
  /** In their order; of too many those whose verdict is the worst. */
  readonly told: readonly Report[];
  /** How many there are besides, by their verdicts, in a sentence; null where there are none. */
  readonly others: string | null;
}

/** Chooses whom to tell of. */
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
