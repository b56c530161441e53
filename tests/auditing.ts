/**
 * An auditor's side of the evidence: files that a service exports, and `jiss verify` on them, with permission
 * to read those files and to write its own directory, and nothing else.
 */
import { createPublicKey } from "node:crypto";
import { dirname } from "node:path";
import { bundleFile, type BundleParts } from "../src/operations/chains/export.ts";
import { type Harness, openHarness, scoreRequest } from "./harness.ts";
import { baseEnvironment, type Finished } from "./program.ts";

const MAIN = `${import.meta.dirname}/../main.ts`;

export interface Verification extends Finished {
  /** Standard output as JSON, if `--json` was given. */
  // deno-lint-ignore no-explicit-any -- a report is whatever the program said
  readonly report: any;
}

export interface VerifyRun {
  readonly stdin?: string;
  readonly cwd?: string;
}

function verifyCommand(args: readonly string[], { cwd }: VerifyRun): Deno.Command {
  const valuesOf = (flag: string) => args.flatMap((arg, index) => args[index - 1] === flag ? [arg] : []);
  // A new file is written beside its place, and its name is synced to the disk.
  const folders = valuesOf("--report").map((path) => dirname(path));
  const write = [...valuesOf("--state"), ...folders];
  const read = [...args.filter((arg) => arg.startsWith("/")), ...folders];
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      ...(read.length === 0 ? [] : [`--allow-read=${read.join(",")}`]),
      ...(write.length === 0 ? [] : [`--allow-write=${write.join(",")}`]),
      MAIN,
      "verify",
      ...args,
    ],
    clearEnv: true,
    env: baseEnvironment(),
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Verifies in a process of its own. */
export async function verifyProgram(args: readonly string[], run: VerifyRun = {}): Promise<Verification> {
  const child = verifyCommand(args, run).spawn();
  const writing = feed(child, run.stdin ?? "");
  const { code, stdout, stderr } = await child.output();
  await writing;
  const text = new TextDecoder().decode(stdout);
  return {
    code,
    stdout: text,
    stderr: new TextDecoder().decode(stderr),
    report: args.includes("--json") && text !== "" ? JSON.parse(text) : null,
  };
}

/** Verifies for a reader who closes the pipe at once; returns the exit code. */
export async function verifyUnheard(args: readonly string[]): Promise<number> {
  const child = verifyCommand(args, {}).spawn();
  await child.stdout.cancel();
  await feed(child, "");
  await child.stderr.cancel();
  return (await child.status).code;
}

async function feed(child: Deno.ChildProcess, text: string): Promise<void> {
  const writer = child.stdin.getWriter();
  // A program that does not read to the end may have ended before all is written.
  await writer.write(new TextEncoder().encode(text)).catch(() => {});
  await writer.close().catch(() => {});
}

/** A directory of the test's own, removed after it. */
export async function withDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Writes a text to a file of the directory; returns its path. */
export async function save(directory: string, name: string, content: unknown): Promise<string> {
  const path = `${directory}/${name}`;
  await Deno.writeTextFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Scores a session; returns the answer. */
export async function score(harness: Harness, key: string, session: string, operator = "operator-1") {
  const { status, body, text } = await harness.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session, operator_id: operator }),
  });
  if (status !== 200) throw new Error(text);
  return body;
}

/** A chain as a bundle, of every epoch, as `jiss export` writes it. */
export async function bundleOf(
  harness: Harness,
  family: string,
  { parts = "all" }: { readonly parts?: BundleParts } = {},
): Promise<string> {
  let text = "";
  const options = {
    family,
    parts,
    retentionDays: null,
    now: harness.clock.now(),
    software: "jiss 0.0.0-test",
  };
  for await (const piece of bundleFile(harness.dependencies, options)) text += piece;
  return text;
}

/** The public keys, as the service publishes them. */
export async function jwksOf(harness: Harness): Promise<string> {
  return (await harness.send("/.well-known/jwks.json")).text;
}

/** A public key as openssl writes it. */
export function publicKeyPem(publicKey: Uint8Array): string {
  const x = publicKey.toBase64({ alphabet: "base64url", omitPadding: true });
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return key.export({ format: "pem", type: "spki" }).toString();
}

export interface Visit {
  readonly harness: Harness;
  /** The organization's API key. */
  readonly key: string;
  readonly directory: string;
  /** Writes a file with this content; returns its path. */
  put(name: string, content: unknown): Promise<string>;
  /** The path of the public keys. */
  readonly jwks: string;
}

/** A deployment with one organization and three scores of two operators, entries 1 to 3 of `org/acme`. */
export function withVisit(test: (visit: Visit) => Promise<void>): () => Promise<void> {
  return () =>
    withDirectory(async (directory) => {
      const harness = await openHarness();
      const key = await harness.organization("acme");
      await score(harness, key, "s-1");
      await score(harness, key, "s-2", "operator-2");
      await score(harness, key, "s-3");
      const put = (name: string, content: unknown) => save(directory, name, content);
      await test({ harness, key, directory, put, jwks: await put("jwks.json", await jwksOf(harness)) });
      await harness.close();
    });
}

/** A bundle of the same deployment, key and ids, with another history from the second score on. */
export async function forkedBundle(scores = 3): Promise<string> {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  await score(harness, key, "s-1");
  for (let index = 2; index <= scores; index += 1) await score(harness, key, `forged-${index}`);
  const text = await bundleOf(harness, "org/acme");
  await harness.close();
  return text;
}
