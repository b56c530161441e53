/** The verdict on the organization: which condition fails, each as observed against allowed. */
import type { VerdictStatus } from "../../domain/enums.ts";
import { countInWords, nameInWords, shareInWords } from "../../pages/wording.ts";
import { Figure, toneOf, VerdictMark } from "./parts.tsx";
import type { Dashboard } from "./types.ts";

const CONDITION_WORDS: Readonly<Record<VerdictStatus, string>> = {
  compliant: "Holds",
  undetermined: "Open",
  non_compliant: "Fails",
};

type Condition = Dashboard["dashboard"]["conditions"][number];

/** The operators whom a condition judges: `12 high-risk operators`. */
function judgedInWords({ of, operators }: Condition): string {
  const noun = of === "high_risk" ? "high-risk operator" : "operator";
  return `${countInWords(operators, noun)}${of === "critical" ? " with critical decisions" : ""}`;
}

/** The id of the box, for the line that leads to it. */
export const VERDICT_ID = "organization-verdict";

const are = (count: number) => count === 1 ? "is" : "are";

export function OrganizationVerdict({ dashboard, domain, tier }: Dashboard) {
  const { verdict, conditions } = dashboard;
  // A sentence besides those of the conditions says what would settle an open verdict, or that nobody is judged.
  const remark = verdict.status === "undetermined" ? verdict.reasons.length - 1 : null;
  return (
    <div class={`notice ${toneOf(verdict.status)}`} id={VERDICT_ID} data-verdict>
      <h2>
        Verdict on the organization: <VerdictMark status={verdict.status} />
      </h2>
      <dl class="conditions">
        {conditions.map((one, index) => <Line key={one.of} one={one} index={index} />)}
      </dl>
      {remark !== null && (
        <p>
          <Figure of={`dashboard.verdict.reasons.${remark}`} value={verdict.reasons[remark]!} />
        </p>
      )}
      <p class="small muted">
        {nameInWords(domain)}, {tier} tier. Operators with an interaction in the last 90 days.
      </p>
    </div>
  );
}

function Line({ one, index }: { readonly one: Condition; readonly index: number }) {
  const { status, operators, below, open, threshold, allowed } = one;
  if (status === null || below === null || open === null) {
    return (
      <>
        <dt class="muted">Withheld</dt>
        <dd>Of {judgedInWords(one)} the figures are withheld: they are too few.</dd>
      </>
    );
  }
  const count = <Figure of={`dashboard.conditions.${index}.below`} value={below} />;
  return (
    <>
      <dt>
        <strong class={`status ${toneOf(status)}`}>{CONDITION_WORDS[status]}</strong>
      </dt>
      <dd>
        {one.of === "all" && below > 0
          ? <a href="/console/operators?verdict=non_compliant">{count}</a>
          : count} of {judgedInWords(one)} ({shareInWords(below / operators)}) {are(below)} certainly below
        {" "}
        {threshold}
        {open > 0 && (
          <>
            , <Figure of={`dashboard.conditions.${index}.open`} value={open} /> {are(open)} not settled
          </>
        )}
        ; allowed {allowed === 0 ? "is none" : `are ${shareInWords(allowed)}`}.
      </dd>
    </>
  );
}
