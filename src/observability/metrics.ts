/** The metrics of the program, in the text format of Prometheus. */
import { MetricRegistry } from "./metric_registry.ts";

/** A request that was answered. */
export interface ObservedRequest {
  /** Method and path as in the catalogue; null if the request matches none. */
  readonly route: string | null;
  readonly status: number;
  readonly milliseconds: number;
}

/** A commit that is durable. */
export interface ObservedCommit {
  /** Number of jobs in the commit. */
  readonly jobs: number;
  readonly milliseconds: number;
}

/** An interaction that the candidate model scored too. */
export interface ObservedShadow {
  /** JIS of the candidate minus JIS of the model in use, points. */
  readonly difference: number;
  /** Whether the candidate's band is higher or lower than that of the model in use, or the same. */
  readonly band: string;
  readonly status: string;
}

/** Bucket limits in JIS points: from a change that nobody notices to one that changes the band. */
const DIFFERENCES = [-20, -10, -5, -2, -1, -0.5, 0, 0.5, 1, 2, 5, 10, 20];

const JOBS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Bucket limits in seconds: from a fraction of the time for a score to longer than anyone waits. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The sources of the figures; each is called when metrics are read. */
export interface MetricSources {
  readonly version: string;
  readonly model: string;
  /** Requests that each layer of rate limits refused because it could not count them, since the start. */
  uncounted(): Readonly<Record<string, number>>;
  /**
   * Connections of the first listener: how many are open, and how many the service closed since the start, by
   * cause.
   */
  readonly connections: { readonly open: number; readonly closed: Readonly<Record<string, number>> };
  /** Number of writes that wait for a commit. */
  waitingWrites(): number;
  /**
   * Figures over all chains. `unanchored` is the number of entries that no checkpoint in the system chain
   * covers yet.
   */
  chains(): Promise<{ readonly chains: number; readonly entries: number; readonly unanchored: number }>;
  /** Seconds since the last entry of the system chain. */
  checkpointAge(): Promise<number>;
  /** Whether the database was found to be older than what was issued, another history, or altered. */
  isSuspect(): boolean;
  /** Number of families of chains that were found altered and are neither whole again nor acknowledged. */
  alteredChains(): number;
  /** Whether nothing is recorded because this machine's clock cannot be trusted. */
  isClockRefused(): boolean;
  /** Whether `lock.db` cannot be written. */
  isLockBehind(): boolean;
  /** Lines of the log that were lost since the start. */
  lostLines(): number;
  /** Free bytes on the disk of the data directory; null if unknown. */
  freeSpace(): number | null;
  /** Number of alerts that nobody has acknowledged. */
  openAlerts(): Promise<number>;
  /** Deliveries since the start. */
  readonly deliveries: {
    /** Number of attempts by outcome. */
    readonly attempts: ReadonlyMap<string, number>;
    readonly dropped: number;
  };
  /** One item for each active webhook destination. */
  backlog(): Promise<
    readonly { readonly events: number; readonly queued: number; readonly paused_at: number | null }[]
  >;
  /** The candidate model that runs in shadow; null if there is none. */
  readonly shadow: {
    /** Version of the candidate. */
    readonly candidate: string;
    counts(): {
      readonly waiting: number;
      readonly operators: number;
      readonly failed: number;
      readonly missed: number;
      readonly restarts: number;
    };
  } | null;
}

export interface Metrics {
  observeCommit(commit: ObservedCommit): void;
  observeShadow(comparison: ObservedShadow): void;
  observeRequest(request: ObservedRequest): void;
  readonly contentType: string;
  /** @throws what a source throws. */
  text(): Promise<string>;
}

