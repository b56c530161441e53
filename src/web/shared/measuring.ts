/** The measurement of a case: by the script that customers' pages use, or without it by the clock alone. */
import type { JissCollectorApi, JissMeasurement } from "../collector/main.ts";

/** Begins to measure a case that shows `evidence`; the returned function ends the measurement. */
export type Measure = (evidence: Element) => () => JissMeasurement;

/** Longest time that a score accepts. */
const LONGEST_MS = 86_400_000;

/**
 * Loads the script at `path`, of this origin, unless it is there already. @throws {Error} if it cannot be
 * loaded.
 */
export async function loadCollector(path: string): Promise<Measure> {
  const loaded = collector() ?? await loadFrom(path);
  return (evidence) => {
    const collection = loaded.start(evidence);
    return () => collection.stop();
  };
}

function collector(): JissCollectorApi | undefined {
  return (globalThis as { JissCollector?: JissCollectorApi }).JissCollector;
}

function loadFrom(path: string): Promise<JissCollectorApi> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () => {
      script.remove();
      reject(new Error(`${path} cannot be loaded`));
    };
    script.addEventListener("error", fail);
    script.addEventListener("load", () => {
      const loaded = collector();
      if (loaded === undefined) fail();
      else resolve(loaded);
    });
    script.src = path;
    document.head.append(script);
  });
}

/**
 * Measures only the time, which a score needs; the rest is null: not measured, which is not the same as 0.
 */
export const timeAlone: Measure = () => {
  const begun = performance.now();
  return () => ({
    time_to_decision_ms: Math.min(Math.round(performance.now() - begun), LONGEST_MS),
    hover_events: null,
    scroll_depth: null,
    alternative_views_checked: null,
  });
};
