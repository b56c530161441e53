/** Metrics by their form: set or counted by their owner, or read when metrics are read. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Registers metrics. They are printed in the order of registration. */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];

  /** Content type of the text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as text. @throws what a read throws. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** A gauge that its owner sets. */
  gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: this.#registers });
  }

  /** A gauge that is read when metrics are read; it has no value while `read` returns null. */
  readGauge(name: string, help: string, read: () => number | null): void {
    new Gauge({
      name,
      help,
      registers: this.#registers,
      collect() {
        const value = read();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }

  /** A gauge that is always 1 and has facts as labels. */
  info(name: string, help: string, labels: Readonly<Record<string, string>>): void {
    const labelNames = Object.keys(labels);
    new Gauge({ name, help, labelNames, registers: this.#registers }).set({ ...labels }, 1);
  }

  /** A counter that its owner increases. */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  /** A number since the start that is counted elsewhere. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: this.#registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Numbers since the start that are counted elsewhere, one for each value of a label. */
  totals(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void {
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: this.#registers,
      collect() {
        this.reset();
        for (const [value, count] of read()) this.inc({ [label]: value }, count);
      },
    });
  }

  /** A histogram to which its owner adds; `buckets` are upper limits. */
  histogram<Label extends string>(
    name: string,
    help: string,
    { labelNames = [], buckets }: {
      readonly labelNames?: readonly Label[];
      readonly buckets: readonly number[];
    },
  ): Histogram<Label> {
    return new Histogram({
      name,
      help,
      labelNames: [...labelNames],
      buckets: [...buckets],
      registers: this.#registers,
    });
  }
}
