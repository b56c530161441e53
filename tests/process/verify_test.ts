/**
 * `jiss verify` as an auditor uses it: its verdicts on whole and changed files, its memory from visit to
 * visit, and that it never says "changed" of a file that it could not read.
 */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { z } from "zod";
import { UNCOMPARED_REASONS } from "../../src/evidence/uncompared.ts";
import { concat, utf8 } from "../../src/evidence/crypto.ts";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { VERDICTS_BY_WEIGHT } from "../../src/evidence/report.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import {
  bundleOf,
  forkedBundle,
  jwksOf,
  save,
  score,
  verifyProgram,
  type VerifyRun,
  verifyUnheard,
  withDirectory,
  withVisit,
} from "../auditing.ts";
import { forged } from "../bundle_tampering.ts";
import { openHarness, pemOf, scoreRequest } from "../harness.ts";
import { KEPT_PAGES, keptPage } from "../kept_pages/kept.ts";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const verify = verifyProgram;

/** A text with a byte before one of its parts that is not valid UTF-8. */
function strayByte(text: string, before: string): Uint8Array {
  const at = text.indexOf(before);
  assert.notEqual(at, -1, `${before} is in it`);
  return concat(utf8(text.slice(0, at)), Uint8Array.of(0xff), utf8(text.slice(at)));
}

/** The verdict, the exit code and the first finding, from the `--json` report. */
async function judged(args: readonly string[], run: VerifyRun = {}) {
  const { code, report, stderr } = await verify([...args, "--json"], run);
  assert.notEqual(report, null, stderr);
  assert.equal(report.exit_code, code);
  return { verdict: report.verdict, code, first: report.code, seq: report.first_bad_seq };
}

const INTACT = { verdict: "INTACT", code: 0, first: null, seq: null };
const UNANCHORED = { verdict: "INTACT, UNANCHORED", code: 0, first: null, seq: null };

// ---- one bundle -------------------------------------------------------------------------------------------

Deno.test("a chain of scores, labels, decisions and an erasure is intact, exported over HTTP and by the command line", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const ok = async (path: string, options: Parameters<typeof service.send>[1] = {}) => {
    const { status, body } = await service.send(path, { key, ...options });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const answer = await ok("/v1/score", {
    body: scoreRequest({ session_id: "s-1" }, { outcome_correct: null }),
  });
  await ok("/v1/score/s-1/commit", { body: { outcome_correct: true } });
  await ok("/v1/score", { body: scoreRequest({ session_id: "s-2", operator_id: "operator-2" }) });
  const decided = await ok("/v1/decision/score", {
    body: { operator_id: "operator-1", domain: "general", time_to_decision_ms: 9000, decision: "accepted" },
  });
  await ok("/v1/operator/operator-2", { method: "DELETE" });

  const files = {
    http: await save(
      deployment.directory,
      "http.ndjson",
      await (await fetch(`${service.url}/v1/audit/chain/export`, { headers: { "X-API-Key": key } })).text(),
    ),
    cli: `${deployment.directory}/cli.ndjson`,
  };
  const jwks = await save(deployment.directory, "jwks.json", await ok("/.well-known/jwks.json"));
  assert.equal((await runProgram(["export", "--org", "acme", "-o", files.cli], deployment)).code, 0);
  for (const file of Object.values(files)) {
    const { code, report } = await verify([file, "--key", jwks, "--json"]);
    assert.equal(code, 0, JSON.stringify(report));
    const [bundle] = report.bundles;
    assert.deepEqual(
      [bundle.verdict, bundle.entries, bundle.replayed, bundle.erased, bundle.findings],
      // A score, its commit, its label and a decision. The other operator's score is erased.
      ["INTACT, UNANCHORED", 7, 4, 2, []],
    );
  }
  for (const [name, body] of Object.entries({ answer, decided })) {
    const document = await save(deployment.directory, `${name}.json`, body);
    assert.deepEqual(await judged([document, files.cli, "--key", jwks]), UNANCHORED);
  }
  await service.stop();
  await deployment.remove();
});

Deno.test(
  "a file without a trusted key proves nothing: the fingerprint of its own key is printed, and the exit code is 2",
  withVisit(async ({ harness, put }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    const { code, stdout, stderr } = await verify([file]);
    assert.equal(code, 2);
    assert.equal(stderr, "");
    assert.match(stdout, /^NOT VERIFIABLE\nThe file agrees with the key that it carries itself, SHA256:/);
    assert.ok(!stdout.includes("Keep this"), "nothing of it is worth keeping");
    const stranger = await put("stranger.json", {
      keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    });
    assert.deepEqual(await judged([file, "--key", stranger]), {
      verdict: "NOT VERIFIABLE",
      code: 2,
      first: "UNTRUSTED_KEY",
      seq: 3,
    });
  }),
);

