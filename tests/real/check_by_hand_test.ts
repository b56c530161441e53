/** The rule of the evidence block, recomputed in another language from the documentation alone. */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, startService } from "../program.ts";

const SCRIPT = `${import.meta.dirname}/../../docs/verify/check_answer.py`;

interface ScriptResult {
  readonly code: number;
  readonly text: string;
}

/** The script's output for the file, run as its page says. */
async function check(path: string): Promise<ScriptResult> {
  const { code, stdout, stderr } = await new Deno.Command("python3", { args: [SCRIPT, path] }).output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Runs the script anew for each file that it is given: starting Python takes most of a separate run. */
const RUNS = `
import contextlib, io, json, runpy, sys, traceback
script = sys.argv[1]
for line in sys.stdin:
    sys.argv, code = [script, json.loads(line)], 0
    said = [
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace"),
    ]
    with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            code = 1 if isinstance(end.code, str) else end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
    for text in said:
        text.flush()
    print(json.dumps({"code": code, "text": "".join(text.buffer.getvalue().decode() for text in said)}), flush=True)
`;

interface Checker {
  check(path: string): Promise<ScriptResult>;
  close(): Promise<void>;
}

/** One process of Python that runs the script for each file as a process of its own would. */
function openChecker(...flags: readonly string[]): Checker {
  const child = new Deno.Command("python3", {
    args: [...flags, "-c", RUNS, SCRIPT],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    async check(path) {
      await writer.write(new TextEncoder().encode(`${JSON.stringify(path)}\n`));
      let line = "";
      while (!line.endsWith("\n")) {
        const { value, done } = await reader.read();
        assert.ok(!done, "Python still runs");
        line += value;
      }
      return JSON.parse(line);
    },
    async close() {
      await writer.close();
      assert.equal((await reader.read()).done, true);
      assert.equal((await child.status).code, 0);
    },
  };
}

function pythonIsMissing(): boolean {
  try {
    return !new Deno.Command("python3", { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

Deno.test({
  name:
    "docs/verify/check_answer.py finds a saved response intact, and finds every change of it [needs python3]",
  ignore: pythonIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const file = `${deployment.directory}/response.json`;
    const save = (body: unknown) => Deno.writeTextFile(file, JSON.stringify(body));
    // With -O Python ignores assert statements.
    const checkers = [openChecker(), openChecker("-O")];
    let body;
    for (let index = 0; index < 12; index += 1) {
      const answer = await service.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: `s-${index}` }, {
          time_to_decision_ms: 500 * index,
          decision: "modified",
        }),
      });
      body = answer.body;
      await save(body);
      const { code, text } = await checkers[0]!.check(file);
      assert.equal(code, 0, text);
      assert.match(
        text,
        /^intact: entry \d+ of \d+ in \S+\nThis answer says what that entry recorded, .*\.\n$/,
      );
    }
    const { evidence } = body;
    const changes = [
      [{ ...body, jis: body.jis + 0.01 }, /the answer was changed/],
      [{ ...body, band: "exemplary" }, /the answer was changed/],
      [
        { ...body, evidence: { ...evidence, entry: { ...evidence.entry, actor: "system" } } },
        /the entry was changed/,
      ],
      [
        {
          ...body,
          evidence: { ...evidence, proof: evidence.proof.replace(/\n\d+\n(?=[^\n]+\n\n)/, "\n99\n") },
        },
        /not under the signed root/,
      ],
    ] as const;
    for (const [changed, expected] of changes) {
      await save(changed);
      for (const checker of checkers) {
        const { code, text } = await checker.check(file);
        assert.equal(code, 1);
        assert.match(text, expected);
        assert.match(text, /^This answer proves nothing: .*\.\n$/m);
        assert.doesNotMatch(text, /Traceback/);
      }
      assert.deepEqual(await check(file), await checkers[0]!.check(file), "run by itself it says the same");
    }
    for (const checker of checkers) await checker.close();
    await service.stop();
    await deployment.remove();
  },
});

Deno.test({
  name: "docs/verify/check_answer.py knows every kind of answer that carries evidence [needs python3]",
  ignore: pythonIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const file = `${deployment.directory}/answer.json`;
    const checker = openChecker();
    const fields = { operator_id: "operator-1", domain: "general", time_to_decision_ms: 4000 };
    const item = (session_id: string) => ({ session_id, time_to_decision_ms: 4000, decision: "accepted" });
    const batch = {
      operator_id: "operator-1",
      domain: "general",
      interactions: [item("a"), item("b"), item("c")],
    };
    const report = "/v1/compliance/report?period_start=2020-01-01&period_end=2099-01-01";
    const asked = [
      ["/v1/score/batch", batch, 3],
      ["/v1/score/a/commit", { outcome_correct: true }, 1],
      ["/v1/decision/score", { ...fields, decision: "rejected", decision_id: "d" }, 1],
      ["/v1/decision/replay/b", undefined, 1],
      ["/v1/decision/replay/d", undefined, 1],
      [report, undefined, 1],
    ] as const;
    for (const [path, body, entries] of asked) {
      const answer = await service.send(path, { key, ...(body === undefined ? {} : { body }) });
      await Deno.writeTextFile(file, JSON.stringify(answer.body));
      const { code, text } = await checker.check(file);
      assert.deepEqual([code, text.match(/^intact: entry/gm)?.length], [0, entries], `${path}: ${text}`);
      const isBatch = path.endsWith("/batch");
      assert.match(
        text,
        isBatch ? /numbers beside them are not proven\. / : /\nThis answer says what that entry/,
      );
      assert.match(
        text,
        /Who signed the checkpoint was not checked: jiss verify does, with a key that you pin\.\n$/,
      );
    }
    const { body } = await service.send(report, { key });
    const changed = { ...body, report: { ...body.report, overall_status: "compliant" } };
    await Deno.writeTextFile(file, JSON.stringify(changed));
    assert.match((await checker.check(file)).text, /the report was changed/);
    const profile = await service.send("/v1/operator/operator-1/profile", { key });
    await Deno.writeTextFile(file, JSON.stringify(profile.body));
    const none = await checker.check(file);
    assert.equal(none.code, 2);
    assert.match(none.text, /^Nothing was checked: this file carries no evidence.*\.\n$/);
    const refused = await service.send("/v1/operator/operator-1/profile", { key: "wrong" });
    await Deno.writeTextFile(file, JSON.stringify(refused.body));
    assert.match(
      (await checker.check(file)).text,
      /is an error that the service answered, UNAUTHORIZED: ask again/,
    );
    await checker.close();
    await service.stop();
    await deployment.remove();
  },
});

