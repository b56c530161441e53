/** The state of the organization in one line below its name, each part with the way to what it counts. */
import { VERDICT_ID } from "./organization_verdict.tsx";
import { VerdictMark } from "./parts.tsx";
import type { Dashboard } from "./types.ts";

/** The operators who are below the threshold. */
export const BELOW_PATH = "/console/operators?verdict=non_compliant";
const UNDETERMINED_PATH = "/console/operators?verdict=undetermined";

export function StateLine({ dashboard: { verdict, verdicts, total_operators: all } }: Dashboard) {
  const { non_compliant: below, undetermined } = verdicts;
  return (
    <span class="state-line">
      <a href={`#${VERDICT_ID}`}>
        <VerdictMark status={verdict.status} />
      </a>{" "}
      · <a href={BELOW_PATH}>{below} of {all} below</a> ·{" "}
      <a href={UNDETERMINED_PATH}>{undetermined} undetermined</a>
    </span>
  );
}