Deno.test(
  "a changed figure is found, named by entry and code, with a key and without",
  withVisit(async ({ harness, put, jwks }) => {
    const text = await bundleOf(harness, "org/acme");
    const file = await put("changed.ndjson", text.replace('"jis":66.3', '"jis":99.9'));
    for (const args of [[file, "--key", jwks], [file]]) {
      const { code, stdout } = await verify(args);
      assert.equal(code, 1);
      assert.match(stdout, /^TAMPERED\nThe file was changed .*; the first bad one is entry 1\.\n/);
      assert.match(stdout, /\n {2}first bad {3}entry 1\n/);
      assert.match(
        stdout,
        /\n {2}! COMMITMENT_MISMATCH: [^\n]* entry 1 [^\n]* \(line \d+/,
      );
      assert.ok(!stdout.includes("Keep this"));
    }
    const { first, seq, code } = await judged([file, "--key", jwks]);
    assert.deepEqual([first, seq, code], ["COMMITMENT_MISMATCH", 1, 1]);
  }),
);

Deno.test(
  "a bundle that withholds parts is intact as far as it goes: 2, and 0 with --no-replay",
  withVisit(async ({ harness, put, jwks }) => {
    const file = await put("bare.ndjson", await bundleOf(harness, "org/acme", { parts: "none" }));
    const full = await verify([file, "--key", jwks]);
    assert.equal(full.code, 2);
    assert.match(full.stdout, /^INTACT \(7 parts withheld, not replayed\)\n/);
    const partial = await verify([file, "--key", jwks, "--no-replay"]);
    assert.equal(partial.code, 0);
    assert.match(partial.stdout, /\n {2}replayed {4}nothing, as you asked\n/);
  }),
);

Deno.test(
  "text of an entry, a name or a finding cannot pass as the report's own lines",
  withVisit(async ({ harness, put, jwks }) => {
    const [header, ...rest] = (await bundleOf(harness, "org/acme")).split("\n");
    const forged = { ...JSON.parse(header!), origin: "x\u001b[2J\nINTACT\n\u202e", chain: "\u009b1A" };
    const { stdout } = await verify([
      await put("odd.ndjson", [JSON.stringify(forged), ...rest].join("\n")),
      "--key",
      jwks,
    ]);
    // deno-lint-ignore no-control-regex -- what must not come through
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(stdout));
    assert.ok(!/^INTACT/m.test(stdout));
    assert.match(stdout, /x\\u\{1b\}\[2J\\nINTACT\\n\\u\{202e\}/);
  }),
);

// ---- visits -----------------------------------------------------------------------------------------------

Deno.test(
  "a second visit needs no key, and is compared with the first; only its owner can read the directory",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const first = await put("first.ndjson", await bundleOf(harness, "org/acme"));
    const firstVisit = await verify([first, "--key", jwks, "--state", state]);
    assert.equal(firstVisit.code, 0);
    assert.match(firstVisit.stdout, /^INTACT, UNANCHORED\n/);
    assert.ok(firstVisit.stdout.endsWith(`\n\nKept in ${state} for the next visit.\n`));
    const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;
    assert.deepEqual([await mode(state), await mode(`${state}/jiss-memory.json`)], [0o700, 0o600]);
    await score(harness, key, "s-4");
    const second = await put("second.ndjson", await bundleOf(harness, "org/acme"));
    assert.deepEqual(await judged([second, "--state", state]), INTACT);
    assert.deepEqual(await sizesIn(state, "org/acme"), [4, 5]);
  }),
);

Deno.test(
  "a history that was cut back or rewritten contradicts an earlier visit: DIVERGED, both signed sides are shown, and the memory stays",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const first = await put("first.ndjson", await bundleOf(harness, "org/acme"));
    await score(harness, key, "s-4");
    const second = await put("second.ndjson", await bundleOf(harness, "org/acme"));
    assert.deepEqual(await judged([second, "--key", jwks, "--state", state]), UNANCHORED);
    const before = await Deno.readTextFile(`${state}/jiss-memory.json`);

    assert.deepEqual(await judged([first, "--state", state]), {
      verdict: "DIVERGED",
      code: 1,
      first: "ROLLBACK_VS_KNOWN_CHECKPOINT",
      seq: 4,
    });
    const forked = await put("forked.ndjson", await forkedBundle(6));
    assert.deepEqual(await judged([forked, "--key", jwks]), UNANCHORED, "by itself it has no finding");
    const { code, stdout } = await verify([forked, "--state", state]);
    assert.equal(code, 1);
    assert.match(stdout, /^DIVERGED\n/);
    assert.match(stdout, /FORK_VS_KNOWN_CHECKPOINT/);
    const [kept, contents] = stdout.split("What you kept:")[1]!.split("What the file says:");
    assert.match(kept!, /org\/acme\n5\n[A-Za-z0-9+/=]+\n\n— /);
    assert.match(contents!, /org\/acme\n7\n[A-Za-z0-9+/=]+\n\n— /);
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), before);
  }),
);

Deno.test(
  "a first visit without a key, a damaged memory and a file in the directory's place are refused with 2",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    const state = `${directory}/memory`;
    const early = await verify([file, "--state", state]);
    assert.equal(early.code, 2);
    assert.match(early.stderr, /contains nothing yet: give --key at the first visit/);
    assert.equal((await verify([file, "--key", jwks, "--state", state])).code, 0);
    const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);
    for (const damaged of ["", "{", "[]", memory.replace('"size": 4', '"size": 3')]) {
      await Deno.writeTextFile(`${state}/jiss-memory.json`, damaged);
      const { code, stderr } = await verify([file, "--key", jwks, "--state", state]);
      assert.equal(code, 2);
      assert.match(stderr, /jiss-memory\.json cannot be used\. .* Replace it with a copy/);
      assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), damaged);
    }
    const { code, stderr } = await verify([file, "--key", jwks, "--state", file]);
    assert.equal(code, 2);
    assert.match(stderr, /cannot be created or written: it is a file, not a directory/);
  }),
);

Deno.test(
  "if the visit cannot be kept, the verdict is printed, the memory stays, and the exit code is 2",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const first = await put("first.ndjson", await bundleOf(harness, "org/acme"));
    assert.equal((await verify([first, "--key", jwks, "--state", state])).code, 0);
    const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);
    await score(harness, key, "s-4");
    const second = await put("second.ndjson", await bundleOf(harness, "org/acme"));
    // A directory in the place of the new memory cannot be written as a file, as on a full disk.
    await Deno.mkdir(`${state}/jiss-memory.json.next/full`, { recursive: true });
    for (const json of [[], ["--json"]]) {
      const { code, stdout, stderr } = await verify([second, "--state", state, ...json]);
      assert.equal(code, 2);
      assert.match(stdout, json.length === 0 ? /^INTACT\n/ : /"verdict":"INTACT"/);
      assert.doesNotMatch(stdout, /Kept in/);
      assert.match(stderr, /this visit was not kept: --state \S+memory cannot be written: /);
    }
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), memory);
  }),
);

Deno.test(
  "a bundle that is not intact is not remembered",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const text = await bundleOf(harness, "org/acme");
    const state = `${directory}/memory`;
    const good = await put("good.ndjson", text);
    const bad = await put("bad.ndjson", text.replace('"jis":66.3', '"jis":99.9'));
    for (const files of [[bad], [good, bad]]) {
      assert.equal((await verify([...files, "--key", jwks, "--state", state])).code, 1);
    }
    assert.equal((await verify([good, "--state", state])).code, 2, "it has seen nothing good yet");
    assert.deepEqual((await [...Deno.readDirSync(state)]).map(({ name }) => name), ["lock"]);
  }),
);

Deno.test(
  "visits at the same time keep each other's memory",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const names = ["a", "b", "c", "d"];
    const files: string[] = [];
    for (const name of names) {
      await harness.organization(name);
      files.push(await put(`${name}.ndjson`, await bundleOf(harness, `org/${name}`)));
    }
    const visits = files.map((file) => verify([file, "--key", jwks, "--state", state]));
    assert.deepEqual((await Promise.all(visits)).map(({ code }) => code), [0, 0, 0, 0]);
    for (const name of names) assert.deepEqual(await sizesIn(state, `org/${name}`), [1]);
    assert.deepEqual(
      [...Deno.readDirSync(state)].map(({ name }) => name).sort(),
      ["jiss-memory.json", "lock"],
    );
  }),
);

