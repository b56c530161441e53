/** The metrics of the program, in the text format of Prometheus. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";

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

export function createMetrics(sources: MetricSources): Metrics {
  const { version, model, uncounted, connections, deliveries } = sources;
  const registers = [new Registry()];
  new Gauge({
    name: "jiss_build_info",
    help: "The program and the scoring model in use",
    labelNames: ["version", "model"],
    registers,
  }).set({ version, model }, 1);
  const requests = new Counter({
    name: "jiss_http_requests_total",
    help: "Requests that were answered, by route and status; those for no route have none",
    labelNames: ["route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "jiss_http_request_seconds",
    help: "From the head of a request to its answer, by route",
    labelNames: ["route"],
    buckets: SECONDS,
    registers,
  });
  const commits = new Histogram({
    name: "jiss_commit_seconds",
    help: "From the planning of a commit until it was durable",
    buckets: SECONDS,
    registers,
  });
  const jobsOfCommits = new Histogram({
    name: "jiss_commit_requests",
    help: "Requests that shared a commit",
    buckets: JOBS,
    registers,
  });
  new Gauge({
    name: "jiss_writes_waiting",
    help: "Writes that wait for a commit; beyond 10,000 they are refused",
    registers,
    collect() {
      this.set(sources.waitingWrites());
    },
  });
  const chains = new Gauge({ name: "jiss_chains", help: "Chains of every kind and epoch", registers });
  const entries = new Gauge({ name: "jiss_chain_entries", help: "Entries of all chains", registers });
  const unanchored = new Gauge({
    name: "jiss_unanchored_entries",
    help: "Entries that no checkpoint of the system chain covers yet",
    registers,
  });
  const checkpointAge = new Gauge({
    name: "jiss_checkpoint_age_seconds",
    help: "Since the last entry of the system chain, which holds a checkpoint of every other",
    registers,
  });
  new Gauge({
    name: "jiss_chain_suspect",
    help: "1 where the database is older than what was issued, another history, or altered",
    registers,
    collect() {
      this.set(sources.isSuspect() ? 1 : 0);
    },
  });
  new Gauge({
    name: "jiss_chains_altered",
    help: "Chains that are not what was signed, and that nobody has put right or acknowledged",
    registers,
    collect() {
      this.set(sources.alteredChains());
    },
  });
  new Gauge({
    name: "jiss_clock_refused",
    help: "1: this machine's clock is too far ahead of where it was, and nothing is recorded",
    registers,
    collect() {
      this.set(sources.isClockRefused() ? 1 : 0);
    },
  });
  new Gauge({
    name: "jiss_lock_behind",
    help: "1 where lock.db cannot follow the database: an older one, put back, may go unnoticed",
    registers,
    collect() {
      this.set(sources.isLockBehind() ? 1 : 0);
    },
  });
  new Gauge({
    name: "jiss_disk_free_bytes",
    help: "Where the data directory lies; none where that cannot be told",
    registers,
    collect() {
      const bytes = sources.freeSpace();
      if (bytes === null) this.remove();
      else this.set(bytes);
    },
  });
  new Counter({
    name: "jiss_log_lines_lost_total",
    help: "Lines of the log that could not be written: its reader took none, or a write failed",
    registers,
    collect() {
      this.reset();
      this.inc(sources.lostLines());
    },
  });
  new Counter({
    name: "jiss_rate_limit_uncounted_total",
    help: "Requests refused because the limiter could not count them: a full table, or a store that is away",
    labelNames: ["layer"],
    registers,
    collect() {
      this.reset();
      for (const [layer, count] of Object.entries(uncounted())) this.inc({ layer }, count);
    },
  });
  new Gauge({
    name: "jiss_connections_open",
    help: "Connections of clients",
    registers,
    collect() {
      this.set(connections.open);
    },
  });
  new Counter({
    name: "jiss_connections_closed_total",
    help: "Connections that the service closed: no request came, the client went silent, or room was needed",
    labelNames: ["cause"],
    registers,
    collect() {
      this.reset();
      for (const [cause, count] of Object.entries(connections.closed)) this.inc({ cause }, count);
    },
  });
  const alerts = new Gauge({
    name: "jiss_alerts_open",
    help: "Alerts about organizations that nobody has acknowledged",
    registers,
  });
  new Counter({
    name: "jiss_webhook_attempts_total",
    help: "Attempts to deliver an event, by how they ended: delivered, or the class of error",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of deliveries.attempts) this.inc({ outcome }, count);
    },
  });
  new Counter({
    name: "jiss_webhook_events_dropped_total",
    help: "Events that were given up because they waited too long, or behind too many",
    registers,
    collect() {
      this.reset();
      this.inc(deliveries.dropped);
    },
  });
  const paused = new Gauge({
    name: "jiss_webhook_paused",
    help: "Destinations that fail for long and are tried once a minute",
    registers,
  });
  const waiting = new Gauge({
    name: "jiss_webhook_backlog",
    help: "Events that wait to be delivered, each counted for each destination",
    registers,
  });
  const observeShadow = sources.shadow === null ? () => {} : shadowMetrics(sources.shadow, registers);
  const [registry] = registers;

  /** Runs before any metric is read: several gauges share one read of the database. */
  async function look(): Promise<void> {
    const [found, age, open, destinations] = await Promise.all([
      sources.chains(),
      sources.checkpointAge(),
      sources.openAlerts(),
      sources.backlog(),
    ]);
    chains.set(found.chains);
    entries.set(found.entries);
    unanchored.set(found.unanchored);
    checkpointAge.set(age);
    alerts.set(open);
    waiting.set(destinations.reduce((sum, { events, queued }) => sum + events + queued, 0));
    paused.set(destinations.filter(({ paused_at }) => paused_at !== null).length);
  }
  return {
    observeCommit({ jobs, milliseconds }) {
      commits.observe(milliseconds / 1000);
      jobsOfCommits.observe(jobs);
    },
    observeShadow,
    observeRequest({ route, status, milliseconds }) {
      requests.inc({ route: route ?? "", status });
      durations.observe({ route: route ?? "" }, milliseconds / 1000);
    },
    contentType: registry!.contentType,
    async text() {
      await look();
      return await registry!.metrics();
    },
  };
}

