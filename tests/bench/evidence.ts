/**
 * Verifying evidence: how much slower it is than the least work of reading it, and how it slows down scoring
 * meanwhile.
 */
import { createHash } from "node:crypto";
import { concat } from "../../src/evidence/crypto.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parsePins } from "../../src/evidence/trust.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { BIG_BUNDLE_KEY, bigBundle } from "../big_bundle.ts";
import { scoreRequest } from "../harness.ts";
import { type LongChainService, startWithLongChain } from "../long_chain.ts";
import { type BenchOptions, median, percentile, type Row } from "./figures.ts";

// ---- speed --------------------------------------------------------------------------------------------------

const BUNDLE = { entries: 5_000, operators: 500, erased: false };
const ROUNDS = 9;
/** Half the speed of the baseline. */
const AT_MOST = 2;
/** No goal, only a guard: to compute a score anew costs many times more than to read it. */
const REPLAY_AT_MOST = 30;

const LINE_FEED = 0x0a;

/** Verifying with and without replay, compared with parsing and hashing the same bytes. */
export function verifyingSpeed({ quick }: BenchOptions): Promise<readonly Row[]> {
  const rounds = quick ? 2 : ROUNDS;
  const bundle = quick ? { ...BUNDLE, entries: BUNDLE.entries / 5 } : BUNDLE;
  const pieces = [...bigBundle(bundle)];
  const whole = concat(...pieces);
  const times = { bare: [] as number[], checked: [] as number[], replayed: [] as number[] };
  // Interleaved, so that a busy moment of the machine affects all; the first rounds warm up.
  for (let round = -2; round < rounds; round += 1) {
    const bare = timed(() => readBare(whole, pieces));
    const checked = timed(() => verify(pieces, { replay: false }));
    const replayed = timed(() => verify(pieces, { replay: true }));
    if (round < 0) continue;
    times.bare.push(bare);
    times.checked.push(checked);
    times.replayed.push(replayed);
  }
  const row = (
    name: string,
    { measured, atMost }: { readonly measured: number; readonly atMost: number },
  ): Row => ({
    name,
    baseline: {
      of: "JSON.parse of each line, and one SHA-256 of all bytes",
      value: median(times.bare),
      unit: "ms",
    },
    measured: {
      of: `a bundle of ${bundle.entries} entries, ${whole.length} bytes; median of interleaved rounds`,
      value: measured,
      unit: "ms",
    },
    goal: { atMost },
  });
  return Promise.resolve([
    row("verifying without replay", { measured: median(times.checked), atMost: AT_MOST }),
    row("verifying with replay", { measured: median(times.replayed), atMost: REPLAY_AT_MOST }),
  ]);
}

/** The least work of any reader: it parses every line as JSON, and hashes the file. */
function readBare(whole: Uint8Array, pieces: readonly Uint8Array[]): void {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let start = 0;
  for (let feed = whole.indexOf(LINE_FEED); feed >= 0; feed = whole.indexOf(LINE_FEED, start)) {
    JSON.parse(decoder.decode(whole.subarray(start, feed)));
    start = feed + 1;
  }
  const digest = createHash("sha256");
  for (const piece of pieces) digest.update(piece);
  digest.digest();
}

/** @throws if the bundle is not intact. */
function verify(pieces: readonly Uint8Array[], { replay }: { readonly replay: boolean }): void {
  const pins = parsePins(nodeCrypto, BIG_BUNDLE_KEY);
  const verifier = new BundleVerifier(nodeCrypto, { pins, known: [], expected: [], replay });
  for (const piece of pieces) verifier.push(piece);
  const [report] = verifier.end();
  if (report!.exitCode !== 0) throw new Error(JSON.stringify(report!.findings));
}

// ---- scoring during verification ----------------------------------------------------------------------------

