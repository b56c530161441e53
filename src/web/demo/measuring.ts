/** How a case is measured: by the script that customers' pages use, or without it by the clock alone. */
import type { JissCollectorApi, JissMeasurement } from "../collector/main.ts";

/** Begins with a case, of which `evidence` is shown; what it returns ends it. */
export type Measure = (evidence: Element) => () => JissMeasurement;

/** The most that a score takes. */
const LONGEST_MS = 86_400_000;

/** Loads the script at `path`, of this origin, where it is not there yet. @throws {Error} where it cannot. */
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

/** A score needs the time; all else is left as not measured, which is not the same as nothing. */
export const timeAlone: Measure = () => {
  const begun = performance.now();
  return () => ({
    time_to_decision_ms: Math.min(Math.round(performance.now() - begun), LONGEST_MS),
    hover_events: null,
    scroll_depth: null,
    alternative_views_checked: null,
  });
};
