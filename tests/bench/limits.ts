/**
 * The cost of rate limits: both checks of a request in memory, compared with the score request that they
 * guard.
 */
import { clientAddress, limitSubject } from "../../src/limits/client_address.ts";
import { parseNetworks } from "../../src/limits/networks.ts";
import { memoryWindow, openHarness, scoreRequest } from "../harness.ts";
import { type BenchOptions, median, type Row } from "./figures.ts";

const ROUNDS = 9;
const SCORES = 300;
const CHECKS = 20_000;
/** Live addresses in the table meanwhile. */
const ADDRESSES = 100_000;
/** More than the rounds ask for in a minute of their own clock. */
const RATE_OF_A_KEY = 2 * ADDRESSES;
const AT_MOST = 0.05;

export async function limiterChecks({ quick }: BenchOptions): Promise<readonly Row[]> {
  const rounds = quick ? 2 : ROUNDS;
  const harness = await openHarness();
  const key = await harness.organization("acme");
  const addresses = memoryWindow(60);
  const keys = memoryWindow(RATE_OF_A_KEY);
  const trusted = parseNetworks(["10.0.0.0/8"]);
  let [scored, checked] = [0, 0];

  const score = async () => {
    for (let n = 0; n < SCORES; n += 1) {
      const body = scoreRequest({ session_id: `s-${scored}`, operator_id: `operator-${scored % 20}` });
      scored += 1;
      const { status } = await harness.send("/v1/score", { key, body });
      if (status !== 200) throw new Error(`a score was answered with ${status}`);
    }
  };
  const check = () => {
    for (let n = 0; n < CHECKS; n += 1) {
      // Each address asks again after a minute: one leaves the table, one enters.
      const index = checked % ADDRESSES;
      const at = checked * (60_000 / ADDRESSES);
      checked += 1;
      const forwardedFor = `203.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
      const subject = limitSubject(clientAddress("10.0.0.1", { forwardedFor, trusted }));
      if (!addresses.admit(subject, at).admitted) throw new Error(`${subject} was refused`);
      if (!keys.admit("jis_0123", at).admitted) throw new Error("the key was refused");
    }
  };

  while (checked < ADDRESSES) check();
  const times = { score: [] as number[], check: [] as number[] };
  // Interleaved, so that a busy moment of the machine affects both; the first rounds warm up.
  for (let round = -2; round < rounds; round += 1) {
    const started = performance.now();
    await score();
    const between = performance.now();
    check();
    const ended = performance.now();
    if (round < 0) continue;
    times.score.push((between - started) / SCORES);
    times.check.push((ended - between) / CHECKS);
  }
  await harness.close();
  return [{
    name: "both rate limits in memory",
    baseline: {
      of: "a score request through the application, in memory, without HTTP; median of interleaved rounds",
      value: 1000 * median(times.score),
      unit: "µs",
    },
    measured: {
      of: `address behind a proxy, its limit with ${ADDRESSES} live addresses, the key's limit`,
      value: 1000 * median(times.check),
      unit: "µs",
    },
    goal: { atMost: AT_MOST },
  }];
}