/** The kept sizes of a chain. */
async function sizesIn(state: string, chain: string): Promise<readonly number[]> {
  const { checkpoints } = JSON.parse(await Deno.readTextFile(`${state}/jiss-memory.json`));
  const origin = Object.keys(checkpoints).find((name) => name.endsWith(`/${chain}`))!;
  return checkpoints[origin].map(({ size }: { size: number }) => size);
}

Deno.test(
  "a visit with another key than the memory's, of the same log, is not verifiable and says so; other logs in the memory do not matter",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    assert.equal((await verify([file, "--key", jwks, "--state", state])).code, 0);
    // A log under the same name signed by a stranger's key.
    const stranger = await openHarness({ signers: [signerFromPem(pemOf("a stranger"))] });
    await score(stranger, await stranger.organization("acme"), "s-1");
    const forged = await put("forged.ndjson", await bundleOf(stranger, "org/acme"));
    const strangeKey = await put("strange.json", await jwksOf(stranger));
    // Closing it would verify with the harness's own key.
    await stranger.abandon();
    assert.deepEqual(await judged([forged, "--key", strangeKey]), UNANCHORED);
    const before = await Deno.readTextFile(`${state}/jiss-memory.json`);
    const { code, stdout } = await verify([forged, "--key", strangeKey, "--state", state]);
    assert.equal(code, 2);
    assert.match(stdout, /^NOT VERIFIABLE\n/);
    assert.match(stdout, /a checkpoint of 4 entries, not compared: no key that you trust signed it/);
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), before);

    const memory = JSON.parse(await Deno.readTextFile(`${state}/jiss-memory.json`));
    const [[origin, kept]] = Object.entries<{ size: number; note: string }[]>(memory.checkpoints) as [
      [string, { size: number; note: string }[]],
    ];
    // A checkpoint that a visit of another log left, signed by a key that this visit does not trust.
    const elsewhere = origin.replace("jiss.test", "jiss.elsewhere");
    memory.checkpoints[elsewhere] = kept.map(({ size, note }) => ({
      size,
      note: note.replaceAll(origin, elsewhere),
    }));
    await Deno.writeTextFile(`${state}/jiss-memory.json`, JSON.stringify(memory));
    assert.deepEqual(await judged([file, "--key", jwks, "--state", state]), INTACT);
  }),
);

// ---- kept checkpoints -------------------------------------------------------------------------------------

Deno.test(
  "a kept checkpoint anchors a bundle: as a note, as a saved answer, and as printed by jiss verify",
  withVisit(async ({ harness, key, put, jwks }) => {
    const answer = await put("answer.json", await score(harness, key, "s-4"));
    const note = await put("note.json", (await harness.send("/v1/audit/checkpoint", { key })).body);
    const early = await put("early.ndjson", await bundleOf(harness, "org/acme"));
    const said = await put("said.txt", (await verify([early, "--key", jwks])).stdout);
    await score(harness, key, "s-5");
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    for (const kept of [answer, note, said]) {
      assert.deepEqual(await judged([file, "--key", jwks, "--checkpoint", kept]), INTACT);
    }
    const forked = await put("forked.ndjson", await forkedBundle(6));
    const { verdict, code } = await judged([forked, "--key", jwks, "--checkpoint", note]);
    assert.deepEqual([verdict, code], ["DIVERGED", 1]);
  }),
);

Deno.test(
  "a checkpoint without a trusted signature, an unreadable one or one without --key makes the input unusable: 2; one of another chain is not used",
  withVisit(async ({ harness, key, put, jwks }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    const { note } = (await harness.send("/v1/audit/checkpoint", { key })).body;
    const good = await put("good.txt", note);
    const changed = await put("changed.txt", note.replace(/\n4\n/, "\n3\n"));
    const nothing = await put("nothing.txt", "see you next year");
    for (
      const [args, why] of [
        [["--key", jwks, "--checkpoint", nothing], /There is no signed checkpoint in it/],
        [["--key", jwks, "--checkpoint", `${nothing}.gone`], /there is no such file/],
        [["--key", jwks, "--checkpoint", "-"], /cannot be read from standard input/],
        [["--checkpoint", good], /--checkpoint needs --key/],
      ] as const
    ) {
      const { code, stderr, stdout } = await verify([file, ...args]);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, why);
    }
    const doubtful = await verify([file, "--key", jwks, "--checkpoint", changed]);
    assert.equal(doubtful.code, 2);
    assert.match(doubtful.stdout, /^NOT VERIFIABLE\n/);
    assert.match(doubtful.stdout, /a checkpoint of 3 entries, not compared: no key that you trust signed it/);
    const admin = await put("admin.ndjson", await bundleOf(harness, "org/acme/admin"));
    for (const kept of [good, changed]) {
      const { report } = await verify([admin, "--key", jwks, "--checkpoint", kept, "--json"]);
      assert.deepEqual([report.verdict, report.unused_checkpoints], ["INTACT, UNANCHORED", 1]);
    }
  }),
);

Deno.test(
  "a file that was damaged by copying is named as such, is not DIVERGED from the memory, and is not remembered",
  withVisit(async ({ harness, put, jwks, directory }) => {
    const text = await bundleOf(harness, "org/acme");
    const file = await put("acme.ndjson", text);
    const state = `${directory}/state`;
    assert.deepEqual(await judged([file, "--key", jwks, "--state", state]), UNANCHORED);
    const remembered = await Deno.readTextFile(`${state}/jiss-memory.json`);
    let line = 0;
    const copies: readonly (readonly [string, string, string, number, RegExp])[] = [
      ["crlf", text.replaceAll("\n", "\r\n"), "TAMPERED", 1, /Each line of the file ends as Windows/],
      [
        "mixed",
        text.replaceAll("\n", () => (line += 1) % 2 === 0 ? "\r\n" : "\n"),
        "TAMPERED",
        1,
        /Some lines of the file end as Windows/,
      ],
      ["bom", `\ufeff${text}`, "NOT VERIFIABLE", 2, /The file begins with a byte order mark/],
      ["utf16", text, "NOT VERIFIABLE", 2, /The file is text in UTF-16/],
    ];
    for (const [name, content, verdict, exit, message] of copies) {
      const copy = await put(`${name}.ndjson`, content);
      if (name === "utf16") await Deno.writeFile(copy, utf16(content));
      const { code, stdout } = await verify([copy, "--state", state]);
      assert.deepEqual([code, stdout.split("\n")[0]], [exit, verdict], name);
      assert.match(stdout, message);
      assert.match(stdout, /opy it again byte for byte/);
      assert.doesNotMatch(stdout, /DIVERGED|Keep both|together they prove/);
    }
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), remembered);
    assert.deepEqual(await judged([file, "--state", state]), INTACT);
  }),
);

