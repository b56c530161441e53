/**
 * The verifier of tests/interop/verify.py as a process that answers questions, each about files and keys: it
 * shares nothing with the service but the two pages that it was written from.
 */
import assert from "node:assert/strict";
import type { ExpectedEntry } from "../src/evidence/kept_check.ts";

const PROGRAM = `${import.meta.dirname}/interop/verify.py`;

/** Every member is a text, which the verifier gets as a file. */
export interface Question {
  /** One input, in this order. */
  readonly files: readonly string[];
  /** Trusted keys: PEM, JWKS or verifier keys; null: those that the files list themselves. */
  readonly keys: readonly string[] | null;
  /** Signed notes. */
  readonly checkpoints?: readonly string[];
  /** The entries that saved answers name. */
  readonly entries?: readonly ExpectedEntry[];
  readonly replay?: boolean;
}

export interface IndependentFinding {
  readonly code: string;
  readonly fatal: boolean;
  readonly seq: number | null;
  readonly range: readonly [number, number] | null;
}

export interface IndependentReport {
  /** null if a bundle has no header. */
  readonly origin: string | null;
  readonly verdict: string;
  readonly first_bad_seq: number | null;
  readonly first_bad_range: readonly [number, number] | null;
  readonly findings: readonly IndependentFinding[];
  readonly withheld: number;
  readonly erased: number;
  readonly replayed: number;
}

export interface IndependentAnswer {
  readonly verdict: string;
  readonly exit_code: number;
  readonly bundles: readonly IndependentReport[];
}

/** Whether Python, or a package that the verifier needs, is missing on this machine. */
export function pythonIsMissing(): boolean {
  try {
    const args = ["-c", "import cryptography"];
    return !new Deno.Command("python3", { args, stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return true;
  }
}

/** Answers to all questions, in order. @throws if the verifier cannot read its input. */
export async function askIndependently(
  questions: AsyncIterable<Question> | Iterable<Question>,
): Promise<readonly IndependentAnswer[]> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-independent-" });
  const child = new Deno.Command("python3", {
    args: [PROGRAM, "--batch"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  try {
    const writer = child.stdin.getWriter();
    let asked = 0;
    for await (const question of questions) {
      asked += 1;
      const line = await writeDown(question, `${directory}/${asked}`);
      await writer.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
    }
    await writer.close();
    const [stdout, stderr] = await said;
    assert.deepEqual([(await child.status).code, stderr], [0, ""]);
    const answers = stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    assert.equal(answers.length, asked);
    for (const answer of answers) assert.equal(answer.error, undefined);
    return answers;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** The question in the verifier's form, with its texts as files whose names begin with a path. */
async function writeDown(
  { files, keys, checkpoints = [], entries = [], replay = true }: Question,
  path: string,
) {
  const write = async (texts: readonly string[], kind: string) => {
    const paths = texts.map((_, index) => `${path}.${index}.${kind}`);
    await Promise.all(texts.map((text, index) => Deno.writeTextFile(paths[index]!, text)));
    return paths;
  };
  return {
    files: await write(files, "ndjson"),
    ...(keys === null ? {} : { key: await write(keys, "key") }),
    checkpoints: await write(checkpoints, "txt"),
    entries: entries.map(({ origin, seq, entryHash }) => ({ origin, seq, entry_hash: entryHash })),
    no_replay: !replay,
  };
}
