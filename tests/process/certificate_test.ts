/**
 * `jiss verify --report`: the auditor's certificate on whole, changed and unreadable files. It says what is
 * printed, and nothing of a file can act in it.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { utf8 } from "../../src/evidence/crypto.ts";
import { bundleOf, forkedBundle, score, verifyProgram, type VerifyRun, withVisit } from "../auditing.ts";
import { MASTER_KEYS, PEPPER, SIGNING_KEY_PEM } from "../harness.ts";

const DAY_MS = 86_400_000;

interface Certified {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly html: string;
  /** The page as a reader sees it: its text with tags as line ends. */
  readonly text: string;
}

const ELEMENTS = [
  ...["!DOCTYPE", "html", "head", "meta", "title", "link", "style", "body", "main", "header", "section"],
  ...["h1", "h2", "h3", "p", "div", "dl", "dt", "dd", "ul", "li", "pre", "strong", "code", "bdi"],
];
const ATTRIBUTES = [
  ...["html", "lang", "charset", "name", "content", "http-equiv", "rel", "href"],
  ...["class", "id", "aria-labelledby"],
];

/** Verifies, and reads the certificate, which must be there and must not act. */
async function certify(path: string, args: readonly string[], run: VerifyRun = {}): Promise<Certified> {
  const { code, stdout, stderr } = await verifyProgram([...args, "--report", path], run);
  assert.equal(stderr, "");
  const html = await Deno.readTextFile(path);
  assert.match(html, /^<!DOCTYPE html>\n/);
  for (const [tag, element, attributes] of html.matchAll(/<\/?([!\w]+)([^>]*)>/g)) {
    assert.ok(ELEMENTS.includes(element!), tag);
    for (const [, name] of attributes!.matchAll(/\s([^\s="]+)(?:="[^"]*")?/g)) {
      assert.ok(ATTRIBUTES.includes(name!), tag);
    }
  }
  assert.deepEqual([...html.matchAll(/href="([^"]*)"/g)].map(([, to]) => to), ["data:,"]);
  assert.doesNotMatch(html, /url\(|@import/);
  assert.doesNotMatch(html, /[^\P{C}\n]|[\u2028\u2029]/u, "characters that hide or move text");
  const text = html.slice(html.indexOf("<body>")).replace(/<\/?(?:bdi|code|strong)>/g, "").replace(
    /<h2[^>]*>/g,
    "\n## ",
  )
    .replace(/<[^>]+>/g, "\n").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'").replaceAll("&amp;", "&").replace(/\n\s*/g, "\n");
  return { code, stdout, stderr, html, text };
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The words of the page under a heading. */
function chapter({ text }: Certified, title: string): string {
  const [, found, ...more] = text.split(`\n## ${title}\n`);
  assert.ok(found !== undefined && more.length === 0, title);
  return found.split("\n## ")[0]!;
}

Deno.test(
  "whole files: the certificate names files, chain, period, operators, keys, checkpoints, and starts from the visit before",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const one = await bundleOf(harness, "org/acme");
    const first = await certify(`${directory}/first.html`, [
      await put("first.ndjson", one),
      ...["--key", jwks, "--state", state],
    ]);
    assert.equal(first.code, 0);
    assert.match(first.text, /\nAuditor’s certificate\nVERIFIED\nNo fault was found: /);
    assert.match(first.text, /\nINTACT, UNANCHORED: Nothing was changed after signing\. You kept nothing /);
    assert.match(first.text, /\nVerified\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, by the clock of /);
    const { version } = JSON.parse(await Deno.readTextFile(`${import.meta.dirname}/../../deno.json`));
    assert.ok(first.text.includes(`\nProgram\njiss ${version}\n`));
    assert.match(first.text, /\nOrganization\nacme\nChains\n1 chain\n/);
    assert.match(first.text, /\nOperators\n2 operators named, 0 of them erased\n/);
    assert.match(
      chapter(first, "What was found"),
      /\nStarts from\nnothing: no checkpoint of this chain was given$/,
    );
    assert.match(chapter(first, "Checkpoints of earlier verifications"), /^None was given\./);
    assert.ok(first.stdout.endsWith(
      `\nWrote ${directory}/first.html: ${utf8(first.html).length} bytes, readable only by their owner.\n`,
    ));
    assert.equal((await Deno.stat(`${directory}/first.html`)).mode! & 0o777, 0o600);

    harness.clock.advance(3 * DAY_MS);
    await score(harness, key, "s-4", "operator-3");
    const erasure = await harness.send("/v1/operator/operator-2", { key, method: "DELETE" });
    assert.equal(erasure.status, 200, erasure.text);
    const two = await bundleOf(harness, "org/acme");
    const system = await bundleOf(harness, "sys");
    const files = [await put("second.ndjson", two), await put("sys.ndjson", system)];
    const second = await certify(`${directory}/second.html`, [...files, "--state", state]);
    assert.equal(second.code, 0);
    assert.match(
      second.text,
      /\nPeriod\n2026-11-20 09:00:00 UTC to 2026-11-23 09:00:00 UTC, as the entries state\n/,
    );
    assert.match(second.text, /\nOperators\n3 operators named, 1 of them erased\n/);
    const found = chapter(second, "What was found");
    assert.match(found, /^System chain\nINTACT, UNANCHORED: /);
    assert.match(found, /\nScores and decisions of acme\nINTACT: Nothing was changed, and the file goes on /);
    assert.match(
      found,
      /\nStarts from\nyour kept checkpoint of 4 entries, the last of 2026-11-20 09:00:00 UTC$/,
    );
    for (const [name, content] of [["second.ndjson", two], ["sys.ndjson", system]] as const) {
      assert.ok(
        chapter(second, "Files").includes(
          `${directory}/${name}\nSize\n${utf8(content).length} bytes\nSHA-256\n${sha256(content)}`,
        ),
        name,
      );
    }
    const [, fingerprint] = /\n {2}key +(SHA256:\S+)\n/.exec(second.stdout)!;
    assert.ok(
      chapter(second, "Signing keys").endsWith(
        `Key\n${fingerprint}, an earlier verification trusted it and kept it in ${state}`,
      ),
    );
    assert.ok(
      chapter(first, "Signing keys").endsWith(`Key\n${fingerprint}, given in the file ${jwks} (--key)`),
    );
    assert.match(
      chapter(second, "Checkpoints of earlier verifications"),
      /^4 entries\nof \S+\/org\/acme, the last of 2026-11-20 09:00:00 UTC, root [0-9a-f]{64}, kept in \S+: agrees: this verification starts from it\.$/,
    );
    assert.match(
      chapter(second, "What was checked"),
      /\nReplay: 3 scores, decisions and labels were computed anew /,
    );
    assert.match(chapter(second, "What was checked"), /\nEarlier verifications: 1 kept checkpoint compared /);
    const unchecked = chapter(second, "What was not checked");
    assert.match(unchecked, /^2 erased contents: /);
    assert.match(unchecked, /\nWhether history was rewritten [^\n]* This is true of \S+\/sys\.\n/);
    for (const always of ["Labels: ", "Time: ", "Persons: ", "The signing key: "]) {
      assert.ok(unchecked.includes(`\n${always}`), always);
    }
    assert.match(second.text, /\n## Signed\nPlace\nDate\nName\nSignature\n## Words\nChain\n/);

    // The page itself serves as what was kept.
    harness.clock.advance(DAY_MS);
    await score(harness, key, "s-5");
    const third = await put("third.ndjson", await bundleOf(harness, "org/acme"));
    const kept = await certify(`${directory}/third.html`, [
      third,
      ...["--key", jwks, "--checkpoint", `${directory}/second.html`],
    ]);
    assert.equal(kept.code, 0);
    assert.match(kept.stdout, /^INTACT\n/);
    const checkpoints = chapter(kept, "Checkpoints of earlier verifications");
    assert.match(
      checkpoints,
      /^1 entry\nof \S+\/sys, its date is in no file, root [0-9a-f]{64}, from the file \S+second\.html \(--checkpoint\): not used: /,
    );
    assert.match(
      checkpoints,
      /\n6 entries\nof \S+\/org\/acme, the last of 2026-11-23 09:00:00 UTC, .*: agrees: /,
    );
    assert.match(chapter(kept, "What was not checked"), /\n1 kept checkpoint not compared, /);
  }),
);

Deno.test(
  "a changed file and a rewritten history: NOT VERIFIED, with every finding and both signed sides",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const state = `${directory}/memory`;
    const text = await bundleOf(harness, "org/acme");
    const good = await put("good.ndjson", text);
    const bad = await put("bad.ndjson", text.replaceAll('"jis":66.3', '"jis":99.9'));
    const changed = await certify(`${directory}/bad.html`, [bad, good, "--key", jwks]);
    assert.equal(changed.code, 1);
    assert.match(
      changed.text,
      /\nNOT VERIFIED\nA fault was found: [^\n]*\nTAMPERED, the worst of 2, [^\n]*: The file was changed [^\n]* entry 1\.\n/,
    );
    const { report } = await verifyProgram([bad, good, "--key", jwks, "--json"]);
    const findings = report.bundles.flatMap((
      { findings }: { findings: { code: string; sentence: string }[] },
    ) => findings);
    assert.ok(findings.length >= 3, `${findings.length}`);
    for (const { code, sentence } of findings) {
      assert.ok(changed.text.includes(`\nFault ${code}: ${sentence} (`), `${code} ${sentence}`);
    }
    assert.match(
      chapter(changed, "What to keep for the next verification"),
      /^Nothing of these files is to be trusted later\./,
    );
    assert.match(chapter(changed, "What was not checked"), /^What follows a fault: /);

    assert.equal((await verifyProgram([good, "--key", jwks, "--state", state])).code, 0);
    const forked = await certify(`${directory}/forked.html`, [
      await put("forked.ndjson", await forkedBundle(6)),
      ...["--state", state],
    ]);
    assert.equal(forked.code, 1);
    assert.match(forked.text, /\nNOT VERIFIED\n[^\n]*\nDIVERGED: /);
    const [kept, contents] = chapter(forked, "What was found").split("What was kept:")[1]!.split(
      "What the file says:",
    );
    assert.match(kept!, /^\n\S+\/org\/acme\n4\n[A-Za-z0-9+/=]+\n— \S+ \S+\n$/);
    assert.match(contents!, /^\n\S+\/org\/acme\n7\n[A-Za-z0-9+/=]+\n— \S+ \S+$/);
    assert.match(
      chapter(forked, "Checkpoints of earlier verifications"),
      /: contradicted: the files have another history\.$/,
    );
    assert.doesNotMatch(chapter(forked, "What was not checked"), /Whether history was rewritten/);
  }),
);

Deno.test(
  "files that cannot be verified: NOT VERIFIABLE with the reason, and the digest of all their bytes",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const text = await bundleOf(harness, "org/acme");
    const file = await put("acme.ndjson", text);
    const unknown = await certify(`${directory}/unknown.html`, [file]);
    assert.equal(unknown.code, 2);
    assert.match(
      unknown.text,
      /\nNOT VERIFIABLE\nAt least one file could be neither verified nor refuted\.\nNOT VERIFIABLE: The file agrees with the key that it carries itself, SHA256:/,
    );
    assert.match(unknown.text, /\nTrust\nnone: the file carries this key itself, and no key was given\n/);
    assert.match(chapter(unknown, "Signing keys"), /^No key was given\./);
    assert.match(chapter(unknown, "What was not checked"), /^Who signed: no key was given\./);
    assert.match(chapter(unknown, "What to keep for the next verification"), /^Nothing /);

    const stranger = await put("stranger.json", {
      keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    });
    const strange = await certify(`${directory}/strange.html`, [file, "--key", stranger]);
    assert.equal(strange.code, 2);
    assert.match(
      strange.text,
      /\nTrust\nnone: no key that was given signed the file\. It names this key itself\n/,
    );
    assert.match(strange.text, /\nFault UNTRUSTED_KEY: /);

    const packed = gzipSync(text);
    await Deno.writeFile(`${directory}/acme.ndjson.gz`, packed);
    await Deno.writeTextFile(`${directory}/empty.ndjson`, "");
    const list = await put("list.json", (await harness.send("/v1/operators", { key })).text);
    const unread = [`${directory}/acme.ndjson.gz`, `${directory}/empty.ndjson`, list];
    const none = await certify(`${directory}/none.html`, [...unread, "--key", jwks]);
    assert.equal(none.code, 2);
    assert.match(chapter(none, "What was found"), /\nNOT VERIFIABLE: The file is compressed or an archive: /);
    assert.ok(chapter(none, "Files").includes(`Size\n${packed.length} bytes\nSHA-256\n${sha256(packed)}`));
    assert.ok(chapter(none, "Files").includes(`Size\n0 bytes\nSHA-256\n${sha256("")}`));
    assert.equal(chapter(none, "What was checked"), "Nothing: no file could be read.");
    assert.match(chapter(none, "What was not checked"), /^3 files that this program cannot read: /);
    assert.match(none.text, /\nPeriod\nno entry of a bundle was read\n/);

    const bare = await put("bare.ndjson", await bundleOf(harness, "org/acme", { parts: "none" }));
    const withheld = await certify(`${directory}/withheld.html`, [bare, "--key", jwks]);
    assert.equal(withheld.code, 2);
    assert.match(
      withheld.text,
      /\nNOT VERIFIABLE\nNo fault was found, but the verification is not complete\. [^\n]*\nINTACT \(7 parts withheld, not replayed\): /,
    );
    assert.match(chapter(withheld, "What was not checked"), /^7 contents withheld from the export: /);
    const asAsked = await certify(`${directory}/as-asked.html`, [bare, "--key", jwks, "--no-replay"]);
    assert.equal(asAsked.code, 0);
    assert.match(asAsked.text, /\nVERIFIED\n/);
    assert.doesNotMatch(chapter(asAsked, "What was checked"), /Replay/);
    assert.match(
      chapter(asAsked, "What was not checked"),
      /^Scores, decisions and labels: they were not computed anew/,
    );
  }),
);