/** The text as PowerShell writes a program's output. */
function utf16(text: string): Uint8Array {
  const bytes = new Uint8Array(2 + 2 * text.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0xfeff, true);
  for (let at = 0; at < text.length; at += 1) view.setUint16(2 + 2 * at, text.charCodeAt(at), true);
  return bytes;
}

// ---- documents --------------------------------------------------------------------------------------------

Deno.test(
  "a report saved as a page is verified by the JSON in it, and the verdict says whether the page shows the same",
  withVisit(async ({ harness, key, put, jwks }) => {
    const path = "/v1/compliance/report?period_start=2026-10-01&period_end=2027-01-01";
    const json = await put("report.json", (await harness.send(path, { key })).body);
    const { text } = await harness.send(`${path}&format=html`, { key });
    const page = await put("report.html", text);
    const bundle = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    for (const file of [json, page]) {
      assert.deepEqual(await judged([file, "--key", jwks]), UNANCHORED);
      assert.deepEqual(await judged([file, bundle, "--key", jwks]), UNANCHORED);
    }
    const said = (await verify([page, "--key", jwks])).stdout;
    assert.match(said, /The page shows what that report says\.\n/);
    assert.match(said, /\n {2}document {4}\S+report\.html, one recorded event, inside a page\n/);
    const copied = await put("copied.html", text.replaceAll("\n", "\r\n"));
    assert.deepEqual(await judged([copied, "--key", jwks]), UNANCHORED);
    assert.match(
      (await verify([copied, "--key", jwks])).stdout,
      /The page shows what that report says\. Only its line ends were changed \(to CR LF\), when it was copied as text\.\n/,
    );
    assert.deepEqual(
      await judged([await put("marked.html", `\ufeff${text}`), "--key", jwks]),
      UNANCHORED,
    );

    // Another figure on the page is not one of the report. A browser saves a page in a form of its own, too.
    const shown = text.replace(
      /<h1>Compliance report: <bdi>[^<]*/,
      "<h1>Compliance report: <bdi>Another Bank",
    );
    const saved = `<!-- saved from url=(0021)http://127.0.0.1/ -->\n${
      text.replace("<main>", '<main class="x">')
    }`;
    for (const other of [shown, saved]) {
      assert.notEqual(other, text);
      const file = await put("other.html", other);
      const { code, stdout } = await verify([file, "--key", jwks]);
      assert.deepEqual([code, stdout.split("\n")[0]], [2, "NOT VERIFIABLE"]);
      assert.match(
        stdout,
        /This applies to the report inside the page\. The page itself is not verified and may show something else/,
      );
    }
    const changed = await put("changed.html", text.replace('"org_id":"acme"', '"org_id":"acne"'));
    const { verdict, code, first } = await judged([changed, "--key", jwks]);
    assert.deepEqual([verdict, code, first], ["TAMPERED", 1, "RESULT_MISMATCH"]);

    const block = /<script type="application\/json".*<\/script>/s.exec(text)![0];
    for (const none of [text.replace(block, ""), text.replace(block, block + block), "<p>a page</p>"]) {
      const file = await put("none.html", none);
      assert.equal((await judged([file, "--key", jwks])).code, 2);
      assert.match(
        (await verify([file, "--key", jwks])).stdout,
        /a page that contains no signed report, or more than one/,
      );
    }
  }),
);

for (const name of Object.keys(KEPT_PAGES) as (keyof typeof KEPT_PAGES)[]) {
  Deno.test(
    `a page that was saved from ${name} still shows what its report says, and no longer does after a change of one word`,
    () =>
      withDirectory(async (directory) => {
        const { page, jwks } = await keptPage(name);
        const key = await save(directory, "jwks.json", jwks);
        const same = await verify([await save(directory, "saved.html", page), "--key", key]);
        assert.deepEqual([same.code, same.stdout.split("\n")[0]], [0, UNANCHORED.verdict]);
        assert.match(same.stdout, /The page shows what that report says\.\n/);
        const changed = page.replace("Organization rule", "Organization rules");
        assert.notEqual(changed, page);
        const other = await verify([await save(directory, "changed.html", changed), "--key", key]);
        assert.deepEqual([other.code, other.stdout.split("\n")[0]], [2, "NOT VERIFIABLE"]);
      }),
  );
}

