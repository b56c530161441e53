/** The statuses by the scores alone: they stand where there is no verdict, and in a fold where there is one. */
import type { ComponentChildren } from "preact";
import type { VerdictStatus } from "../../domain/enums.ts";
import type { FindingStatus } from "../../domain/report.ts";
import { STATUS_WORDS } from "../../pages/wording.ts";
import { VerdictMark } from "./parts.tsx";

/** A verdict; the models before `jis-3` gave none, and then the status by the scores alone stands in its place. */
export function VerdictOrStatus({ verdict, status, isCertain = true }: {
  readonly verdict: VerdictStatus | null;
  readonly status: FindingStatus;
  readonly isCertain?: boolean;
}) {
  if (verdict !== null) return <VerdictMark status={verdict} />;
  return (
    <span class="muted">
      By the scores alone: {STATUS_WORDS[status].toLowerCase()}
      {!isCertain && ", could turn either way"}
    </span>
  );
}

/** The status by the scores alone. Its surroundings say what it is. */
export function Status({ status }: { readonly status: FindingStatus }) {
  return <span class="muted">{STATUS_WORDS[status]}</span>;
}

/** A fold for what the specification fixes: a verdict stands beside it, and asks how sure the scores are. */
export function ScoresAlone({ children }: { readonly children: ComponentChildren }) {
  return (
    <details>
      <summary>Scores alone, as if each were exact</summary>
      {children}
    </details>
  );
}
