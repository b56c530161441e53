/** One alert: what happened, what set it off, about whom or what it is, what follows it up, and what an acknowledgement does. */
import {
  acknowledgerInWords,
  ACKNOWLEDGING,
  ACKNOWLEDGING_LIMITS,
  ALERT_RULES,
  ALERT_WORDS,
} from "./alert_words.ts";
import { Confirmed } from "./confirmed.tsx";
import { LostProbes } from "./lost_probes.tsx";
import { Fact, Figure, Instant } from "./parts.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import type { AlertAcknowledged, Alerts, Cases } from "./types.ts";
import { type Asked, useAction } from "./use_answer.ts";

type Alert = Alerts["alerts"][number];

export function AlertNotice({ alert, of, cases, onSeen }: {
  readonly alert: Alert;
  /** Its place in the answer. */
  readonly of: string;
  /** The cases about lost probes; null if no alert of the page is about any. */
  readonly cases: Asked<Cases> | null;
  readonly onSeen: () => void;
}) {
  const { signedIn } = useSession();
  const { alert_id, kind, severity, statement, next_step, created_at, raised_at } = alert;
  const { acknowledged_at: at, acknowledged_by: by } = alert;
  const isOpen = at === null;
  return (
    <section class={`alert ${isOpen ? "open" : ""}`} aria-labelledby={`alert-${alert_id}`}>
      <div class="alert-head">
        <h2 id={`alert-${alert_id}`}>{ALERT_WORDS[kind]}</h2>
        <span class={`status ${isOpen ? "bad" : "none"}`}>{isOpen ? "Open" : "Acknowledged"}</span>
        <span class="muted">Severity {severity.toLowerCase()}</span>
      </div>
      <p class="alert-said">
        <bdi>{statement}</bdi>
      </p>
      <dl class="described">
        <Fact name="When">
          <Instant at={created_at} />
          {raised_at !== created_at && (
            <>
              , last <Instant at={raised_at} />
            </>
          )}
        </Fact>
        <Fact name="Set off by">{ALERT_RULES[kind]}</Fact>
        <Fact name="About">
          <About alert={alert} of={of} />
        </Fact>
        <Fact name="Case">
          {cases !== null && kind === "PROBE_LOST"
            ? <LostProbes alert={alert} asked={cases} />
            : "None: a case follows up on one operator, and this is about the whole organization."}
        </Fact>
        {isOpen && (
          <Fact name="Next step">
            {next_step}
            <NextLinks kind={kind} />
          </Fact>
        )}
        {isOpen && may(signedIn, "act") && (
          <Fact name="Acknowledging">
            {ACKNOWLEDGING} {ACKNOWLEDGING_LIMITS[kind]}
            <Acknowledge alert={alert} onSeen={onSeen} />
          </Fact>
        )}
        {at !== null && by !== null && (
          <Fact name="Acknowledged">
            <Instant at={at} /> by <bdi>{acknowledgerInWords(by)}</bdi>
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** Whom or what an alert is about, with its figures. */
function About({ alert: { usage, probes, probe_count, fault, kind }, of }: {
  readonly alert: Alert;
  readonly of: string;
}) {
  if (usage !== null) {
    return (
      <>
        All keys of the organization together. Scores in 24 hours:{" "}
        <Figure of={`${of}.usage.count_24h`} value={usage.count_24h} />; limit:{" "}
        <Figure of={`${of}.usage.threshold`} value={usage.threshold} />.
      </>
    );
  }
  if (fault !== null) {
    return (
      <>
        {kind === "CHAIN_TAMPERED"
          ? "The evidence of the organization"
          : "The audit log of the organization"}: chain <code>{fault.chain}</code>
        {fault.seq !== null && (
          <>
            , entry <Figure of={`${of}.fault.seq`} value={fault.seq} />
          </>
        )} (<code>{fault.code}</code>). It says nothing about an operator.
      </>
    );
  }
  return (
    <>
      Sealed probes: <Figure of={`${of}.probe_count`} value={probe_count} />.{" "}
      {probe_count > probes.length && <>The last {probes.length} are listed.</>}
    </>
  );
}

/** The place at which the next step can be done. */
function NextLinks({ kind }: Pick<Alert, "kind">) {
  const { signedIn } = useSession();
  switch (kind) {
    case "USAGE_ANOMALY":
      return may(signedIn, "administer")
        ? (
          <p>
            <a class="button" href="/console/key">Look at the keys</a>
          </p>
        )
        : <p>An admin sees them under Keys.</p>;
    case "PROBE_LOST":
      return null;
    case "CHAIN_TAMPERED":
    case "ADMIN_CHAIN_TAMPERED":
      return (
        <p>
          <a class="button" href="/docs/verify-offline">How to verify offline</a>{" "}
          <a href="/console/verify">Verify a bundle here</a>
        </p>
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
