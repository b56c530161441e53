/** Alerts about the organization: what happened, what to do next, and who has seen it. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { AlertNotice } from "../alert_notice.tsx";
import { ALERT_RULES, ALERT_WORDS } from "../alert_words.ts";
import { Choice } from "../filters.tsx";
import { useProbeCases } from "../lost_probes.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import type { Alerts, Cases } from "../types.ts";
import { type Asked, useAnswer } from "../use_answer.ts";

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
      <p>
        An alert says that something is wrong with the organization as a whole: with the use of its keys, its
        sealed probes or its signed records. A case follows up on one operator (
        <a href="/console/cases">all cases</a>). Only an acknowledgement clears an alert: by an officer, an
        admin, the organization's own key, or the administrator of the service.
      </p>
      <div class="filters">
        <Choice
          id="alert-state"
          label="Show"
          value={state}
          options={[["", "Open ones"], ["all", "All, with those that were acknowledged"]]}
          onChosen={(chosen) => {
            setSaid("");
            route(addressOf(PATH, { state: chosen }));
          }}
        />
      </div>
      <p role="status">{said}</p>
      <Answered asked={asked}>
        {({ alerts, next_cursor: next }) => {
          if (alerts.length === 0 && next === null) return <NoAlert isAll={state === "all"} />;
          const List = alerts.some(({ kind }) => kind === "PROBE_LOST") ? NoticesWithCases : Notices;
          return (
            <>
              <List alerts={alerts} onSeen={onSeen} />
              <Pages path={PATH} query={{ state, ...(cursor === "" ? {} : { cursor }) }} next={next} />
            </>
          );
        }}
      </Answered>
    </View>
  );
}

interface Listed {
  readonly alerts: readonly Alert[];
  readonly onSeen: (alert: Alert) => void;
}

/** Asks for the cases besides, which follow up on lost probes alone. */
function NoticesWithCases(listed: Listed) {
  return <Notices {...listed} cases={useProbeCases()} />;
}

function Notices({ alerts, onSeen, cases = null }: Listed & { readonly cases?: Asked<Cases> | null }) {
  return openFirst(alerts).map(([alert, index]) => (
    <AlertNotice
      key={alert.alert_id}
      alert={alert}
      of={`alerts.${index}`}
      cases={cases}
      onSeen={() => onSeen(alert)}
    />
  ));
}

/** The alerts of a page with their places in the answer, the open ones first. */
function openFirst(alerts: readonly Alert[]): readonly (readonly [alert: Alert, index: number])[] {
  const placed = alerts.map((alert, index) => [alert, index] as const);
  return [
    ...placed.filter(([{ acknowledged_at }]) => acknowledged_at === null),
    ...placed.filter(([{ acknowledged_at }]) => acknowledged_at !== null),
  ];
}

function NoAlert({ isAll }: { readonly isAll: boolean }) {
  return (
    <>
      <Empty>
        <p>{isAll ? "There were no alerts." : "No alert is open."}</p>
        {!isAll && (
          <p>
            <a href={addressOf(PATH, { state: "all" })}>See those that were acknowledged</a>
          </p>
        )}
      </Empty>
      <h2>What raises an alert</h2>
      <dl class="rules">
        {(Object.keys(ALERT_WORDS) as Alert["kind"][]).map((kind) => (
          <div key={kind}>
            <dt>{ALERT_WORDS[kind]}</dt>
            <dd>{ALERT_RULES[kind]}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
