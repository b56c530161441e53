/**
 * An epoch that retention has removed completely. A checkpoint of it can still be compared with today's
 * export, because the first entry of the next epoch is kept and names where it ended. A rewritten history
 * cannot pass this. Alterations of this bridge are found by `jiss verify`, by the service itself, and by the
 * verifier in Python.
 */
import assert from "node:assert/strict";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { beginningLine } from "../../src/evidence/bundle.ts";
import { hex, utf8 } from "../../src/evidence/crypto.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { jwksOf, save, score, verifyProgram, withDirectory } from "../auditing.ts";
import { alter, whileAltered } from "../altering.ts";
import { copyDatabase } from "../database.ts";
import { rowsOf } from "../earlier_schema.ts";
import { EPOCH, type Harness, openHarness } from "../harness.ts";
import { askIndependently, pythonIsMissing } from "../independent_verifier.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOT_COMPARED = "INTACT, NOT COMPARED";

/**
 * A service that keeps 30 days, in several runs of one deployment. Its database can be put back between them.
 */
class Deployment {
  readonly #directory: string;
  readonly #name: string;
  #run = 0;
  #at = EPOCH;
  #open: Harness | null = null;
  #key = "";

  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  get harness(): Harness {
    return this.#open!;
  }

  get #path(): string {
    return `${this.#directory}/${this.#name}.db`;
  }

  async start(): Promise<void> {
    const lockPath = `${this.#directory}/${this.#name}.lock.db`;
    const kept = { evidenceRetentionDays: 30, auditRetentionDays: 30 };
    const options = { path: this.#path, lockPath, run: this.#run, startsAt: this.#at, ...kept };
    this.#open = await openHarness(options);
    if (this.#run === 0) this.#key = await this.harness.organization("acme");
    this.#run += 1;
  }

  /** Ends the run, which the oracle then checks. */
  async stop(): Promise<void> {
    this.#at = this.harness.clock.now() + HOUR;
    await this.harness.close();
  }

  async score(...sessions: readonly string[]): Promise<void> {
    for (const session of sessions) await score(this.harness, this.#key, session);
  }

  /** Puts the database back to its present state, after a score that is lost with it. */
  async restore(lost: string, reason = "the disk failed"): Promise<void> {
    await this.stop();
    await copyDatabase(this.#path, `${this.#path}.backup`);
    await this.start();
    await this.score(lost);
    await this.stop();
    await removeJournals(this.#path);
    await copyDatabase(`${this.#path}.backup`, this.#path);
    await this.start();
    await acknowledgeRestore(this.harness.dependencies, { reason, now: this.harness.clock.now() });
  }

  /** Advances the clock by `days`, and prunes. */
  async age(days: number): Promise<void> {
    this.harness.clock.advance(days * DAY);
    await pruneChains(this.harness.dependencies, this.harness.clock.now());
  }

  ask(path: string, query = "") {
    return this.harness.send(`${path}${query}`, { key: this.#key });
  }

  async erase(operator: string): Promise<void> {
    const path = `/v1/operator/${operator}`;
    const { status, text } = await this.harness.send(path, { method: "DELETE", key: this.#key });
    assert.equal(status, 200, text);
  }

  async exported(query = ""): Promise<string> {
    const { status, text } = await this.ask("/v1/audit/chain/export", query);
    assert.equal(status, 200, text);
    return text;
  }

  /** The result of the service's own verification. */
  async verified() {
    const { status, body, text } = await this.ask("/v1/audit/chain/verify");
    assert.equal(status, 200, text);
    return body;
  }
}

async function removeJournals(path: string): Promise<void> {
  for (const end of ["-wal", "-shm"]) await Deno.remove(`${path}${end}`).catch(() => {});
}

async function withDeployment(
  test: (deployment: Deployment, directory: string) => Promise<void>,
): Promise<void> {
  await withDirectory(async (directory) => {
    const deployment = new Deployment(directory, "service");
    await deployment.start();
    await test(deployment, directory);
    await deployment.stop();
  });
}

/** Chains of a file, each with the size at which it begins. */
function basesOf(text: string): readonly string[] {
  return linesOf(text).flatMap(({ kind, chain, base }) =>
    kind === "jis.bundle/1" ? [`${chain} from ${base.size}`] : []
  );
}

// deno-lint-ignore no-explicit-any -- a line is whatever the service wrote
function linesOf(text: string): readonly any[] {
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

interface Judgement {
  readonly code: number;
  readonly verdict: string;
  readonly sentence: string;
  readonly codes: readonly string[];
}

async function judged(file: string, ...args: readonly string[]): Promise<Judgement> {
  const { code, report, stderr } = await verifyProgram([file, ...args, "--json"]);
  assert.notEqual(report, null, stderr);
  const codes = report.bundles.flatMap(({ findings }: { findings: readonly { readonly code: string }[] }) =>
    findings.map((finding) => finding.code)
  );
  return { code, verdict: report.verdict, sentence: report.sentence, codes };
}

/** The note of the newest checkpoint. */
async function checkpointOf(deployment: Deployment): Promise<string> {
  return (await deployment.ask("/v1/audit/checkpoint")).body.note;
}

/** Asserts that the verifier in Python gives the same verdict. */
async function assertAgreed(
  text: string,
  { keys, checkpoints, verdict }: {
    readonly keys: readonly string[];
    readonly checkpoints: readonly string[];
    readonly verdict: string;
  },
): Promise<void> {
  if (pythonIsMissing()) return;
  const [answer] = await askIndependently([{ files: [text], keys, checkpoints }]);
  assert.equal(answer!.verdict, verdict, JSON.stringify(answer));
}

// ---- one epoch --------------------------------------------------------------------------------------------------

Deno.test("a checkpoint of an epoch that was removed completely is linked to today's export: 0; a rewritten one is not", () =>
  withDeployment(async (deployment, directory) => {
    await deployment.score("a-1", "a-2");
    const middle = await checkpointOf(deployment);
    await deployment.score("a-3", "a-4");
    const jwksText = await jwksOf(deployment.harness);
    const jwks = await save(directory, "jwks.json", jwksText);
    const state = `${directory}/memory`;
    const visit = await save(directory, "visit.ndjson", await deployment.exported());
    assert.equal((await judged(visit, "--key", jwks, "--state", state)).code, 0);
    const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);

    await deployment.restore("lost");
    await deployment.score("b-1", "b-2");
    await deployment.age(20);
    await deployment.score("b-3");
    await deployment.age(15);
    await deployment.score("b-4");
    const text = await deployment.exported();
    assert.deepEqual(basesOf(text), ["org/acme from 5", "org/acme/e2 from 3"]);
    const today = await save(directory, "today.ndjson", text);
    const compared = await judged(today, "--state", state);
    assert.equal(compared.code, 0, JSON.stringify(compared));
    assert.match(
      compared.sentence,
      /of one history with another epoch of its chain, which agrees with what you kept/,
    );
    assert.equal((await judged(today, "--key", jwks)).code, 0, "by itself too");
    const { valid, findings } = await deployment.verified();
    assert.deepEqual([valid, findings.filter(({ fatal }: { fatal: boolean }) => fatal)], [true, []]);

    // A size within it still needs a link.
    const kept = await save(directory, "kept.txt", middle);
    const unlinked = await judged(today, "--key", jwks, "--checkpoint", kept);
    assert.deepEqual([unlinked.code, unlinked.verdict], [2, NOT_COMPARED]);
    assert.match(unlinked.sentence, /--link 3/);
    const linkedText = await deployment.exported("?link=3");
    const linked = await save(directory, "linked.ndjson", linkedText);
    assert.equal((await judged(linked, "--key", jwks, "--checkpoint", kept)).code, 0);
    const keys = [jwksText];
    await assertAgreed(text, { keys, checkpoints: [middle], verdict: NOT_COMPARED });
    await assertAgreed(linkedText, { keys, checkpoints: [middle], verdict: "INTACT, UNANCHORED" });

    // The same holds years later.
    for (let year = 0; year < 3; year += 1) {
      await deployment.age(40);
      await deployment.score(`later-${year}`);
    }
    await deployment.age(0);
    await Deno.writeTextFile(`${state}/jiss-memory.json`, memory);
    const late = await save(directory, "late.ndjson", await deployment.exported("?parts=structural"));
    assert.equal((await judged(late, "--state", state, "--no-replay")).code, 0);
    assert.equal((await deployment.verified()).valid, true);

    // The same key can sign another history, and prune it likewise.
    const rewritten = new Deployment(directory, "rewritten");
    await rewritten.start();
    await rewritten.score("a-1", "a-2", "forged-3", "forged-4");
    await rewritten.restore("lost");
    await rewritten.score("b-1", "b-2");
    await rewritten.age(20);
    await rewritten.score("b-3");
    await rewritten.age(15);
    const forgedText = await rewritten.exported("?link=3");
    const forged = await save(directory, "forged.ndjson", forgedText);
    assert.equal((await judged(forged, "--key", jwks)).code, 0, "by itself it is intact");
    await Deno.writeTextFile(`${state}/jiss-memory.json`, memory);
    const contradicted = await judged(forged, "--state", state);
    assert.deepEqual([contradicted.code, contradicted.verdict], [1, "DIVERGED"]);
    // Without the epoch that contradicts it is not compared; with a shorter one it is found.
    const [, second] = bundlesOf(forgedText);
    const hidden = await save(directory, "hidden.ndjson", second!);
    assert.deepEqual((await judged(hidden, "--state", state)).code, 2);
    const [first] = bundlesOf(text);
    const mixed = await save(directory, "mixed.ndjson", first! + second!);
    assert.equal((await judged(mixed, "--state", state)).code, 1);
    await rewritten.stop();
  }));

function bundlesOf(text: string): readonly string[] {
  return text.split(/^(?=\{[^\n]*"kind":"jis\.bundle\/)/m);
}

// ---- alterations --------------------------------------------------------------------------------------------------

/** A bundle with some lines changed, and the digest that its trailer then needs. */
// deno-lint-ignore no-explicit-any -- a line is whatever the service wrote
function changed(text: string, change: (line: any) => readonly unknown[] | undefined): string {
  return bundlesOf(text).map((bundle) => {
    // deno-lint-ignore no-explicit-any -- see above
    const lines: readonly any[] = linesOf(bundle).flatMap((line) => change(line) ?? [line]);
    const body = lines.slice(0, -1).map((line) => `${canonical(line)}\n`).join("");
    const bundle_sha256 = hex(nodeCrypto.sha256(utf8(body)));
    return `${body}${canonical({ ...lines.at(-1), bundle_sha256 })}\n`;
  }).join("");
}

const isBeginning = ({ kind }: { readonly kind?: string }) => kind === "jis.beginning/1";

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

Deno.test("both verifiers find every alteration of the bridge between two epochs", () =>
  withDeployment(async (deployment, directory) => {
    await deployment.score("a-1", "a-2", "a-3");
    const note = await checkpointOf(deployment);
    const kept = await save(directory, "kept.txt", note);
    await deployment.restore("lost");
    await deployment.score("b-1", "b-2", "b-3");
    await deployment.age(20);
    await deployment.score("c-1");
    // With the second cut the record of the first is gone, too.
    await deployment.age(15);
    await deployment.score("c-2");
    await deployment.age(40);
    await deployment.score("c-3");
    const jwksText = await jwksOf(deployment.harness);
    const jwks = await save(directory, "jwks.json", jwksText);
    const text = await deployment.exported("?link=2");
    const beginning = linesOf(text).find(isBeginning);
    const { detail } = { detail: beginning.data };
    const other = "0".repeat(64);
    const cases: Readonly<Record<string, readonly [string, code: number, finding: string]>> = {
      "as it is": [changed(text, () => undefined), 0, "PRUNED_PREFIX"],
      "another end of the epoch before": [
        changed(
          text,
          (line) => isBeginning(line) ? [{ ...line, data: { ...detail, restored_root: other } }] : undefined,
        ),
        1,
        "COMMITMENT_MISMATCH",
      ],
      "another first entry": [
        changed(
          text,
          (line) =>
            isBeginning(line)
              ? [{ ...line, entry: { ...line.entry, timestamp: "2026-11-20T00:00:00.000Z" } }]
              : undefined,
        ),
        1,
        "GENESIS_MISMATCH",
      ],
      "another path": [
        changed(
          text,
          (line) => isBeginning(line) ? [{ ...line, path: [other, ...line.path.slice(1)] }] : undefined,
        ),
        1,
        "GENESIS_MISMATCH",
      ],
      "a path that is too short": [
        changed(text, (line) => isBeginning(line) ? [{ ...line, path: line.path.slice(1) }] : undefined),
        1,
        "GENESIS_MISMATCH",
      ],
      "another chain's": [
        changed(
          text,
          (line) =>
            isBeginning(line) ? [{ ...line, entry: { ...line.entry, chain: "org/acme/e3" } }] : undefined,
        ),
        1,
        "WRONG_CHAIN",
      ],
      "an entry of another place": [
        changed(
          text,
          (line) => isBeginning(line) ? [{ ...line, entry: { ...line.entry, seq: 1 } }] : undefined,
        ),
        1,
        "MALFORMED_LINE",
      ],
      "one of more members": [
        changed(text, (line) => isBeginning(line) ? [{ ...line, more: true }] : undefined),
        1,
        "MALFORMED_LINE",
      ],
      "told twice": [
        changed(text, (line) => isBeginning(line) ? [line, line] : undefined),
        1,
        "MALFORMED_LINE",
      ],
      "told of the first epoch": [
        changed(text, (line) => line.kind === "jis.bundle/1" ? [line, beginning] : undefined),
        1,
        "MALFORMED_LINE",
      ],
      "another base of the epoch before": [
        changed(
          text,
          (line) =>
            line.chain === "org/acme" && line.base
              ? [{ ...line, base: { ...line.base, peaks: line.base.peaks.map(() => other) } }]
              : undefined,
        ),
        1,
        "PRUNED_PREFIX_UNPROVEN",
      ],
      "another base": [
        changed(
          text,
          (line) =>
            line.chain === "org/acme/e2" && line.base
              ? [{ ...line, base: { ...line.base, peaks: line.base.peaks.map(() => other) } }]
              : undefined,
        ),
        1,
        "PRUNED_PREFIX_UNPROVEN",
      ],
      "no beginning": [
        changed(text, (line) => isBeginning(line) ? [] : undefined),
        1,
        "PRUNED_PREFIX_UNPROVEN",
      ],
      "no epoch before": [bundlesOf(text)[1]!, 2, "KNOWN_EPOCH_UNLINKED"],
    };
    for (const [name, [forged, code, finding]] of Object.entries(cases)) {
      const file = await save(directory, "forged.ndjson", forged);
      const result = await judged(file, "--key", jwks, "--checkpoint", kept);
      assert.equal(result.code, code, `${name}: ${JSON.stringify(result)}`);
      assert.ok(result.codes.includes(finding), `${name}: ${JSON.stringify(result)}`);
    }
    if (pythonIsMissing()) return;
    const answers = await askIndependently(
      Object.values(cases).map(([forged]) => ({ files: [forged], keys: [jwksText], checkpoints: [note] })),
    );
    for (const [index, [name, [, code, finding]]] of Object.entries(cases).entries()) {
      const result = answers[index]!;
      assert.equal(result.exit_code, code, `${name}: ${JSON.stringify(result)}`);
      const codes = result.bundles.flatMap(({ findings }) => findings.map((one) => one.code));
      assert.ok(codes.includes(finding), `${name}: ${JSON.stringify(result)}`);
    }
    // `beginningLine` writes the same line as the service.
    const { entry, salt, data, path } = beginning;
    assert.ok(text.includes(`\n${beginningLine({ entry, salt, data, path })}\n`));
  }));

Deno.test("the service finds alterations of the kept first entry, and says which sizes it cannot link any more", () =>
  withDeployment(async (deployment) => {
    await deployment.score(...Array.from({ length: 11 }, (_, index) => `a-${index}`));
    await deployment.restore("lost");
    await deployment.score("b-1");
    await deployment.age(40);
    await deployment.score("b-2");
    await deployment.age(40);
    const { harness: { database } } = deployment;
    const at = "chain = 'org/acme/e2' AND seq = 0";
    const [part] = await rowsOf(database, `SELECT data FROM audit_part WHERE ${at}`);
    assert.match(String(part!.data), /"reason":"the disk failed"/);
    assert.equal((await deployment.verified()).valid, true);
    const alterations: readonly (readonly [change: string, code: string])[] = [
      [
        `UPDATE audit_part SET data = replace(data, 'the disk', 'my disk') WHERE ${at}`,
        "COMMITMENT_MISMATCH",
      ],
      [`UPDATE audit_part SET salt = NULL, data = NULL WHERE ${at}`, "TRUNCATED"],
      [`DELETE FROM audit_part WHERE ${at}`, "TRUNCATED"],
      [
        `UPDATE audit_entry SET body = replace(body, '"actor":"system"', '"actor":"api"') WHERE ${at}`,
        "GENESIS_MISMATCH",
      ],
      [`UPDATE audit_entry SET event_type = 'SCORE_COMPUTED' WHERE ${at}`, "COLUMN_MISMATCH"],
      [`UPDATE audit_entry SET ts = '2020-01-01T00:00:00.000Z' WHERE ${at}`, "COLUMN_MISMATCH"],
      [`UPDATE audit_entry SET entry_hash = zeroblob(32) WHERE ${at}`, "COLUMN_MISMATCH"],
    ];
    for (const [change, code] of alterations) {
      const tables = [change.includes("audit_part") ? "audit_part" : "audit_entry"];
      const result = await whileAltered(database, { tables, changes: [change] }, () => deployment.verified());
      assert.equal(result.valid, false, change);
      const codes = result.findings.map((finding: { readonly code: string }) => finding.code);
      assert.ok(codes.includes(code), `${change}: ${JSON.stringify(result.findings)}`);
      assert.equal((await deployment.verified()).valid, true, `${change}, put back`);
    }

    // A database that was pruned by an earlier release has lost the entry.
    const tooLong = async () => (await deployment.ask("/v1/audit/chain/export", "?link=12")).status;
    assert.equal(await tooLong(), 200);
    await alter(database, `DELETE FROM audit_part WHERE ${at}`, `DELETE FROM audit_entry WHERE ${at}`);
    assert.deepEqual(basesOf(await deployment.exported()), ["org/acme/e2 from 5"]);
    const { status, body } = await deployment.ask("/v1/audit/chain/export", "?link=12");
    assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"]);
    assert.match(body.error.details[0].message, /at most \d, the size of the longest chain/);
    assert.equal((await deployment.verified()).valid, true);
  }));

// ---- three epochs -----------------------------------------------------------------------------------------------------

Deno.test("two removed epochs of three are each linked to the rest, and an erasure stays an erasure", () =>
  withDeployment(async (deployment, directory) => {
    await deployment.score("a-1", "a-2");
    const first = await checkpointOf(deployment);
    await deployment.restore("lost-1");
    await deployment.score("b-1", "b-2", "b-3");
    const second = await checkpointOf(deployment);
    await deployment.restore("lost-2", "the disk failed again");
    await deployment.score("c-1");
    await deployment.age(40);
    await deployment.score("c-2");
    await deployment.age(40);
    await deployment.score("c-3");
    const text = await deployment.exported();
    assert.deepEqual(basesOf(text).map((base) => base.split(" ")[0]), [
      "org/acme",
      "org/acme/e2",
      "org/acme/e3",
    ]);
    assert.equal(linesOf(text).filter(isBeginning).length, 2);
    assert.equal((await deployment.verified()).valid, true);
    const jwksText = await jwksOf(deployment.harness);
    const jwks = await save(directory, "jwks.json", jwksText);
    const file = await save(directory, "file.ndjson", text);
    for (const note of [first, second]) {
      const kept = await save(directory, "kept.txt", note);
      assert.equal((await judged(file, "--key", jwks, "--checkpoint", kept)).code, 0);
      await assertAgreed(text, { keys: [jwksText], checkpoints: [note], verdict: "INTACT, UNANCHORED" });
      // The middle one connects the first with the last.
      const parts = bundlesOf(text);
      const gap = await save(directory, "gap.ndjson", parts[0]! + parts[2]!);
      assert.notEqual((await judged(gap, "--key", jwks, "--checkpoint", kept)).code, 0);
    }
    // Without parts nothing shows a restore.
    assert.deepEqual(basesOf(await deployment.exported("?parts=none")).length, 1);
    const none = await save(directory, "none.ndjson", await deployment.exported("?parts=none"));
    assert.equal((await judged(none, "--key", jwks, "--no-replay")).code, 0);

    // The kept entries belong to no operator: an erasure leaves them, and erases the operator's parts.
    await deployment.erase("operator-1");
    const after = await deployment.exported();
    assert.deepEqual(linesOf(after).filter(isBeginning), linesOf(text).filter(isBeginning));
    assert.ok(linesOf(after).some(({ kind, erased }) => kind === "jis.part/1" && erased === true));
    const afterwards = await save(directory, "after.ndjson", after);
    for (const note of [first, second]) {
      const kept = await save(directory, "kept.txt", note);
      assert.equal((await judged(afterwards, "--key", jwks, "--checkpoint", kept)).code, 0);
    }
    await assertAgreed(after, {
      keys: [jwksText],
      checkpoints: [first, second],
      verdict: "INTACT, UNANCHORED",
    });
  }));