Deno.test(
  "a saved answer is verified alone, and compared with its bundle in any order",
  withVisit(async ({ harness, key, put, jwks }) => {
    const answer = await put("answer.json", await score(harness, key, "s-4"));
    const batch = await put(
      "batch.json",
      (await harness.send("/v1/score/batch", {
        key,
        body: {
          operator_id: "operator-1",
          domain: "general",
          interactions: [1, 2].map((index) => ({
            session_id: `b-${index}`,
            time_to_decision_ms: 9000,
            decision: "accepted",
          })),
        },
      })).body,
    );
    const bundle = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    assert.deepEqual(await judged([answer, "--key", jwks]), UNANCHORED);
    const alone = await verify([answer, "--key", jwks]);
    assert.match(
      alone.stdout,
      /The document was verified by itself: only an intact bundle of its log can show/,
    );
    for (const files of [[answer, bundle], [bundle, answer], [bundle, batch, answer]]) {
      assert.deepEqual(await judged([...files, "--key", jwks]), UNANCHORED);
    }
    const { report } = await verify([bundle, batch, "--key", jwks, "--json"]);
    const [{ kind, place, entries }] = report.documents;
    assert.deepEqual([kind, place], ["batch", "held"]);
    assert.deepEqual(
      entries.map((entry: { seq: number; session_id: string }) => [entry.seq, entry.session_id]),
      [[5, "b-1"], [6, "b-2"]],
    );
    // The numbers of a batch are outside of its evidence. Alone they are not proven, beside a bundle they are
    // compared.
    const { results, ...rest } = JSON.parse(await Deno.readTextFile(batch));
    const raised = results.map((result: Record<string, unknown>) => ({ ...result, jis: 99.9 }));
    const forgery = await put("forgery.json", { ...rest, results: raised });
    assert.match((await verify([forgery, "--key", jwks])).stdout, /that does not prove its numbers/);
    assert.deepEqual(await judged([bundle, forgery, "--key", jwks]), {
      code: 1,
      verdict: "TAMPERED",
      first: "RESULT_MISMATCH",
      seq: 5,
    });
    assert.deepEqual(await judged([bundle, batch, "--key", jwks]), UNANCHORED);
    // Other sessions, another operator, or values that are not numbers are found, too.
    const { items, ...evidence } = rest.evidence;
    const swapped = {
      results: [results[1], results[0]].map((result, at) => ({
        ...results[at],
        session_id: result.session_id,
      })),
      evidence: {
        ...evidence,
        items: items.map((item: object, at: number) => ({ ...item, session_id: results[1 - at].session_id })),
      },
    };
    for (const change of [{ results, operator_id: "operator-2" }, swapped]) {
      const file = await put("false.json", { ...rest, ...change });
      assert.equal((await judged([bundle, file, "--key", jwks])).code, 1);
    }
    for (const jis of ["70", null]) {
      const file = await put("none.json", { ...rest, results: [{ ...results[0], jis }, results[1]] });
      assert.equal((await judged([file, "--key", jwks])).code, 1);
    }
    // A bundle that withholds the results does not prove them.
    const hashes = await put(
      "hashes.ndjson",
      (await harness.send("/v1/audit/chain/export?parts=none", { key })).text,
    );
    const beside = await verify([hashes, forgery, "--key", jwks, "--no-replay"]);
    assert.match(beside.stdout, /that does not prove its numbers/);
    // A bundle signed by a stranger neither proves nor contradicts it.
    const strange = await put(
      "strange.ndjson",
      forged(await Deno.readTextFile(bundle), ({ groups }) => {
        groups[5]!.parts.find(({ name }) => name === "result")!.data.jis = 99.9;
      }, { commitments: true, links: true, signers: [signerFromPem(pemOf("a stranger"))] }),
    );
    for (const saved of [batch, forgery]) {
      const beside = (await verify([bundle, strange, saved, "--key", jwks, "--json"])).report;
      assert.equal(beside.documents[0].verdict, saved === batch ? "INTACT" : "TAMPERED");
    }
    // Beside another organization's log it is verified alone.
    await harness.organization("other");
    const other = await put("other.ndjson", await bundleOf(harness, "org/other"));
    const apart = await verify([other, answer, "--key", jwks, "--json"]);
    assert.equal(apart.report.documents[0].place, "alone");
    assert.deepEqual([apart.report.documents[0].verdict, apart.code], ["INTACT, UNANCHORED", 0]);
  }),
);

Deno.test(
  "an answer beyond the bundle's end is not verifiable, because the bundle may be older; as a kept checkpoint it shows a rollback",
  withVisit(async ({ harness, key, put, jwks }) => {
    const older = await put("older.ndjson", await bundleOf(harness, "org/acme"));
    const answer = await put("answer.json", await score(harness, key, "s-4"));
    const { code, report, stdout } = await verify([older, answer, "--key", jwks, "--json"]);
    assert.equal(code, 2, stdout);
    assert.deepEqual([report.verdict, report.code], ["NOT VERIFIABLE", null]);
    assert.match(report.sentence, /the bundle ends before it: .* Ask for a new export/);
    assert.deepEqual(report.bundles.map(({ verdict }: { verdict: string }) => verdict), [
      "INTACT, UNANCHORED",
    ]);
    const { verdict, first } = await judged([older, "--key", jwks, "--checkpoint", answer]);
    assert.deepEqual([verdict, first], ["DIVERGED", "ROLLBACK_VS_KNOWN_CHECKPOINT"]);
  }),
);

Deno.test(
  "a changed answer is TAMPERED, with a key and without; an unchanged one without a key proves nothing",
  withVisit(async ({ harness, key, put, jwks }) => {
    const body = await score(harness, key, "s-4");
    const changed = await put("changed.json", { ...body, jis: 99.9 });
    const expected = { verdict: "TAMPERED", code: 1, first: "RESULT_MISMATCH", seq: 4 };
    assert.deepEqual(await judged([changed, "--key", jwks]), expected);
    assert.deepEqual(await judged([changed]), expected);
    const { code, stdout } = await verify([await put("answer.json", body)]);
    assert.equal(code, 2);
    assert.match(
      stdout,
      /^NOT VERIFIABLE\nThe document is complete, but without --key it is unknown who signed it/,
    );
  }),
);

Deno.test(
  "an answer that the log no longer holds shows that history was rewritten",
  withVisit(async ({ harness, key, put, jwks }) => {
    const answer = await put("answer.json", await score(harness, key, "s-4"));
    const forked = await put("forked.ndjson", await forkedBundle(6));
    const { code, report } = await verify([forked, answer, "--key", jwks, "--json"]);
    assert.deepEqual([report.verdict, code, report.code], ["DIVERGED", 1, "FORK_VS_KNOWN_CHECKPOINT"]);
    assert.deepEqual(report.bundles.map(({ verdict }: { verdict: string }) => verdict), ["DIVERGED"]);
    assert.equal(report.documents[0].place, "alone");
    // Two answers of one size and two roots prove it without a bundle.
    const other = await openHarness();
    const otherKey = await other.organization("acme");
    for (let index = 1; index <= 3; index += 1) await score(other, otherKey, `forged-${index}`);
    const forgery = await put("forgery.json", await score(other, otherKey, "forged-4"));
    await other.close();
    assert.deepEqual(await judged([answer, forgery, "--key", jwks]), {
      verdict: "DIVERGED",
      code: 1,
      first: "FORK_VS_KNOWN_CHECKPOINT",
      seq: 4,
    });
  }),
);

