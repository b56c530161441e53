/** Files that were damaged by copying are named as such, and findings of one kind are grouped. */
import assert from "node:assert/strict";
import { utf8 } from "../../src/evidence/crypto.ts";
import { FilesVerifier } from "../../src/evidence/files.ts";
import { groupFindings } from "../../src/evidence/finding_groups.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { sentenceOfVerdict } from "../../src/evidence/report.ts";
import { chooseReports, SHOWN_BUNDLES } from "../../src/evidence/shown_reports.ts";
import { buildWorld } from "../bundle_builder.ts";
import { verify } from "../verification.ts";

function someBundle(): string {
  const chain = buildWorld().chain("org/acme");
  for (let index = 0; index < 6; index += 1) chain.score("operator-1");
  return chain.bundle({ every: 3 });
}

const LINE_ENDS =
  /^Each line of the file ends as Windows ends lines \(CR LF\): .* Copy it again byte for byte/;
const SOME_LINE_ENDS =
  /^Some lines of the file end as Windows ends lines \(CR LF\), .* Copy it again byte for byte/;
const BYTE_ORDER_MARK = /^The file begins with a byte order mark, .* Copy it again byte for byte/;
const WITHIN_A_LINE =
  /^The file is cut off: it ends within a line, or without the line feed of its last one\. What it holds up to there follows\./;
const NO_LAST_LINE =
  /^The file is cut off: its last line, which closes it, is missing\. What it holds up to there follows\./;

function sentenceOn(text: string): string {
  const [report] = verify(text);
  assert.equal(report!.verdict, "TAMPERED");
  assert.equal(report!.exitCode, 1);
  return sentenceOfVerdict(report!);
}

Deno.test("a copy with line ends of Windows is named as such, whether every line has them or some", () => {
  const text = someBundle();
  assert.match(sentenceOn(text.replaceAll("\n", "\r\n")), LINE_ENDS);
  assert.match(sentenceOn(text.replace("\n", "\r\n")), SOME_LINE_ENDS);
  assert.match(sentenceOn(text.replace(/\n$/, "\r\n")), SOME_LINE_ENDS);
  let line = 0;
  assert.match(
    sentenceOn(text.replaceAll("\n", () => (line += 1) % 2 === 0 ? "\r\n" : "\n")),
    SOME_LINE_ENDS,
  );
  assert.match(sentenceOn(text.replaceAll("\n", "\r\n").slice(0, -30)), LINE_ENDS);
});

Deno.test("a damaged copy does not contradict a kept checkpoint: it proves nothing", () => {
  const text = someBundle();
  const chain = buildWorld().chain("org/acme");
  for (let index = 0; index < 6; index += 1) chain.score("operator-1");
  let line = 0;
  const copies = {
    all: text.replaceAll("\n", "\r\n"),
    some: text.replaceAll("\n", () => (line += 1) % 2 === 0 ? "\r\n" : "\n"),
  };
  for (const size of [1, 3, 7]) {
    const known = [chain.checkpoint(size)];
    assert.equal(verify(text, { known })[0]!.verdict, "INTACT");
    for (const [name, copy] of Object.entries(copies)) {
      const [report] = verify(copy, { known });
      assert.deepEqual([report!.verdict, report!.exitCode, report!.provesFork], ["TAMPERED", 1, false], name);
      assert.match(sentenceOfVerdict(report!), name === "all" ? LINE_ENDS : SOME_LINE_ENDS);
    }
  }
  // Nothing else is ignored: a file that differs without those line ends does contradict.
  const other = buildWorld({ seed: "world", step: 999 }).chain("org/acme");
  for (let index = 0; index < 6; index += 1) other.score("operator-1");
  assert.equal(verify(text, { known: [other.checkpoint(3)] })[0]!.verdict, "DIVERGED");
});