Deno.test(
  "with --json, with saved answers and from standard input: the same output as without a certificate",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const answer = JSON.stringify(await score(harness, key, "s-4"));
    const document = await put("answer.json", answer);
    const stdin = await bundleOf(harness, "org/acme");
    for (const json of [[], ["--json"]]) {
      const page = `${directory}/page${json.length}.html`;
      const args = [document, "-", "--key", jwks, ...json];
      const plain = await verifyProgram(args, { stdin });
      const certified = await certify(page, args, { stdin });
      assert.equal(certified.code, 0);
      const wrote = json.length === 0 ? /\nWrote \S+: \d+ bytes, readable only by their owner\.\n$/ : /$/;
      assert.equal(certified.stdout.replace(wrote, ""), plain.stdout);
      assert.equal(
        chapter(certified, "Files"),
        `${document}\nSize\n${utf8(answer).length} bytes\nSHA-256\n${sha256(answer)}\n` +
          `standard input\nSize\n${utf8(stdin).length} bytes\nSHA-256\n${sha256(stdin)}`,
      );
      assert.match(
        chapter(certified, "What was found"),
        /^\S+answer\.json\nINTACT: The log recorded what its evidence covers, and the bundle contains the same\.\n/,
      );
      assert.match(chapter(certified, "What was checked"), /\nSaved answers against bundles: /);
    }
    const alone = await certify(`${directory}/alone.html`, [document, "--key", jwks]);
    assert.equal(alone.code, 0);
    assert.ok(
      chapter(alone, "What was not checked").startsWith(`The chain around the entry of ${document}: `),
    );
    assert.match(chapter(alone, "What to keep for the next verification"), /^No checkpoint of a bundle/);
  }),
);

