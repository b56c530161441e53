/** A notice of the alerts that nobody of the organization has acknowledged. */
import { addressOf, Failure, Figure } from "./parts.tsx";
import type { Alerts } from "./types.ts";
import { useAnswer } from "./use_answer.ts";

/** The most that one page holds. */
const COUNTED_MAX = "100";

/** Says how many alerts are open, with the link to them; nothing if none is. */
export function OpenAlerts() {
  const { loaded, again } = useAnswer<Alerts>({
    path: addressOf("/v1/organization/alerts", { limit: COUNTED_MAX }),
  });
  if (loaded.state === "loading") return null;
  if (loaded.state === "failed") return <Failure error={loaded.error} again={again} />;
  const { count, next_cursor: next } = loaded.body;
  if (count === 0) return null;
  return (
    <p class="notice bad">
      {next !== null && "More than "}
      <Figure of="alerts.count" value={count} /> {count === 1 ? "alert is" : "alerts are"} open.{" "}
      <a href="/console/alerts">See what happened</a>
    </p>
  );
}