Deno.test("a file with a byte order mark is named as such, and neither it nor the file before it counts as changed", () => {
  const text = someBundle();
  const marked = `\ufeff${text}`;
  for (const copy of [marked, marked.replaceAll("\n", "\r\n")]) {
    const [report, ...others] = verify(copy);
    assert.deepEqual(others, []);
    assert.deepEqual([report!.verdict, report!.exitCode], ["NOT VERIFIABLE", 2]);
    assert.match(sentenceOfVerdict(report!), BYTE_ORDER_MARK);
  }
  const three = verify(text + marked + text);
  assert.deepEqual(three.map(({ verdict }) => verdict), [
    "INTACT, UNANCHORED",
    "NOT VERIFIABLE",
    "INTACT, UNANCHORED",
  ]);
  assert.equal(verify(text.slice(0, -40) + "\n" + marked)[0]!.damage, "cut off");
  // Within a bundle the mark makes its line invalid.
  const [within] = verify(text.replace(/\n(?=\{"actor")/, "\n\ufeff"));
  assert.deepEqual([within!.verdict, within!.damage], ["TAMPERED", null]);
});

Deno.test("a file that was cut off anywhere after its header is named as such, whatever line it ends in", () => {
  const text = someBundle();
  const lines = text.split("\n");
  const header = lines[0]!.length + 1;
  for (let length = header + 1; length < text.length - 1; length += 97) {
    const cut = text.slice(0, length);
    assert.match(sentenceOn(cut), cut.endsWith("\n") ? NO_LAST_LINE : WITHIN_A_LINE, `${length} characters`);
  }
  assert.match(sentenceOn(`${lines.slice(0, -2).join("\n")}\n`), NO_LAST_LINE);
  assert.match(sentenceOn(text.slice(0, -1)), WITHIN_A_LINE);
});

Deno.test("empty lines after the end are named as such, unless something else is wrong", () => {
  const text = someBundle();
  for (const more of ["\n", "\n\n\n"]) {
    assert.match(
      sentenceOn(text + more),
      /^The file goes on after its end with an empty line, .* Copy it again/,
    );
  }
  assert.match(sentenceOn(`${text}{}\n`), /^The file was changed after its entries were written/);
  const changed = text.replace("SCORE_COMPUTED", "SCORE_COMPUTEX");
  assert.match(sentenceOn(`${changed}\n`), /^The file was changed after its entries were written/);
});

Deno.test("other faults of a cut-off file are reported, too", () => {
  const text = someBundle();
  const changed = text.replace("SCORE_COMPUTED", "SCORE_COMPUTEX").slice(0, -20);
  assert.match(sentenceOn(changed), /^The file is cut off: .* Something else is wrong with it besides/);
});

Deno.test("each of several files that is cut off within a line is named, and the next one is whole", () => {
  const text = someBundle();
  const verifier = new FilesVerifier(nodeCrypto, {
    pins: [buildWorld().pin()],
    known: [],
    expected: [],
    replay: true,
  });
  for (
    const [name, content] of [["a", text.slice(0, -9)], ["b", text], ["c", `${text}x`], ["d", text]] as const
  ) {
    verifier.open(name);
    verifier.push(utf8(content));
  }
  const reports = verifier.end();
  assert.deepEqual(reports.map(({ verdict, damage }) => [verdict, damage]), [
    ["TAMPERED", "cut within a line"],
    ["INTACT, UNANCHORED", null],
    ["TAMPERED", null],
    ["INTACT, UNANCHORED", null],
  ]);
  const lines = text.split("\n").length - 1;
  assert.deepEqual(
    reports[2]!.findings.map(({ code, file, line }) => [code, file, line]),
    [["MALFORMED_LINE", "c", lines]],
  );
});

Deno.test("findings of one kind are one group with their count and places, including those that are not kept", () => {
  const lines = someBundle().split("\n");
  const spaced = lines.map((line, index) => index > 0 && line !== "" ? ` ${line}` : line).join("\n");
  const [report] = verify(spaced);
  const groups = groupFindings(report!);
  const codes = groups.map(({ code }) => code);
  assert.equal(new Set(codes).size, codes.length);
  const counted = groups.find(({ code }) => code === "NON_CANONICAL_LINE")!;
  assert.match(counted.others!, new RegExp(`^and ${lines.length - 3} more of this kind`));

  const many = verify(`${lines[0]}\n${"x\n".repeat(500)}`)[0]!;
  const [malformed] = groupFindings(many);
  assert.equal(malformed!.code, "MALFORMED_LINE");
  assert.equal(malformed!.others, "and 499 more of this kind: lines 3, 4, 5, 6, 7, 8, 9, 10 and others");
});

Deno.test("the worst of very many bundles are reported one by one, and the others counted", () => {
  const intact = { verdict: "INTACT", exitCode: 0 } as const;
  const tampered = { verdict: "TAMPERED", exitCode: 1 } as const;
  const few = Array(SHOWN_BUNDLES).fill(intact);
  assert.deepEqual(chooseReports(few), { shown: few, others: null });
  const { shown, others } = chooseReports([...few, ...few, tampered]);
  assert.equal(shown.length, SHOWN_BUNDLES);
  assert.equal(shown.at(-1), tampered);
  assert.equal(others, `And ${SHOWN_BUNDLES + 1} more: ${SHOWN_BUNDLES + 1} INTACT.`);
});