Deno.test(
  "nothing that stands in a file or in its name can act, hide or reverse text in the page",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const hostile = `<img src=x onerror=alert(1)>"'&\u202eevil\u0007`;
    const [header, ...rest] = (await bundleOf(harness, "org/acme")).split("\n");
    const forged = {
      ...JSON.parse(header!),
      origin: `x${hostile}\n— y\u001b[2J</main><script>alert(2)</script>`,
      chain: "\u009b1A\u2028",
    };
    const name = `${hostile.replace("/", "")}<b>\u200fodd.ndjson`;
    const file = await put(name, [JSON.stringify(forged), ...rest].join("\n"));
    // `certify` refuses tags and characters that must not come through.
    const { code, text, html } = await certify(`${directory}/odd.html`, [file, "--key", jwks]);
    assert.equal(code, 1);
    assert.ok(text.includes(`<img src=x onerror=alert(1)>"'&\\u{202e}evil\\u{7}<b>\\u{200f}odd.ndjson\n`));
    assert.ok(text.includes(`\\n— y\\u{1b}[2J</main><script>alert(2)</script>`));
    assert.equal(html.match(/<\/main>/g)!.length, 1);
  }),
);

Deno.test(
  "the certificate has no secret and no content of an entry",
  withVisit(async ({ harness, key, put, directory, jwks }) => {
    const { html } = await certify(`${directory}/page.html`, [
      await put("acme.ndjson", await bundleOf(harness, "org/acme")),
      await put("answer.json", await score(harness, key, "session-with-a-name")),
      ...["--key", jwks],
    ]);
    const secrets = [key, PEPPER, ...Object.values(MASTER_KEYS), ...SIGNING_KEY_PEM.split("\n").slice(1, 2)];
    for (const secret of [...secrets, "operator-1", "session-with-a-name", "PRIVATE"]) {
      assert.ok(secret.length > 5 && !html.includes(secret), secret);
    }
    const pem = await put("private.pem", SIGNING_KEY_PEM);
    const { code, stderr } = await verifyProgram([
      `${directory}/acme.ndjson`,
      ...["--key", pem, "--report", `${directory}/refused.html`],
    ]);
    assert.equal(code, 2);
    assert.match(stderr, /This is a private key/);
    await assert.rejects(Deno.stat(`${directory}/refused.html`), Deno.errors.NotFound);
  }),
);