Deno.test(
  "a file that is neither a bundle nor an answer is not verifiable, and the reason is printed: 2",
  withVisit(async ({ harness, key, put, jwks }) => {
    const { body: checkpoint } = await harness.send("/v1/audit/checkpoint", { key });
    const { body: unauthorized } = await harness.send("/v1/audit/checkpoint", { key: "wrong" });
    for (
      const [content, why] of [
        ["", /The file is empty, because the export or the copy was interrupted/],
        ["PK\u0003\u0004", /The file is compressed or an archive: unpack it/],
        ["hello\n", /neither a bundle nor a saved answer/],
        ["[1]", /neither a bundle nor a saved answer/],
        ['{"jis":1}', /JSON without the evidence with which the service answers/],
        [unauthorized, /is an error that the service answered .*: read its message, and ask again/],
        [checkpoint, /is a checkpoint, which bundles are compared with: pass it with --checkpoint/],
        [checkpoint.note, /is a checkpoint, which bundles are compared with: pass it with --checkpoint/],
        [`{"a":"${"x".repeat(16_777_216)}"}`, /larger than any answer/],
        ['{"kind":"jis.bundle/7"}\n', /not a file that this program reads/],
        [gzipSync("{}\n"), /The file is compressed or an archive: unpack it/],
      ] as const
    ) {
      const file = await put("what", content instanceof Uint8Array ? "" : content);
      if (content instanceof Uint8Array) await Deno.writeFile(file, content);
      const { code, stdout } = await verify([file, "--key", jwks]);
      assert.equal(code, 2);
      assert.match(stdout, /^NOT VERIFIABLE\n/);
      assert.match(stdout, why);
    }
  }),
);

Deno.test(
  "an answer whose evidence is of another kind, or covers another part, is not a whole answer, nor a checkpoint: 2",
  withVisit(async ({ harness, key, put, jwks }) => {
    const answer = await score(harness, key, "s-4");
    const { body: batch } = await harness.send("/v1/score/batch", {
      key,
      body: {
        operator_id: "operator-1",
        domain: "general",
        interactions: [{ session_id: "b-1", time_to_decision_ms: 9000, decision: "accepted" }],
      },
    });
    const changed = [
      [answer, { covers: "detail" }],
      [answer, { covers: "input" }],
      [answer, { covers: "everything" }],
      [answer, { covers: undefined }],
      [answer, { v: "jis.evidence/2" }],
      [answer, { v: "jis.evidence-batch/1" }],
      [answer, { v: undefined }],
      [batch, { v: "jis.evidence-batch/2" }],
      [batch, { v: "jis.evidence/1" }],
      [batch, { v: undefined }],
    ] as const;
    const files: string[] = [];
    for (const [body, change] of changed) {
      const evidence = { ...body.evidence, ...change };
      files.push(await put(`changed-${files.length}.json`, { ...body, evidence }));
    }
    for (const trust of [["--key", jwks], []]) {
      const { code, report } = await verify([...files, ...trust, "--json"]);
      assert.equal(code, 2);
      assert.equal(report.documents.length, 10);
      for (const { verdict, exit_code, code, sentence, file } of report.documents) {
        assert.deepEqual([verdict, exit_code, code, sentence], [
          "NOT VERIFIABLE",
          2,
          "MALFORMED",
          "The file is not a complete answer of the service with its evidence.",
        ], JSON.stringify(changed[files.indexOf(file)]![1]));
      }
    }
  }),
);

Deno.test(
  "an answer, a bundle's first line, a key or a checkpoint that is not UTF-8 proves nothing: 2; any other line of a bundle that is not is a change: 1",
  withVisit(async ({ harness, key, directory, put, jwks }) => {
    const answer = JSON.stringify(await score(harness, key, "s-4"));
    const note = (await harness.send("/v1/audit/checkpoint", { key })).body.note;
    const bundle = await bundleOf(harness, "org/acme");
    const good = await put("good.ndjson", bundle);
    const bytes = async (name: string, content: Uint8Array) => {
      await Deno.writeFile(`${directory}/${name}`, content);
      return `${directory}/${name}`;
    };

    const nothing = {
      answer: await bytes("answer.json", strayByte(answer, "operator-1")),
      noise: await bytes("noise", Uint8Array.of(0xff, 0xfe, 0x00, 0x0a, 0x80)),
      header: await bytes("header.ndjson", strayByte(bundle, "jiss.test/")),
    };
    const changed = {
      entry: await bytes("entry.ndjson", strayByte(bundle, "SCORE_COMPUTED")),
      part: await bytes("part.ndjson", strayByte(bundle, "operator-2")),
      line: await bytes("line.ndjson", concat(utf8(bundle), Uint8Array.of(0xff, 0x0a))),
      end: await bytes("end.ndjson", concat(utf8(bundle), Uint8Array.of(0xff))),
    };
    for (const [name, file] of Object.entries({ ...nothing, ...changed })) {
      const expected = name in nothing ? ["NOT VERIFIABLE", 2] : ["TAMPERED", 1];
      const { verdict, code } = await judged([file]);
      assert.deepEqual([verdict, code], expected, name);
      const result = await verify([file, "--key", jwks]);
      assert.deepEqual([result.stdout.split("\n")[0], result.code, result.stderr], [...expected, ""], name);
      assert.doesNotMatch(result.stdout, /\.ts:\d+|Error/, "no stack trace");
    }
    for (const file of [nothing.answer, nothing.noise]) {
      const { stdout } = await verify([file, "--key", jwks]);
      assert.match(stdout, /\nThe file is (not|neither) a bundle/);
    }
    const header = await verify([nothing.header, "--key", jwks]);
    assert.match(header.stdout, /\nNothing can be said of the file: /);
    assert.match(header.stdout, /\n {2}! MALFORMED_LINE: Line 1 of the file is damaged/);
    const line = bundle.split("\n").findIndex((text) => text.includes("operator-2")) + 1;
    const part = await verify([changed.part, "--key", jwks]);
    assert.match(part.stdout, new RegExp(`\\(line ${line}: too long, or not UTF-8\\)`));
    // Beside an unreadable file the bundle is judged all the same.
    const beside = await verify([good, nothing.answer, "--key", jwks, "--json"]);
    assert.deepEqual([beside.code, beside.report.bundles[0].verdict], [2, "INTACT, UNANCHORED"]);

    const strayKey = await bytes("key.json", strayByte(await Deno.readTextFile(jwks), '"keys"'));
    const strayNote = await bytes("note.txt", strayByte(note, "org/acme"));
    for (
      const [args, file] of [
        [["--key", strayKey], strayKey],
        [["--key", jwks, "--checkpoint", strayNote], strayNote],
      ] as const
    ) {
      for (const json of [[], ["--json"]]) {
        const { code, stdout, stderr } = await verify([good, ...args, ...json]);
        assert.deepEqual([code, stdout, stderr], [
          2,
          "",
          `jiss: ${file} is not a text file, or is too large for a key or a checkpoint\n`,
        ]);
      }
    }
  }),
);