/** Registers the metrics of a program. */
export function createMetrics(sources: MetricSources): Metrics {
  const { version, model, shadow } = sources;
  const metrics = new MetricRegistry();
  metrics.info("jiss_build_info", "The program and the scoring model in use", { version, model });
  const observeRequest = requestMetrics(metrics);
  const observeCommit = commitMetrics(metrics, sources);
  const readChains = chainMetrics(metrics, sources);
  stateMetrics(metrics, sources);
  trafficMetrics(metrics, sources);
  const readAlerts = alertMetrics(metrics, sources);
  const readWebhooks = webhookMetrics(metrics, sources);
  const observeShadow = shadow === null ? () => {} : shadowMetrics(metrics, shadow);
  return {
    observeCommit,
    observeShadow,
    observeRequest,
    contentType: metrics.contentType,
    async text() {
      await Promise.all([readChains(), readAlerts(), readWebhooks()]);
      return await metrics.text();
    },
  };
}

function requestMetrics(metrics: MetricRegistry): Metrics["observeRequest"] {
  const requests = metrics.counter(
    "jiss_http_requests_total",
    "Answered requests, by route and status; the route is empty if none matched",
    ["route", "status"],
  );
  const durations = metrics.histogram(
    "jiss_http_request_seconds",
    "Seconds from the head of a request to its answer, by route",
    { labelNames: ["route"], buckets: SECONDS },
  );
  return ({ route, status, milliseconds }) => {
    requests.inc({ route: route ?? "", status });
    durations.observe({ route: route ?? "" }, milliseconds / 1000);
  };
}

function commitMetrics(metrics: MetricRegistry, sources: MetricSources): Metrics["observeCommit"] {
  const durations = metrics.histogram(
    "jiss_commit_seconds",
    "Seconds from the planning of a commit until it was durable",
    { buckets: SECONDS },
  );
  const jobsOfCommits = metrics.histogram("jiss_commit_requests", "Requests that shared a commit", {
    buckets: JOBS,
  });
  metrics.readGauge(
    "jiss_writes_waiting",
    "Writes that wait for a commit; beyond 10,000 they are refused",
    () => sources.waitingWrites(),
  );
  return ({ jobs, milliseconds }) => {
    durations.observe(milliseconds / 1000);
    jobsOfCommits.observe(jobs);
  };
}

/** Several gauges share one read of the database: the returned function makes it. */
function chainMetrics(metrics: MetricRegistry, sources: MetricSources): () => Promise<void> {
  const chains = metrics.gauge("jiss_chains", "Chains of every kind and epoch");
  const entries = metrics.gauge("jiss_chain_entries", "Entries of all chains");
  const unanchored = metrics.gauge(
    "jiss_unanchored_entries",
    "Entries that no checkpoint of the system chain covers yet",
  );
  const checkpointAge = metrics.gauge(
    "jiss_checkpoint_age_seconds",
    "Seconds since the last entry of the system chain, which contains checkpoints of all other chains",
  );
  return async () => {
    const [counts, age] = await Promise.all([sources.chains(), sources.checkpointAge()]);
    chains.set(counts.chains);
    entries.set(counts.entries);
    unanchored.set(counts.unanchored);
    checkpointAge.set(age);
  };
}

function stateMetrics(metrics: MetricRegistry, sources: MetricSources): void {
  metrics.readGauge(
    "jiss_chain_suspect",
    "1 if the database is older than what was issued, has another history, or was altered; otherwise 0",
    () => Number(sources.isSuspect()),
  );
  metrics.readGauge(
    "jiss_chains_altered",
    "Chains that differ from what was signed and were neither repaired nor acknowledged",
    () => sources.alteredChains(),
  );
  metrics.readGauge(
    "jiss_clock_refused",
    "1 if this machine's clock is so far ahead of the last run that nothing is recorded; otherwise 0",
    () => Number(sources.isClockRefused()),
  );
  metrics.readGauge(
    "jiss_lock_behind",
    "1 if lock.db cannot be written: an older database that was put back may then go unnoticed; otherwise 0",
    () => Number(sources.isLockBehind()),
  );
  metrics.readGauge(
    "jiss_disk_free_bytes",
    "Free bytes on the disk of the data directory; no value if they are unknown",
    () => sources.freeSpace(),
  );
  metrics.total(
    "jiss_log_lines_lost_total",
    "Lines of the log that were lost because its reader took none or a write failed",
    () => sources.lostLines(),
  );
}

