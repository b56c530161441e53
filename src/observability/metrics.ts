/** What the program counts, in the text format of Prometheus. */
import { Counter, Gauge, Registry } from "prom-client";

/** Where the numbers come from; each is asked for when metrics are read. */
export interface MetricSources {
  readonly version: string;
  readonly model: string;
  /** Requests that the layers of rate limits refused because they could not count them, since the start. */
  uncounted(): Readonly<Record<string, number>>;
  /** Of the first listener: how many are open, and how many the service closed since the start, by cause. */
  readonly connections: { readonly open: number; readonly closed: Readonly<Record<string, number>> };
  /** Alerts that nobody has acknowledged. */
  openAlerts(): Promise<number>;
  /** Since the start. */
  readonly deliveries: {
    /** Attempts by how they ended. */
    readonly attempts: ReadonlyMap<string, number>;
    readonly dropped: number;
  };
  /** Of each active destination of a webhook. */
  backlog(): Promise<
    readonly { readonly events: number; readonly queued: number; readonly paused_at: number | null }[]
  >;
}

export interface Metrics {
  readonly contentType: string;
  /** @throws what a source throws. */
  text(): Promise<string>;
}

export function createMetrics(
  { version, model, uncounted, connections, openAlerts, deliveries, backlog }: MetricSources,
): Metrics {
  const registers = [new Registry()];
  new Gauge({
    name: "jiss_build_info",
    help: "The program and the scoring model in use",
    labelNames: ["version", "model"],
    registers,
  }).set({ version, model }, 1);
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
  new Gauge({
    name: "jiss_alerts_open",
    help: "Usage alerts that nobody has acknowledged",
    registers,
    async collect() {
      this.set(await openAlerts());
    },
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
  new Gauge({
    name: "jiss_webhook_backlog",
    help: "Events that wait to be delivered, each counted for each destination",
    registers,
    async collect() {
      const destinations = await backlog();
      this.set(destinations.reduce((sum, { events, queued }) => sum + events + queued, 0));
      paused.set(destinations.filter(({ paused_at }) => paused_at !== null).length);
    },
  });
  const [registry] = registers;
  return { contentType: registry!.contentType, text: () => registry!.metrics() };
}
