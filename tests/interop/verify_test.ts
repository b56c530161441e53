/**
 * verify.py, a verifier that was written from the documents alone, against what the real program exports: its
 * command line, its verdicts on genuine and on altered files, and the two things that it computes in its own
 * way: numbers and keys.
 */
import assert from "node:assert/strict";
import { askIndependently, type IndependentAnswer, pythonIsMissing } from "../independent_verifier.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";
import jcs from "../vectors/evidence/jcs_vectors.json" with { type: "json" };

const PROGRAM = `${import.meta.dirname}/verify.py`;
const NEEDS = "[needs python3 with cryptography]";
const ignore = pythonIsMissing();

interface Exports {
  /** The proof, by `parts`. */
  readonly bundles: Readonly<Record<"all" | "structural" | "none", string>>;
  /** The note of a size in the middle of the chain. */
  readonly checkpoint: string;
  /** One answer to a score. */
  readonly answer: string;
  readonly jwks: string;
}

/** The exports of a new deployment after each kind of call was used once, with two late labels. */
async function exportsOfEverything(): Promise<Exports> {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const post = async (path: string, body: unknown) => {
    const answer = await service.send(path, { key, body });
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const answer = await post("/v1/score", score("s1", "accepted"));
  await post("/v1/score?mode=lite&role_tier=tier_2", score("s2", "modified", { modification_extent: 0.1 }));
  await post("/v1/score", score("s3", "rejected", { outcome_correct: true }));
  await post("/v1/score?mode_override=incident_frozen", score("s4", "accepted"));
  await post("/v1/score/s1/commit", { outcome_correct: false });
  await post("/v1/score/s2/commit", { outcome_correct: true });
  const { body: { note } } = await service.send("/v1/audit/checkpoint?chain=evidence", { key });
  await post("/v1/score/s3/commit", {});
  await post("/v1/decision/score", {
    operator_id: "o1",
    domain: "healthcare",
    decision_id: "d1",
    ...interaction("overridden"),
    stakes: "critical",
  });
  await post("/v1/audit/append", {
    event_type: "REVIEW_POLICY_CHANGED",
    payload: { policy: "four-eyes \u00e9\u{1d306}\u0007", kind: "jis.bundle/1", share: 1e-7 },
  });
  await post("/v1/score/batch", {
    operator_id: "o1",
    domain: "legal",
    interactions: ["b1", "b2"].map((session_id) => ({ session_id, ...interaction("escalated") })),
  });
  await post("/v1/score", score("s5", "deferred", { scenario_type: "critical" }));
  const bundles = {
    all: await textOf(service, "/v1/audit/chain/export?parts=all", key),
    structural: await textOf(service, "/v1/audit/chain/export?parts=structural", key),
    none: await textOf(service, "/v1/audit/chain/export?parts=none", key),
  };
  const jwks = await textOf(service, "/.well-known/jwks.json", key);
  await service.stop();
  await deployment.remove();
  return { bundles, checkpoint: note, answer: JSON.stringify(answer), jwks };
}

const interaction = (decision: string) => ({ time_to_decision_ms: 14_200.5, decision, scroll_depth: 0.3 });

function score(session_id: string, decision: string, fields: Record<string, unknown> = {}) {
  return {
    session_id,
    operator_id: "o1",
    domain: "financial",
    interaction: { ...interaction(decision), ...fields },
  };
}

async function textOf({ url }: RunningService, path: string, key: string): Promise<string> {
  const response = await fetch(url + path, { headers: { "X-API-Key": key } });
  assert.equal(response.status, 200);
  return await response.text();
}

/** Writes the texts into files of these names, and runs a Python program beside them. */
async function python(
  args: readonly string[],
  { files = {}, stdin = "" }: { readonly files?: Readonly<Record<string, string>>; readonly stdin?: string } =
    {},
) {
  const cwd = await Deno.makeTempDir({ prefix: "jiss-python-" });
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${cwd}/${name}`, text);
    const child = new Deno.Command("python3", {
      args: [...args],
      cwd,
      env: { PYTHONIOENCODING: "utf-8", PYTHONDONTWRITEBYTECODE: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    const written = writer.write(new TextEncoder().encode(stdin)).then(() => writer.close());
    const [{ code, stdout, stderr }] = await Promise.all([child.output(), written]);
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

Deno.test({
  name:
    `the independent verifier finds a fresh export of everything that the program records intact ${NEEDS}`,
  ignore,
  async fn() {
    const { bundles, checkpoint, answer, jwks } = await exportsOfEverything();
    const files = { "jwks.json": jwks, "kept.txt": checkpoint, "answer.json": answer };
    const all = { ...files, "acme.ndjson": bundles.all };
    const run = (given: typeof all, ...options: string[]) =>
      python([PROGRAM, "acme.ndjson", "--key", "jwks.json", ...options], { files: given });

    const kept = await run(all, "--checkpoint", "kept.txt", "--answer", "answer.json", "--json");
    assert.equal(kept.stderr, "");
    const report: IndependentAnswer = JSON.parse(kept.stdout);
    const { verdict, findings, withheld, erased, replayed } = report.bundles[0]!;
    assert.deepEqual(
      { code: kept.code, exit: report.exit_code, count: report.bundles.length, verdict, findings },
      { code: 0, exit: 0, count: 1, verdict: "INTACT", findings: [] },
    );
    // Six scores and a frozen call, a decision, two labels and three commits.
    assert.deepEqual({ withheld, erased, replayed }, { withheld: 0, erased: 0, replayed: 13 });

    const alone = await run(all);
    assert.deepEqual([alone.code, alone.stdout.trimEnd().split("\n").at(-1)], [0, "INTACT, UNANCHORED"]);

    const withoutKey = await python([PROGRAM, "acme.ndjson"], { files: all });
    assert.deepEqual([withoutKey.code, withoutKey.stdout.trimEnd().split("\n").at(-1)], [
      2,
      "NOT VERIFIABLE",
    ]);

    for (const parts of ["structural", "none"] as const) {
      const some = { ...files, "acme.ndjson": bundles[parts] };
      const codes = [(await run(some)).code, (await run(some, "--no-replay")).code];
      assert.deepEqual(codes, [2, 0], parts);
    }
  },
});

Deno.test({
  name: `an export with any byte changed, added or left out is not intact ${NEEDS}`,
  ignore,
  async fn() {
    const { bundles: { all: genuine }, jwks } = await exportsOfEverything();
    const lines = genuine.split("\n");
    // Places in the first half of each line, in its second half, and at its end; the long line of the model
    // document counts as one.
    const places = lines.slice(0, -1).flatMap((line, index) => {
      const start = lines.slice(0, index).join("\n").length + (index === 0 ? 0 : 1);
      return [0.3, 0.8, 1].map((share) => start + Math.floor(line.length * share));
    });
    const changes = places.map((at, index) => {
      const [before, byte, after] = [genuine.slice(0, at), genuine[at]!, genuine.slice(at + 1)];
      const other = byte === "7" ? "8" : "7";
      return [before + other + after, before + after, `${before}7${byte}${after}`][index % 3]!;
    });
    const answers = await askIndependently(changes.map((text) => ({ files: [text], keys: [jwks] })));
    assert.equal(answers.length, places.length);
    for (const [index, { exit_code }] of answers.entries()) {
      const at = places[index]!;
      assert.notEqual(exit_code, 0, `byte ${at}: …${genuine.slice(Math.max(0, at - 40), at + 10)}`);
    }
  },
});

Deno.test({
  name:
    `the independent verifier writes canonical JSON as the RFC's vectors and ECMAScript's numbers require ${NEEDS}`,
  ignore,
  async fn() {
    const doubles = jcs.numbers.map(({ ieee754_hex }) => ieee754_hex);
    const block = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("doubles")));
    for (let seed = block; doubles.length < 20_000;) {
      seed = new Uint8Array(await crypto.subtle.digest("SHA-256", seed));
      for (let at = 0; at < 32; at += 8) doubles.push(seed.subarray(at, at + 8).toHex());
    }
    // Powers of ten and of two with their neighbours, where the layout and the shortest digits change.
    for (let exponent = -330; exponent < 310; exponent += 1) doubles.push(...neighbours(10 ** exponent));
    for (let exponent = -1_074; exponent < 1_024; exponent += 1) doubles.push(...neighbours(2 ** exponent));
    const finite = doubles.filter((bits) => Number.isFinite(doubleOf(bits)));
    const program = [
      "import json, struct, sys",
      `sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})`,
      "from canonical import canonical, number_text, parse",
      "asked = json.load(sys.stdin)",
      "numbers = [number_text(struct.unpack('>d', bytes.fromhex(bits))[0]) for bits in asked['doubles']]",
      "print(json.dumps([numbers, [canonical(parse(text)) for text in asked['texts']]]))",
    ].join("\n");
    const asked = { doubles: finite, texts: jcs.vectors.map(({ input }) => input) };
    const { stdout, stderr } = await python(["-c", program], { stdin: JSON.stringify(asked) });
    assert.equal(stderr, "");
    const [numbers, texts] = JSON.parse(stdout);
    assert.deepEqual(numbers, finite.map((bits) => String(doubleOf(bits) + 0)));
    assert.deepEqual(texts, jcs.vectors.map(({ canonical }) => canonical));
  },
});

function doubleOf(bits: string): number {
  return new DataView(Uint8Array.fromHex(bits).buffer).getFloat64(0);
}

function neighbours(value: number): string[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  return [bits - 1n, bits, bits + 1n]
    .filter((one) => one >= 0n)
    .map((one) => one.toString(16).padStart(16, "0"));
}

Deno.test({
  name:
    `the independent verifier pins no key of small order, of a non-canonical encoding, or that is no point ${NEEDS}`,
  ignore,
  async fn() {
    const unsound = {
      "the neutral element": `01${"00".repeat(31)}`,
      "the neutral element, its sign set": `01${"00".repeat(30)}80`,
      "order 2": `ec${"ff".repeat(30)}7f`,
      "order 4": "00".repeat(32),
      "order 4, its sign set": `${"00".repeat(31)}80`,
      "order 8": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "order 8, the other": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "p for 0": `ed${"ff".repeat(30)}7f`,
      "p + 1 for 1": `ee${"ff".repeat(30)}7f`,
      "no point of the curve": `02${"00".repeat(31)}`,
    };
    const sound = "04c3a4f368d0bbdcd4b4f4d9fe3739a988c85581f5006dc1d4012d26b2e744ce";
    const jwk = (hex: string) => ({
      kty: "OKP",
      crv: "Ed25519",
      x: Uint8Array.fromHex(hex).toBase64({ alphabet: "base64url", omitPadding: true }),
    });
    const asked = [sound, ...Object.values(unsound)].map((hex) =>
      JSON.stringify({ files: ["none.ndjson"], key: JSON.stringify({ keys: [jwk(hex)] }) })
    );
    const { stdout } = await python([PROGRAM, "--batch"], {
      files: { "none.ndjson": "" },
      stdin: `${asked.join("\n")}\n`,
    });
    const [accepted, ...refused] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual([accepted.error, accepted.verdict], [undefined, "NOT VERIFIABLE"]);
    for (const [index, what] of Object.keys(unsound).entries()) {
      assert.match(refused[index].error, /small order or not canonical/, what);
    }
  },
});
