/** Load from `wrk`: scores and batches of scores, each request with session ids of its own. */

const OPERATORS = 1_000;
/** More threads than a small machine has cores would only take time from what is measured. */
const THREADS_MAX = 2;

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly connections: number;
  readonly seconds: number;
  /** The prefix of the session ids: the same prefix sends the same bytes. */
  readonly prefix: string;
  /** Interactions in a request; 1: `POST /v1/score`. */
  readonly batch?: number;
}

export interface Load {
  readonly perSecond: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** @returns why there can be no load; null if there can. */
export async function noLoad(): Promise<string | null> {
  try {
    await new Deno.Command("wrk", { args: ["--version"], stdout: "null", stderr: "null" }).output();
    return null;
  } catch {
    return "wrk is not installed (Debian: apt-get install wrk)";
  }
}

/** @throws if a request was refused or broke off: a load with failures does not count. */
export async function load(options: LoadOptions): Promise<Load> {
  const { url, key, connections, seconds, prefix, batch = 1 } = options;
  const path = batch === 1 ? "/v1/score" : "/v1/score/batch";
  const { stdout, stderr } = await new Deno.Command("wrk", {
    args: [
      `-t${Math.min(connections, THREADS_MAX)}`,
      `-c${connections}`,
      `-d${seconds}s`,
      "--timeout",
      "30s",
      "-s",
      `${import.meta.dirname}/load.lua`,
      url,
      "--",
      ...[key, path, batch, OPERATORS, prefix].map(String),
    ],
  }).output();
  const figures = /FIGURES (.*)/.exec(new TextDecoder().decode(stdout))?.[1];
  if (figures === undefined) throw new Error(`wrk told nothing: ${new TextDecoder().decode(stderr)}`);
  const { requests, microseconds, refused, broken, p50, p99 } = JSON.parse(figures);
  if (refused + broken > 0) throw new Error(`${refused} requests were refused and ${broken} broke off`);
  return { perSecond: requests / (microseconds / 1e6), p50, p99 };
}

/** The body that the load's script sends first, for baselines without a network. */
export function scoreBody(session: string): string {
  const interaction = {
    ai_recommendation_presented: true,
    time_to_decision_ms: 10_919,
    decision: "accepted",
    modification_extent: 0,
    ai_available: true,
    scenario_type: "standard",
    outcome_correct: true,
    hover_events: 8,
    scroll_depth: 0.8,
    alternative_views_checked: 1,
  };
  return JSON.stringify({
    session_id: session,
    operator_id: "operator-919",
    domain: "financial",
    interaction,
  });
}