/** Registers the figures of the candidate model, and returns the function that counts a comparison. */
function shadowMetrics(
  { candidate, counts }: NonNullable<MetricSources["shadow"]>,
  registers: Registry[],
): Metrics["observeShadow"] {
  new Gauge({
    name: "jiss_shadow_info",
    help: "The candidate model that runs in shadow",
    labelNames: ["candidate"],
    registers,
  }).set({ candidate }, 1);
  const differences = new Histogram({
    name: "jiss_shadow_jis_difference",
    help: "JIS of the candidate minus that of the model in use, points, of each interaction compared",
    buckets: DIFFERENCES,
    registers,
  });
  const changed = new Counter({
    name: "jiss_shadow_changed_total",
    help: "Interactions whose band or compliance status the candidate has higher or lower",
    labelNames: ["what", "direction"],
    registers,
  });
  for (const what of ["band", "compliance_status"]) {
    for (const direction of ["higher", "lower"]) changed.inc({ what, direction }, 0);
  }
  const totals = [
    ["jiss_shadow_failures_total", "Scores and late labels on which the candidate failed", "failed"],
    [
      "jiss_shadow_missed_total",
      "Scores and late labels that the candidate had no room for, or that came too fast",
      "missed",
    ],
    [
      "jiss_shadow_restarts_total",
      "Operators that began anew from the stored state, after something was missed or recorded elsewhere",
      "restarts",
    ],
  ] as const;
  for (const [name, help, count] of totals) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(counts()[count]);
      },
    });
  }
  new Gauge({
    name: "jiss_shadow_operators",
    help: "Operators that the candidate follows",
    registers,
    collect() {
      this.set(counts().operators);
    },
  });
  new Gauge({
    name: "jiss_shadow_waiting",
    help: "Scores and late labels that wait for the candidate",
    registers,
    collect() {
      this.set(counts().waiting);
    },
  });
  return ({ difference, band, status }) => {
    differences.observe(difference);
    if (band !== "same") changed.inc({ what: "band", direction: band });
    if (status !== "same") changed.inc({ what: "compliance_status", direction: status });
  };
}
