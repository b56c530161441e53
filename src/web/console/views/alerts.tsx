/** Alerts about the organization: what happened, what to do next, and who has seen it. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { acknowledgerInWords, ALERT_WORDS } from "../alert_words.ts";
import { Confirmed } from "../confirmed.tsx";
import { addressOf, Answered, Empty, Figure, Instant, Pages, View } from "../parts.tsx";
import { Reviewer } from "../reviewers.tsx";
import { may, useCaller, useSession } from "../session.tsx";
import type { AlertAcknowledged, Alerts } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/alerts";
const PAGE = "25";

type Alert = Alerts["alerts"][number];

export function AlertsView() {
  const { query, route } = useLocation();
  const { state = "", cursor = "" } = query;
  const [said, setSaid] = useState("");
  const asked = useAnswer<Alerts>({
    path: addressOf("/v1/organization/alerts", { state, cursor, limit: PAGE }),
  });
  const onSeen = (alert: Alert) => {
    setSaid(`Acknowledged: ${ALERT_WORDS[alert.kind]}.`);
    asked.again();
  };
  return (
    <View title="Alerts">
      <div class="filters">
        <div class="field">
          <label for="alert-state">Show</label>
          <select
            id="alert-state"
            value={state}
            onChange={(event) => {
              setSaid("");
              route(addressOf(PATH, { state: event.currentTarget.value }));
            }}
          >
            <option value="">Open ones</option>
            <option value="all">All, with those that were acknowledged</option>
          </select>
        </div>
      </div>
      <p role="status">{said}</p>
      <Answered asked={asked}>
        {({ alerts, next_cursor: next }) =>
          alerts.length === 0 && next === null
            ? (
              <Empty>
                <p>{state === "all" ? "There were no alerts." : "No alert is open."}</p>
              </Empty>
            )
            : (
              <>
                {openFirst(alerts).map(([alert, index]) => (
                  <AlertNotice
                    key={alert.alert_id}
                    alert={alert}
                    of={`alerts.${index}`}
                    onSeen={() => onSeen(alert)}
                  />
                ))}
                <Pages path={PATH} query={{ state, ...(cursor === "" ? {} : { cursor }) }} next={next} />
              </>
            )}
      </Answered>
    </View>
  );
}

/** The alerts of a page with their places in the answer, the open ones first. */
function openFirst(alerts: readonly Alert[]): readonly (readonly [alert: Alert, index: number])[] {
  const placed = alerts.map((alert, index) => [alert, index] as const);
  return [
    ...placed.filter(([{ acknowledged_at }]) => acknowledged_at === null),
    ...placed.filter(([{ acknowledged_at }]) => acknowledged_at !== null),
  ];
}

function AlertNotice({ alert, of, onSeen }: {
  readonly alert: Alert;
  /** Its place in the answer. */
  readonly of: string;
  readonly onSeen: () => void;
}) {
  const { signedIn } = useSession();
  const { alert_id, kind, severity, statement, next_step, created_at, raised_at } = alert;
  const { acknowledged_at: at, acknowledged_by: by } = alert;
  return (
    <section class={`notice ${at === null ? "bad" : "none"}`} aria-labelledby={`alert-${alert_id}`}>
      <h2 id={`alert-${alert_id}`}>{ALERT_WORDS[kind]}</h2>
      <p>
        <bdi>{statement}</bdi>
      </p>
      <Content alert={alert} of={of} />
      {at === null && (
        <p>
          <strong>Next:</strong> {next_step} <NextLinks kind={kind} />
        </p>
      )}
      <p class="small">
        Severity {severity.toLowerCase()}, raised <Instant at={created_at} />
        {raised_at !== created_at && (
          <>
            , last <Instant at={raised_at} />
          </>
        )}
        .{at !== null && by !== null && (
          <>
            {" "}Acknowledged <Instant at={at} /> by <bdi>{acknowledgerInWords(by)}</bdi>.
          </>
        )}
      </p>
      {at === null && may(signedIn, "act") && <Acknowledge alert={alert} onSeen={onSeen} />}
    </section>
  );
}

/** The figures of an alert, or the probes that it is about. */
function Content({ alert: { usage, probes, probe_count }, of }: {
  readonly alert: Alert;
  readonly of: string;
}) {
  if (usage !== null) {
    return (
      <p>
        Scores in 24 hours: <Figure of={`${of}.usage.count_24h`} value={usage.count_24h} />; limit:{" "}
        <Figure of={`${of}.usage.threshold`} value={usage.threshold} />.
      </p>
    );
  }
  if (probes.length === 0) return null;
  return (
    <>
      {probe_count > probes.length && (
        <p>
          The last {probes.length} of <Figure of={`${of}.probe_count`} value={probe_count} />:
        </p>
      )}
      <ul>
        {probes.map(({ probe_id, operator_id }) => (
          <li key={probe_id}>
            <code>{probe_id}</code>, shown to{" "}
            {operator_id === null ? "an erased reviewer" : <Reviewer id={operator_id} />}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The place at which the next step can be done. */
function NextLinks({ kind }: Pick<Alert, "kind">) {
  const { signedIn } = useSession();
  switch (kind) {
    case "USAGE_ANOMALY":
      return may(signedIn, "administer")
        ? <a href="/console/key">Look at the keys</a>
        : <>An admin sees them under Keys.</>;
    case "PROBE_LOST":
      return null;
    case "CHAIN_TAMPERED":
    case "ADMIN_CHAIN_TAMPERED":
      return (
        <>
          <a href="/docs/verify-offline">How to verify offline</a>, or{" "}
          <a href="/console/verify">verify a bundle here</a>.
        </>
      );
  }
}

function Acknowledge({ alert: { alert_id, kind }, onSeen }: {
  readonly alert: Alert;
  readonly onSeen: () => void;
}) {
  const caller = useCaller();
  const { busy, error, run } = useAction<AlertAcknowledged>();
  const acknowledge = async () => {
    const path = `/v1/organization/alerts/${alert_id}/ack`;
    const done = await run((patience) =>
      caller.json<AlertAcknowledged>({ method: "POST", path }, { patience })
    );
    if (done !== null) onSeen();
    return done !== null;
  };
  return (
    <Confirmed
      button="Acknowledge"
      title={`Acknowledge: ${ALERT_WORDS[kind]}`}
      happens={[
        "The alert is open no longer, for everybody in the organization.",
        "The audit log records that you have seen it, and when (ALERT_ACKNOWLEDGED). This cannot be taken back.",
      ]}
      stays={[
        "The cause stays as it is until somebody ends it.",
        "The administrator of the service keeps the alert.",
        ...(kind === "PROBE_LOST" ? ["Another probe that is lost on the same day opens it again."] : []),
      ]}
      ways={[{ label: "Acknowledge the alert", act: acknowledge }]}
      busy={busy}
      error={error}
    />
  );
}