Deno.test(
  "a certificate never replaces a file; if it cannot be written, the verdict is printed all the same",
  withVisit(async ({ harness, put, directory, jwks }) => {
    const text = await bundleOf(harness, "org/acme");
    const file = await put("acme.ndjson", text);
    const bad = await put("bad.ndjson", text.replace('"jis":66.3', '"jis":99.9'));
    const taken = await put("taken.html", "mine");
    for (
      const [path, why] of [
        [taken, /--report \S+taken\.html already exists and was not changed/],
        [file, /already exists and was not changed/],
        ["-", /--report needs the name of a file: standard output is for the verdict/],
        ["", /--report needs the name of a file/],
      ] as const
    ) {
      const { code, stdout, stderr } = await verifyProgram([file, "--key", jwks, "--report", path]);
      assert.deepEqual([code, stdout], [2, ""], path);
      assert.match(stderr, why);
    }
    assert.equal(await Deno.readTextFile(taken), "mine");
    assert.equal(await Deno.readTextFile(file), text);
    const twice = await verifyProgram([
      file,
      ...["--report", `${directory}/a.html`, "--report", `${directory}/b.html`],
    ]);
    assert.equal(twice.code, 2);
    assert.match(twice.stderr, /--report may be given only once/);

    for (
      const [given, expected, verdict] of [[file, 2, "INTACT, UNANCHORED"], [bad, 1, "TAMPERED"]] as const
    ) {
      for (const json of [[], ["--json"]]) {
        const path = `${directory}/no/such/folder/page.html`;
        const { code, stdout, stderr } = await verifyProgram([
          given,
          "--key",
          jwks,
          "--report",
          path,
          ...json,
        ]);
        assert.equal(code, expected);
        assert.ok(
          stdout.startsWith(
            json.length === 0 ? `${verdict}\n` : `{"v":"jis.verify/1","verdict":"${verdict}"`,
          ),
        );
        assert.match(
          stderr,
          /^jiss: the certificate was not written: --report \S+page\.html cannot be written: .+\n$/,
        );
      }
    }
    assert.deepEqual(
      [...Deno.readDirSync(directory)].map(({ name }) => name).sort(),
      ["acme.ndjson", "bad.ndjson", "jwks.json", "taken.html"],
    );
  }),
);