const CHAIN = { entries: 50_000, operators: 1_000 };
const CONNECTIONS = [1, 4];
const RUNS = 5;
/** Scores that measure the usual latency, before each verification. */
const USUAL_SCORES = 1_000;
const PERCENTILE = 0.99;
const LATENCY_AT_MOST = 2;

/** Scoring over HTTP while the service verifies a long chain, compared with scoring just before it. */
export async function scoringWhileVerifying({ quick }: BenchOptions): Promise<readonly Row[]> {
  const runsOfEach = quick ? 1 : RUNS;
  const chain = quick ? { ...CHAIN, entries: CHAIN.entries / 10 } : CHAIN;
  const filled = await startWithLongChain(chain);
  const scorer = new Scorer(filled);
  await scorer.score(Math.max(...CONNECTIONS), (answered) => answered < USUAL_SCORES);
  const rows: Row[] = [];
  for (const connections of CONNECTIONS) {
    const runs: LatencyRun[] = [];
    for (let run = 0; run < runsOfEach; run += 1) {
      runs.push(await latencyRun(filled, { scorer, connections }));
    }
    const { usual, meanwhile } = runs.toSorted((a, b) => slowdownOf(a) - slowdownOf(b))[runsOfEach >> 1]!;
    rows.push({
      name: `p99 of scoring while ${chain.entries} entries are verified, connections: ${connections}`,
      baseline: { of: `p99 of ${USUAL_SCORES} scores just before`, value: usual, unit: "ms" },
      measured: {
        of: `p99 of the scores during the verification; the median of ${runsOfEach} runs by their ratio`,
        value: meanwhile,
        unit: "ms",
      },
      goal: { atMost: LATENCY_AT_MOST },
    });
  }
  await filled.close();
  return rows;
}

/** Milliseconds. */
interface LatencyRun {
  readonly usual: number;
  readonly meanwhile: number;
}

function slowdownOf({ usual, meanwhile }: LatencyRun): number {
  return meanwhile / usual;
}

async function latencyRun(
  { service, key }: LongChainService,
  { scorer, connections }: { readonly scorer: Scorer; readonly connections: number },
): Promise<LatencyRun> {
  const usual = await scorer.score(connections, (answered) => answered < USUAL_SCORES);
  let isVerified = false;
  const verification = service.send("/v1/audit/chain/verify", { key }).finally(() => isVerified = true);
  const meanwhile = await scorer.score(connections, () => !isVerified);
  const { status, body } = await verification;
  // The entries were written directly into the database and have no rows. That is the only finding.
  const others = status === 200
    ? body.findings.filter(({ code }: Finding) => code !== "ROW_ALTERED")
    : [body];
  if (others.length > 0) throw new Error(JSON.stringify(others[0]));
  return { usual: percentile(usual, PERCENTILE), meanwhile: percentile(meanwhile, PERCENTILE) };
}

interface Finding {
  readonly code: string;
}

/** A client; each of its connections sends its next score when the last one is answered. */
class Scorer {
  readonly #filled: LongChainService;
  #sent = 0;

  constructor(filled: LongChainService) {
    this.#filled = filled;
  }

  /** Scores for as long as `goesOn` says; the latencies in milliseconds. */
  async score(
    connections: number,
    continues: (answered: number) => boolean,
  ): Promise<readonly number[]> {
    const latencies: number[] = [];
    const connection = async () => {
      while (continues(latencies.length)) latencies.push(await this.#one());
    };
    await Promise.all(Array.from({ length: connections }, connection));
    return latencies;
  }

  async #one(): Promise<number> {
    const { service, key } = this.#filled;
    this.#sent += 1;
    const body = scoreRequest({
      session_id: `scored-meanwhile-${this.#sent}`,
      operator_id: `operator-${this.#sent % 20}`,
    });
    const started = performance.now();
    const { status } = await service.send("/v1/score", { key, body });
    if (status !== 200) throw new Error(`a score was answered with ${status}`);
    return performance.now() - started;
  }
}

function timed(run: () => void): number {
  const started = performance.now();
  run();
  return performance.now() - started;
}
