/**
 * Altered files: an exported bundle, given to the verifier as bytes and to `jiss verify`, and files that are
 * no backup, given to `jiss restore`. Nothing altered is accepted, and nothing crashes.
 */
import fc from "fast-check";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { IS_SERVER } from "../database.ts";
import { type Alteration, alterations, altered, joined } from "../fuzzing/altered_files.ts";
import { type Deployment, runProgram } from "../program.ts";
import { overallVerdict } from "../verification.ts";

export interface FileFigures {
  /** Verdicts on altered bundles, by exit code. */
  readonly verdicts: Readonly<Record<string, number>>;
  readonly findings: readonly string[];
}

/** This many of the altered files are given to the commands. */
const TO_COMMANDS: readonly (readonly Alteration[])[] = [
  [{ kind: "flip", at: 0.3, mask: 1 }],
  [{ kind: "drop line", at: 0.5 }],
  [{ kind: "cut", at: 0.7 }],
  [{ kind: "cut", at: 0 }],
  [{ kind: "insert", at: 0.4, bytes: new TextEncoder().encode("[".repeat(2_000_000)) }],
];

/** Alters the files of a stopped service `files` times; the bundles are all chains of an organization. */
export async function fuzzFiles(
  { env, directory }: Deployment,
  { files, seed, org, key }: {
    readonly files: number;
    readonly seed: number;
    readonly org: string;
    /** The file with the keys that the verifier pins. */
    readonly key: string;
  },
): Promise<FileFigures> {
  const whole = await exported(env, org);
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${env.JISS_DATA_DIR}/signing-key.pem`));
  const exitCodeOf = (bytes: Uint8Array) => {
    const pins = [{ publicKey, prefix: null, from: null, until: null }];
    const verifier = new BundleVerifier(nodeCrypto, { pins, known: [], expected: [], replay: true });
    verifier.push(bytes);
    return overallVerdict(verifier.end()).exitCode;
  };
  const bundle = joined(...whole);
  const findings = exitCodeOf(bundle) === 0
    ? []
    : ["the bundle is not intact before anything was done to it"];
  const verdicts: Record<string, number> = {};
  for (const done of fc.sample(alterations, { numRuns: files, seed })) {
    const bytes = altered(bundle, done);
    if (isMadeOf(bytes, whole)) continue;
    const code = exitCodeOf(bytes);
    verdicts[code] = (verdicts[code] ?? 0) + 1;
    if (code === 0) findings.push(`accepted after ${JSON.stringify(done)}, seed ${seed}`);
  }
  return { verdicts, findings: [...findings, ...await commandFindings({ bundle, directory, env, key })] };
}

/** The evidence chain and the admin chain. */
async function exported(env: Deployment["env"], org: string): Promise<readonly Uint8Array[]> {
  return await Promise.all(["evidence", "admin"].map(async (chain) => {
    const { code, stdout, stderr } = await runProgram(["export", "--org", org, "--chain", chain], { env });
    if (code !== 0) throw new Error(stderr);
    return new TextEncoder().encode(stdout);
  }));
}

async function commandFindings(
  { bundle, directory, env, key }: {
    readonly bundle: Uint8Array;
    readonly directory: string;
    readonly env: Deployment["env"];
    readonly key: string;
  },
): Promise<readonly string[]> {
  const run = async (name: string, bytes: Uint8Array, ...[command, ...rest]: readonly string[]) => {
    const path = `${directory}/${name}`;
    await Deno.writeFile(path, bytes);
    const { code, stdout, stderr } = await runProgram([command!, path, ...rest], { env });
    return { code, said: stdout + stderr };
  };
  const findings: string[] = [];
  const intact = await run("intact", bundle, "verify", "--key", key);
  if (intact.code !== 0) findings.push(`jiss verify of what was exported: ${intact.code} ${intact.said}`);
  for (const [index, done] of TO_COMMANDS.entries()) {
    const bytes = altered(bundle, done);
    const verified = await run(`altered-${index}`, bytes, "verify", "--key", key);
    const isReported = /^(?:TAMPERED|DIVERGED|NOT VERIFIABLE)|^jiss/m.test(verified.said);
    if (![1, 2].includes(verified.code) || !isReported || isCrash(verified.said)) {
      findings.push(`jiss verify, ${done[0]!.kind}: ${verified.code} ${verified.said.slice(0, 500)}`);
    }
  }
  // A database's own first bytes, followed by other bytes.
  const header = new TextEncoder().encode("SQLite format 3\0");
  for (const [index, bytes] of (IS_SERVER ? [] : [joined(header, bundle), new Uint8Array()]).entries()) {
    const restored = await run(`backup-${index}`, bytes, "restore", "--acknowledge", "a file that is none");
    if (restored.code !== 1 || !restored.said.includes("was not put back") || isCrash(restored.said)) {
      findings.push(`jiss restore of what is no backup: ${restored.code} ${restored.said.slice(0, 500)}`);
    }
  }
  return findings;
}

function isCrash(said: string): boolean {
  return /this program failed|\bat (?:async )?[\w.]+ \(|Uncaught|panicked/.test(said);
}

/** Whether bytes are only whole copies of some files, any number of them. */
function isMadeOf(bytes: Uint8Array, files: readonly Uint8Array[]): boolean {
  let rest = bytes;
  while (rest.length > 0) {
    const file = files.find((one) => isEqual(one, rest.subarray(0, one.length)));
    if (file === undefined) return false;
    rest = rest.subarray(file.length);
  }
  return bytes.length > 0;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