function trafficMetrics(metrics: MetricRegistry, { uncounted, connections }: MetricSources): void {
  metrics.totals(
    "jiss_rate_limit_uncounted_total",
    "Requests refused because the limiter could not count them: its table was full, or its store unavailable",
    "layer",
    () => Object.entries(uncounted()),
  );
  metrics.readGauge("jiss_connections_open", "Connections of clients", () => connections.open);
  metrics.totals(
    "jiss_connections_closed_total",
    "Connections that the service closed: no request came, the client went silent, or room was needed",
    "cause",
    () => Object.entries(connections.closed),
  );
}

/** The returned function reads the database. */
function alertMetrics(metrics: MetricRegistry, sources: MetricSources): () => Promise<void> {
  const alerts = metrics.gauge(
    "jiss_alerts_open",
    "Alerts about organizations that nobody has acknowledged",
  );
  return async () => alerts.set(await sources.openAlerts());
}

/** The returned function reads the database. */
function webhookMetrics(metrics: MetricRegistry, sources: MetricSources): () => Promise<void> {
  const { deliveries } = sources;
  metrics.totals(
    "jiss_webhook_attempts_total",
    "Attempts to deliver an event, by outcome: delivered, or the class of error",
    "outcome",
    () => deliveries.attempts,
  );
  metrics.total(
    "jiss_webhook_events_dropped_total",
    "Events that were dropped because they waited too long, or because too many others were waiting",
    () => deliveries.dropped,
  );
  const paused = metrics.gauge(
    "jiss_webhook_paused",
    "Destinations that have failed for so long that they are tried only once a minute",
  );
  const waiting = metrics.gauge(
    "jiss_webhook_backlog",
    "Events that wait to be delivered, each counted for each destination",
  );
  return async () => {
    const destinations = await sources.backlog();
    waiting.set(destinations.reduce((sum, { events, queued }) => sum + events + queued, 0));
    paused.set(destinations.filter(({ paused_at }) => paused_at !== null).length);
  };
}

/** Registers the figures of the candidate model, and returns the function that counts a comparison. */
function shadowMetrics(
  metrics: MetricRegistry,
  { candidate, counts }: NonNullable<MetricSources["shadow"]>,
): Metrics["observeShadow"] {
  metrics.info("jiss_shadow_info", "The candidate model that runs in shadow", { candidate });
  const differences = metrics.histogram(
    "jiss_shadow_jis_difference",
    "JIS of the candidate minus JIS of the model in use, in points, for each compared interaction",
    { buckets: DIFFERENCES },
  );
  const changed = metrics.counter(
    "jiss_shadow_changed_total",
    "Interactions whose band or compliance status is higher or lower under the candidate",
    ["what", "direction"],
  );
  for (const what of ["band", "compliance_status"]) {
    for (const direction of ["higher", "lower"]) changed.inc({ what, direction }, 0);
  }
  metrics.total(
    "jiss_shadow_failures_total",
    "Scores and late labels on which the candidate failed",
    () => counts().failed,
  );
  metrics.total(
    "jiss_shadow_missed_total",
    "Scores and late labels that the candidate skipped because there was no room or too many were waiting",
    () => counts().missed,
  );
  metrics.total(
    "jiss_shadow_restarts_total",
    "Restarts of an operator from the stored state, because something was missed or another process recorded it",
    () => counts().restarts,
  );
  metrics.readGauge(
    "jiss_shadow_operators",
    "Operators that the candidate follows",
    () => counts().operators,
  );
  metrics.readGauge(
    "jiss_shadow_waiting",
    "Scores and late labels that wait for the candidate",
    () => counts().waiting,
  );
  return ({ difference, band, status }) => {
    differences.observe(difference);
    if (band !== "same") changed.inc({ what: "band", direction: band });
    if (status !== "same") changed.inc({ what: "compliance_status", direction: status });
  };
}