// ---- several files, standard input ------------------------------------------------------------------------

Deno.test(
  "several bundles in one file or in several are one input: checkpoints that sys anchored are compared with the others",
  withVisit(async ({ harness, put, jwks }) => {
    await anchorChains(harness.dependencies, harness.clock.now());
    const [sys, acme, admin] = await Promise.all(
      ["sys", "org/acme", "org/acme/admin"].map((family) => bundleOf(harness, family)),
    ) as [string, string, string];
    const files = [await put("sys", sys), await put("acme", acme), await put("admin", admin)];
    const together = await put("all.ndjson", sys + acme + admin);
    const apart = await verify([...files, "--key", jwks, "--json"]);
    const joined = await verify([together, "--key", jwks, "--json"]);
    assert.deepEqual([apart.code, joined.code], [0, 0]);
    assert.deepEqual(apart.report, joined.report);
    assert.deepEqual(joined.report.bundles.map(({ chain }: { chain: string }) => chain), [
      "sys",
      "org/acme",
      "org/acme/admin",
    ]);
    // By itself the forged chain looks whole. The system chain contradicts it.
    const forked = await put("forked.ndjson", await forkedBundle());
    assert.deepEqual(await judged([forked, "--key", jwks]), UNANCHORED);
    for (const args of [[files[0]!, forked], [await put("both", sys + await forkedBundle())]]) {
      const { verdict, code, first } = await judged([...args, "--key", jwks]);
      assert.deepEqual([verdict, code, first], ["DIVERGED", 1, "FORK_VS_KNOWN_CHECKPOINT"]);
    }
    const { stdout } = await verify([...files, "--key", jwks]);
    assert.match(stdout, /^INTACT, UNANCHORED: the worst of 3, one by one below\.\n\n/);
  }),
);

Deno.test(
  "with several files a finding names its own file, and the line within it",
  withVisit(async ({ harness, put, jwks }) => {
    const sys = await put("sys.ndjson", await bundleOf(harness, "sys"));
    const text = await bundleOf(harness, "org/acme");
    const file = await put("acme.ndjson", text.replace('"jis":66.3', '"jis":99.9'));
    const line = text.split("\n").findIndex((part) => part.includes('"jis":66.3')) + 1;
    const { report } = await verify([sys, file, "--key", jwks, "--json"]);
    const found = report.bundles[1].findings.find((finding: { code: string }) =>
      finding.code === "COMMITMENT_MISMATCH"
    );
    assert.deepEqual([found.file, found.line], [file, line]);
    const { report: single } = await verify([file, "--key", jwks, "--json"]);
    assert.deepEqual([single.bundles[0].findings[0].file, single.bundles[0].findings[0].line], [null, line]);
  }),
);

Deno.test(
  "a file that is cut off is not completed by the next one",
  withVisit(async ({ harness, put, jwks }) => {
    const text = await bundleOf(harness, "org/acme");
    const admin = await put("admin.ndjson", await bundleOf(harness, "org/acme/admin"));
    for (const end of [1, 40]) {
      const cut = await put("cut.ndjson", text.slice(0, -end));
      const { report, code } = await verify([cut, admin, "--key", jwks, "--json"]);
      assert.equal(code, 1);
      assert.deepEqual(report.bundles.map(({ verdict }: { verdict: string }) => verdict), [
        "TAMPERED",
        "INTACT, UNANCHORED",
      ]);
      assert.equal((await verify([cut, "--key", jwks])).code, 1);
    }
  }),
);

Deno.test(
  "standard input can be a bundle or an answer, and can be read once",
  withVisit(async ({ harness, key, put, jwks }) => {
    const body = JSON.stringify(await score(harness, key, "s-4"));
    const text = await bundleOf(harness, "org/acme");
    assert.deepEqual(await judged(["-", "--key", jwks], { stdin: text }), UNANCHORED);
    assert.deepEqual(await judged(["-", "--key", jwks], { stdin: body }), UNANCHORED);
    const file = await put("acme.ndjson", text);
    assert.deepEqual(await judged([file, "-", "--key", jwks], { stdin: body }), UNANCHORED);
    const twice = await verify(["-", "-", "--key", jwks], { stdin: text });
    assert.deepEqual([twice.code, twice.stdout], [2, ""]);
    assert.match(twice.stderr, /standard input can be given only once/);
  }),
);

// ---- options and permissions ------------------------------------------------------------------------------

Deno.test(
  "keys can be PEM, JWKS or a verifier key, from a file or as text, and several can be given",
  withVisit(async ({ harness, put, jwks }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    const { keys } = JSON.parse(await Deno.readTextFile(jwks));
    const raw = Uint8Array.fromBase64(keys[0].x, { alphabet: "base64url" });
    const der = new Uint8Array([...Uint8Array.fromHex("302a300506032b6570032100"), ...raw]);
    const pem = await put(
      "key.pem",
      `-----BEGIN PUBLIC KEY-----\n${der.toBase64()}\n-----END PUBLIC KEY-----\n`,
    );
    const vkey = JSON.parse((await Deno.readTextFile(file)).split("\n")[0]!).keys[0].vkey;
    for (const key of [pem, jwks, vkey, await put("vkey.txt", `${vkey}\n`)]) {
      assert.deepEqual(await judged([file, "--key", key]), UNANCHORED);
    }
    const stranger = await put("stranger.json", {
      keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    });
    assert.deepEqual(await judged([file, "--key", stranger, "--key", pem]), UNANCHORED);
  }),
);

Deno.test(
  "a mistake on the command line is explained, the exit code is 2, and a private key is never repeated",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    const secret = pemOf("a key to be careful with");
    const secretFile = await put("secret.pem", secret);
    for (
      const [args, why] of [
        [[], /missing required argument 'FILE'/],
        [[`${directory}/nowhere`], /nowhere cannot be read: there is no such file/],
        [[directory], /cannot be read: it is a directory/],
        [[file, "--key", `${directory}/nowhere`], /nowhere cannot be read: there is no such file/],
        [[file, "--key", file], /acme\.ndjson: /],
        [[file, "--key", secretFile], /This is a private key/],
        [[file, "--key", secret], /--key TEXT: This is a private key/],
        [[file, "--key", "PRIVATE+KEY+x+00000000+c2VjcmV0"], /--key TEXT: This is a private key/],
        [[file, "--keys", jwks], /unknown option '--keys': did you mean --key\?/],
      ] as const
    ) {
      const { code, stdout, stderr } = await verify(args);
      assert.deepEqual([code, stdout], [2, ""], stderr);
      assert.match(stderr, why);
      assert.ok(!stderr.includes("c2VjcmV0") && !stderr.includes(secret.split("\n")[1]!));
    }
  }),
);

