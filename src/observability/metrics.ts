/** What the program counts, in the text format of Prometheus. */
import { Counter, Gauge, Registry } from "prom-client";

/** Where the numbers come from; each is asked for when metrics are read. */
export interface MetricSources {
  readonly version: string;
  readonly model: string;
  /** Requests that the layers of rate limits refused because they could not count them, since the start. */
  uncounted(): Readonly<Record<string, number>>;
  /** Alerts that nobody has acknowledged. */
  openAlerts(): Promise<number>;
}

export interface Metrics {
  readonly contentType: string;
  /** @throws what a source throws. */
  text(): Promise<string>;
}

export function createMetrics({ version, model, uncounted, openAlerts }: MetricSources): Metrics {
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
    name: "jiss_alerts_open",
    help: "Usage alerts that nobody has acknowledged",
    registers,
    async collect() {
      this.set(await openAlerts());
    },
  });
  const [registry] = registers;
  return { contentType: registry!.contentType, text: () => registry!.metrics() };
}