type Json = ReturnType<typeof JSON.parse>;

/** Whole files that are no answer. */
const UNREADABLE: Readonly<Record<string, string | Uint8Array>> = {
  "nothing": "",
  "a blank": " \n",
  "a page": "<!doctype html>\n<html><body>502 Bad Gateway</body></html>\n",
  "words": "upstream timed out",
  "a number": "7",
  "a list": "[1, 2]",
  "null": "null",
  "depth alone": "[".repeat(200_000),
  "bytes that are no text": Uint8Array.of(0xff, 0xfe, 0x00, 0x7b),
};

/** Ways to damage the evidence of an answer; each leaves valid JSON. */
const DAMAGES: readonly ((evidence: Json) => void)[] = [
  ...["v", "covers", "sha256", "salt", "entry", "entry_hash", "proof"].flatMap((name) => [
    ...[7, null, [], {}, "", "\ud800", "\n\n", true].map((value) => (evidence: Json) =>
      evidence[name] = value
    ),
    (evidence: Json) => delete evidence[name],
  ]),
  ...[7, null, [], {}, "x"].map((commit) => (evidence: Json) => evidence.entry.commit = commit),
  ...[-1, 1e300, "1", null, 2 ** 53].map((seq) => (evidence: Json) => evidence.entry.seq = seq),
  (evidence) => evidence.proof = evidence.proof.slice(0, evidence.proof.indexOf("\u2014")),
  (evidence) => evidence.proof = evidence.proof.slice(0, 40),
  (evidence) => evidence.proof = evidence.proof.replaceAll("\n", "\r\n"),
  (evidence) => evidence.proof = evidence.proof.replace(/index \d+/, "index -1"),
  (evidence) => evidence.proof = evidence.proof.replace(/index \d+/, "index x"),
  // More siblings than the tree has levels.
  (evidence) =>
    evidence.proof = evidence.proof.replace(/(index \d+\n)/, `$1${`${"A".repeat(43)}=\n`.repeat(60)}`),
  (evidence) => evidence.proof = evidence.proof.replace(/\n\d+\n(?=[^\n]+\n\n)/, "\n0\n"),
  (evidence) => evidence.proof = evidence.proof.replace(/\n\d+\n(?=[^\n]+\n\n)/, "\nmany\n"),
];

Deno.test({
  name:
    "docs/verify/check_answer.py ends with a sentence and an exit code, however a file was damaged [needs python3]",
  ignore: pythonIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const file = `${deployment.directory}/damaged.json`;
    const { body: score } = await service.send("/v1/score", { key, body: scoreRequest({ session_id: "s" }) });
    const { body: batch } = await service.send("/v1/score/batch", {
      key,
      body: {
        operator_id: "operator-1",
        domain: "general",
        interactions: [{ session_id: "b", time_to_decision_ms: 4000, decision: "accepted" }],
      },
    });
    await service.stop();
    const whole = JSON.stringify(score);
    const checker = openChecker();
    const requireSentence = async (what: string, content: string | Uint8Array, codes: readonly number[]) => {
      await Deno.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
      const { code, text } = await checker.check(file);
      assert.ok(codes.includes(code), `${what}: exit code ${code}, ${text}`);
      assert.match(text, /^(?:Nothing was checked|This answer proves nothing): [^\n]+\.\n$/, what);
    };
    for (const [what, content] of Object.entries(UNREADABLE)) await requireSentence(what, content, [2]);
    for (const share of [0.1, 0.5, 0.99]) {
      await requireSentence("cut off", whole.slice(0, Math.floor(whole.length * share)), [2]);
    }
    for (const [index, damage] of DAMAGES.entries()) {
      const changed = structuredClone(score);
      damage(changed.evidence);
      await requireSentence(`${index}: ${damage}`, JSON.stringify(changed), [1]);
    }
    for (const evidence of [7, null, [], "x", {}]) {
      await requireSentence("evidence that is none", JSON.stringify({ ...score, evidence }), [1]);
    }
    for (
      const items of [7, null, {}, [7], [{}], [{ ...batch.evidence.items[0], path: 7 }], [{
        ...batch.evidence.items[0],
        index: -5,
      }]]
    ) {
      const changed = { ...batch, evidence: { ...batch.evidence, items } };
      await requireSentence("items that are none", JSON.stringify(changed), [1]);
    }
    await checker.close();
    await Deno.remove(file);
    const missing = await check(file);
    assert.equal(missing.code, 2);
    assert.match(missing.text, /^Nothing was checked: .* cannot be read \(No such file or directory\)\.\n$/);
    const directory = await check(deployment.directory);
    assert.deepEqual([directory.code, directory.text.includes("Is a directory")], [2, true]);
    // Saved with the byte order mark that some editors write first.
    await Deno.writeTextFile(file, `\ufeff${whole}`);
    assert.equal((await check(file)).code, 0);
    await deployment.remove();
  },
});
