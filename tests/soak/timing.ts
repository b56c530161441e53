/** Whether the reason of a refused authentication shows in its timing: over real HTTP, reasons interleaved. */
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, startService } from "../program.ts";

/** Medians of the reasons may lie this far apart before they count as telling. */
const TELLING_MS = 2;
const FLOOR_MS = 80;

export interface TimingFigures {
  readonly rounds: number;
  readonly floor_ms: number;
  readonly reasons: Readonly<
    Record<string, { readonly min_ms: number; readonly median_ms: number; readonly p95_ms: number }>
  >;
  readonly widest_gap_of_medians_ms: number;
  readonly below_floor: number;
  readonly telling: boolean;
}

/** Measures each reason `rounds` times. Which verdict matters where is the caller's: a test looks at the floor alone. */
export async function refusalTiming({ rounds }: { readonly rounds: number }): Promise<TimingFigures> {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const presented: Record<string, string | null> = {
    missing: null,
    malformed: "not a key",
    unknown: "jis_00000000000000000000000000",
    wrong_rest: key.slice(0, 29) + (key.endsWith("0") ? "1" : "0"),
    master_key: deployment.env.MASTER_ADMIN_KEY_ORG_CREATE!,
  };
  const samples: Record<string, number[]> = Object.fromEntries(
    Object.keys(presented).map((name) => [name, []]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, value] of Object.entries(presented)) {
      const started = performance.now();
      await service.send("/v1/score", { body: scoreRequest(), ...(value === null ? {} : { key: value }) });
      samples[name]!.push(performance.now() - started);
    }
  }
  await service.stop();
  await deployment.remove();
  const at = (values: number[], share: number) => {
    const sorted = [...values].sort((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! * 100) / 100;
  };
  const reasons = Object.fromEntries(
    Object.entries(samples).map(([name, values]) => [
      name,
      { min_ms: at(values, 0), median_ms: at(values, 0.5), p95_ms: at(values, 0.95) },
    ]),
  );
  const medians = Object.values(reasons).map((row) => row.median_ms);
  const gap = Math.round((Math.max(...medians) - Math.min(...medians)) * 100) / 100;
  return {
    rounds,
    floor_ms: FLOOR_MS,
    reasons,
    widest_gap_of_medians_ms: gap,
    below_floor: Object.values(samples).flat().filter((value) => value < FLOOR_MS).length,
    telling: gap > TELLING_MS,
  };
}