Deno.test(
  "a second --state is a mistake, with 2, and nothing is kept in either directory",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    const states = [`${directory}/one`, `${directory}/two`] as const;
    for (const [first, second] of [states, [states[0], states[0]]] as const) {
      const { code, stdout, stderr } = await verify([
        file,
        ...["--key", jwks, "--state", first, "--state", second],
      ]);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /^jiss: .*--state may be given only once\.\n$/);
    }
    const left = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    assert.deepEqual(left, ["acme.ndjson", "jwks.json"]);
  }),
);

Deno.test(
  "a reader that leaves early does not change the exit code",
  withVisit(async ({ harness, put, jwks }) => {
    const file = await put("acme.ndjson", await bundleOf(harness, "org/acme"));
    assert.equal(await verifyUnheard([file, "--key", jwks]), 0);
    const bad = await put("bad.ndjson", (await bundleOf(harness, "org/acme")).replace("66.3", "99.9"));
    assert.equal(await verifyUnheard([bad, "--key", jwks, "--json"]), 1);
  }),
);

// ---- the JSON report --------------------------------------------------------------------------------------

const range = z.tuple([z.int(), z.int()]).nullable();
const judgment = {
  verdict: z.enum(VERDICTS_BY_WEIGHT),
  exit_code: z.literal([0, 1, 2]),
  first_bad_seq: z.int().nullable(),
  first_bad_range: range,
  code: z.string().nullable(),
  sentence: z.string().min(20),
};
const checkpoint = z.strictObject({
  origin: z.string(),
  size: z.int(),
  root: z.string().regex(/^[0-9a-f]{64}$/),
  note: z.string(),
});
const namedRoot = checkpoint.omit({ note: true });
const reportSchema = z.strictObject({
  v: z.literal("jis.verify/1"),
  ...judgment,
  bundles: z.array(z.strictObject({
    ...judgment,
    origin: z.string(),
    chain: z.string(),
    base: z.int(),
    size: z.int(),
    entries: z.int(),
    checkpoint: checkpoint.nullable(),
    key_fingerprint: z.string().startsWith("SHA256:").nullable(),
    self_trusted: z.boolean(),
    replay: z.boolean(),
    replayed: z.int(),
    erased: z.int(),
    withheld: z.int(),
    findings: z.array(z.strictObject({
      code: z.string(),
      fatal: z.boolean(),
      seq: z.int().nullable(),
      range,
      file: z.string().nullable(),
      line: z.int().nullable(),
      part: z.enum(["input", "result", "detail"]).nullable(),
      detail: z.string().nullable(),
      sentence: z.string().min(20),
    })),
    findings_dropped: z.int(),
    untrusted_kept: z.array(checkpoint),
    contradicted: z.array(checkpoint),
    uncompared: z.array(z.strictObject({
      why: z.enum(UNCOMPARED_REASONS),
      checkpoint,
      anchor: namedRoot.nullable(),
    })),
    lost: z.strictObject({ entries: z.int(), newest: namedRoot, agreed: namedRoot }).nullable(),
  })),
  documents: z.array(z.strictObject({
    ...judgment,
    file: z.string(),
    kind: z.enum(["result", "detail", "batch"]).nullable(),
    origin: z.string().nullable(),
    checkpoint: checkpoint.nullable(),
    key_fingerprint: z.string().startsWith("SHA256:").nullable(),
    entries: z.array(z.strictObject({
      seq: z.int(),
      entry_hash: z.string().regex(/^[0-9a-f]{64}$/),
      session_id: z.string().nullable(),
    })),
    place: z.enum(["held", "removed", "lost", "beyond", "alone"]),
    uncompared: checkpoint.nullable(),
    page: z.enum(["drawn", "line ends", "other"]).nullable(),
  })),
  unused_checkpoints: z.int(),
});

Deno.test(
  "the JSON report has one schema in all cases",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const text = await bundleOf(harness, "org/acme");
    const answer = await score(harness, key, "s-4");
    const good = await put("good.ndjson", text);
    const files = {
      good,
      bad: await put("bad.ndjson", text.replace('"jis":66.3', '"jis":99.9')),
      junk: await put("junk", "junk"),
      answer: await put("answer.json", answer),
      cut: await put("cut.ndjson", text.slice(0, -5)),
      forked: await put("forked.ndjson", await forkedBundle()),
      page: await put("page.html", "<p>a page</p>"),
    };
    const state = `${directory}/memory`;
    const runs = [
      [good],
      [good, "--key", jwks, "--state", state],
      [files.forked, "--state", state],
      [files.bad, files.answer, "--key", jwks, "--no-replay"],
      [files.junk, files.cut, files.answer, files.page],
    ];
    const seen: unknown[] = [];
    for (const args of runs) {
      const { code, stdout, report } = await verify([...args, "--json"]);
      assert.equal(stdout.split("\n").length, 2, "one line");
      const parsed = reportSchema.parse(report);
      assert.equal(parsed.exit_code, code);
      seen.push(parsed.verdict);
    }
    assert.deepEqual(seen, ["NOT VERIFIABLE", "INTACT, UNANCHORED", "DIVERGED", "TAMPERED", "TAMPERED"]);
  }),
);

Deno.test(
  "an answer with a member twice proves nothing, because readers differ in which one they use",
  withVisit(async ({ harness, key, put, jwks }) => {
    const answer = JSON.stringify(await score(harness, key, "s-9"));
    for (const twice of ['{"jis":99.9,', '{"j\\u0069s":99.9,']) {
      const file = await put(`twice-${twice.length}.json`, twice + answer.slice(1));
      assert.equal((await judged([file, "--key", jwks])).code, 2, twice);
    }
    const nested = answer.replace('"evidence":{', '"evidence":{"covers":"input",');
    assert.equal((await judged([await put("nested.json", nested), "--key", jwks])).code, 2);
    assert.deepEqual(await judged([await put("once.json", answer), "--key", jwks]), UNANCHORED);
  }),
);
