/**
 * The service answers nothing as evidence that was altered in the database. It verifies every proof made of
 * stored rows at that moment, by keys that the process holds, and gives the answer that was asked for.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { base64, fromHex, hex, type Signer } from "../../src/evidence/crypto.ts";
import { entryHash, partCommitment, type PartName } from "../../src/evidence/hashes.ts";
import { appendLeaf, EMPTY_FRONTIER, rootOf, type TreeNode } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { formatCheckpoint, parseCheckpoint, parseNote, signNote } from "../../src/evidence/note.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { alter, select, whileAltered } from "../altering.ts";
import { buildWorld } from "../bundle_builder.ts";
import { recordingDeliverer, register } from "../delivering.ts";
import { type Answer, type Harness, openHarness, scoreRequest } from "../harness.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const REPORT = "/v1/compliance/report?period_start=2026-11-01&period_end=2026-12-01";
const STRANGER = buildWorld({ seed: "stranger" }).signers[0] as Signer;

const score = (session: string) => scoreRequest({ session_id: session }, { outcome_correct: null });
const item = (session: string) => ({
  session_id: session,
  time_to_decision_ms: 5000,
  decision: "accepted",
});
const batch = (...sessions: string[]) => ({
  operator_id: "operator-1",
  domain: "general",
  interactions: sessions.map(item),
});
const decision = (id: string) => ({
  decision_id: id,
  operator_id: "operator-1",
  domain: "general",
  time_to_decision_ms: 1400,
  decision: "accepted",
  stakes: "high",
});

interface Site {
  readonly harness: Harness;
  readonly key: string;
  /** Requests whose answers hold evidence of `org/acme`, by name. */
  readonly ask: Readonly<Record<string, () => Promise<Answer>>>;
}

/** Two records of each kind, so that one can be passed off as the other. */
async function openSite(): Promise<Site> {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  const post = (path: string, body: unknown) => () => harness.send(path, { key, body });
  const get = (path: string) => () => harness.send(path, { key });
  const records = {
    "score s-1": post("/v1/score", score("s-1")),
    "score s-2": post("/v1/score", score("s-2")),
    "frozen f-1": post("/v1/score?mode_override=incident_frozen", score("f-1")),
    "commit s-1": post("/v1/score/s-1/commit", {}),
    "commit s-2": post("/v1/score/s-2/commit", {}),
    "batch 1": post("/v1/score/batch", batch("b-1", "b-2")),
    "batch 2": post("/v1/score/batch", batch("b-3", "b-4")),
    "decision d-1": post("/v1/decision/score", decision("d-1")),
    "decision d-2": post("/v1/decision/score", decision("d-2")),
    report: get(REPORT),
  };
  for (const [name, run] of Object.entries(records)) {
    const { status, text } = await run();
    assert.equal(status, 200, `${name}: ${text}`);
    harness.clock.advance(1000);
  }
  await harness.organization("other");
  await anchorChains(harness.dependencies, harness.clock.now());
  const { body: { report } } = await records.report();
  return {
    harness,
    key,
    ask: {
      ...records,
      "report by its id": get(`/v1/compliance/report/${report.report_id}`),
      "replay s-1": get("/v1/decision/replay/s-1"),
      "replay d-1": get("/v1/decision/replay/d-1"),
      "proof of an entry": get("/v1/audit/chain/proof/1"),
    },
  };
}

function assertAltered({ status, body, text }: Answer, what: string): void {
  assert.deepEqual(
    [status, body?.error?.code],
    [503, "SERVICE_UNAVAILABLE"],
    `${what}: ${text.slice(0, 300)}`,
  );
  assert.match(body.error.message, /^The database was altered: /, what);
}

const EVIDENCE_TABLES = [
  "audit_chain",
  "audit_entry",
  "audit_part",
  "audit_node",
  "audit_checkpoint",
  "signing_key",
] as const;

/**
 * Asserts that requests are answered, refused while the rows are altered, and answered as before once they
 * are restored.
 */
async function refusesWhileAltered(
  { harness, ask }: Site,
  { tables = EVIDENCE_TABLES, changes, names, besides }: {
    readonly tables?: readonly string[];
    readonly changes: readonly string[];
    /** Names of the requests. */
    readonly names: readonly string[];
    readonly besides?: () => Promise<void>;
  },
): Promise<void> {
  const before = new Map<string, string>();
  for (const name of names) before.set(name, evidenceIn((await ask[name]!()).body));
  await whileAltered(harness.database, { tables, changes }, async () => {
    for (const name of names) assertAltered(await ask[name]!(), name);
    await besides?.();
  });
  for (const name of names) {
    const { status, body, text } = await ask[name]!();
    assert.deepEqual([status, evidenceIn(body)], [200, before.get(name)], `${name}: ${text}`);
  }
}

const evidenceIn = (body: Json) =>
  canonicalJson({ evidence: body.evidence ?? null, proof: body.proof ?? null });

function blob(bytes: Uint8Array): string {
  return `x'${hex(bytes)}'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Statements by which somebody without a key rewrites a chain so that every hash fits: an entry's part, its
 * commitment, every later link, the tree, and the root in each checkpoint. The signatures stay as they were,
 * or are the stranger's own.
 */
async function rewriting(
  { database }: Harness,
  { chain, seq, part, signer }: {
    readonly chain: string;
    readonly seq: number;
    readonly part: { readonly name: PartName; change(data: Json): void };
    readonly signer?: Signer;
  },
): Promise<readonly string[]> {
  const entries = await select(
    database,
    `SELECT seq, body, entry_hash FROM audit_entry WHERE chain = '${chain}' ORDER BY seq`,
  );
  const [held] = await select(
    database,
    `SELECT salt, data FROM audit_part WHERE chain = '${chain}' AND seq = ${seq} AND name = '${part.name}'`,
  );
  const data = JSON.parse(String(held!.data));
  part.change(data);
  const text = canonicalJson(data);
  const changes = [
    `UPDATE audit_part SET data = ${quoted(text)}
      WHERE chain = '${chain}' AND seq = ${seq} AND name = '${part.name}'`,
  ];
  let frontier = EMPTY_FRONTIER;
  let previous: Uint8Array | null = null;
  const roots = new Map<number, Uint8Array>();
  const nodes: TreeNode[] = [];
  for (const row of entries) {
    const entry = JSON.parse(String(row.body));
    if (previous !== null) entry.prev = hex(previous);
    if (entry.seq === seq) {
      const commitment = partCommitment(nodeCrypto, {
        name: part.name,
        salt: new Uint8Array(held!.salt as Uint8Array),
        text,
      });
      entry.commit[part.name] = hex(commitment);
    }
    const body = canonicalJson(entry);
    const hash = entryHash(nodeCrypto, body);
    changes.push(
      `UPDATE audit_entry SET body = ${quoted(body)}, entry_hash = ${blob(hash)}, prev_hash = ${
        blob(fromHex(entry.prev))
      } WHERE chain = '${chain}' AND seq = ${entry.seq}`,
    );
    const appended = appendLeaf(nodeCrypto, frontier, hash);
    frontier = appended.frontier;
    nodes.push(...appended.nodes);
    roots.set(frontier.size, rootOf(nodeCrypto, frontier.peaks));
    previous = hash;
  }
  for (const { index, hash } of nodes) {
    changes.push(`UPDATE audit_node SET hash = ${blob(hash)} WHERE chain = '${chain}' AND idx = ${index}`);
  }
  const notes = await select(database, `SELECT size, note FROM audit_checkpoint WHERE chain = '${chain}'`);
  for (const { size, note } of notes) {
    const { origin, root } = parseCheckpoint(parseNote(String(note)).text);
    const forged = roots.get(Number(size))!;
    const anew = signer === undefined
      ? String(note).replace(base64(root), base64(forged))
      : signNote(nodeCrypto, {
        text: formatCheckpoint({ origin, size: Number(size), root: forged }),
        name: origin,
      }, [signer]);
    changes.push(
      `UPDATE audit_checkpoint SET note = ${quoted(anew)} WHERE chain = '${chain}' AND size = ${size}`,
    );
  }
  const peaks = frontier.peaks.map(hex).join("");
  changes.push(
    `UPDATE audit_chain SET head = ${blob(previous!)}, peaks = x'${peaks}' WHERE chain = '${chain}'`,
  );
  return changes;
}

const seqOf = async ({ database }: Harness, session: string) => {
  const [row] = await select(
    database,
    `SELECT position FROM interaction WHERE org_id = 'acme' AND session_id = '${session}'`,
  );
  return Number(row!.position);
};

const flatter = { name: "result", change: (data: Json) => data.jis = 99 } as const;

// ---- proofs -----------------------------------------------------------------------------------------------

Deno.test("no call returns a proof from an altered tree", async () => {
  const site = await openSite();
  await refusesWhileAltered(site, {
    changes: ["UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'"],
    names: Object.keys(site.ask),
  });
  await refusesWhileAltered(site, {
    changes: ["DELETE FROM audit_node WHERE chain = 'org/acme'"],
    names: Object.keys(site.ask),
  });
  await site.harness.close();
});

Deno.test("a history that somebody without a key wrote anew, with every hash, is not answered", async () => {
  const site = await openSite();
  const place = { chain: "org/acme", seq: await seqOf(site.harness, "s-1"), part: flatter };
  const names = Object.keys(site.ask);
  const checkpoint = async () => {
    const answer = await site.harness.send("/v1/audit/checkpoint", { key: site.key });
    assertAltered(answer, "the checkpoint");
  };
  await refusesWhileAltered(site, {
    changes: await rewriting(site.harness, place),
    names,
    besides: checkpoint,
  });
  await refusesWhileAltered(site, {
    changes: [
      ...await rewriting(site.harness, { ...place, signer: STRANGER }),
      `UPDATE signing_key SET public_key = ${blob(STRANGER.publicKey)}`,
    ],
    names,
    besides: checkpoint,
  });
  await refusesWhileAltered(site, {
    changes: [
      ...await rewriting(site.harness, { ...place, signer: STRANGER }),
      `INSERT INTO signing_key (ordinal, public_key, certificate, from_size, until_size)
        VALUES (2, ${blob(STRANGER.publicKey)}, NULL, 0, NULL)`,
    ],
    names,
    besides: checkpoint,
  });
  await site.harness.close();
});

Deno.test("nothing is appended to a chain whose end the service's own keys did not sign", async () => {
  const site = await openSite();
  const { harness, key } = site;
  const place = { chain: "org/acme", seq: await seqOf(harness, "s-1"), part: flatter };
  await alter(harness.database, ...await rewriting(harness, { ...place, signer: STRANGER }));
  const before = await harness.rowCounts();
  assertAltered(await harness.send("/v1/score", { key, body: score("s-9") }), "a score");
  assert.deepEqual(await harness.rowCounts(), before);
  await harness.abandon();
});

Deno.test("a checkpoint that the service did not sign is not answered, nor are keys without a valid certificate", async () => {
  const { harness, key } = await openSite();
  const tables = EVIDENCE_TABLES;
  const [{ note }] = await select(
    harness.database,
    "SELECT note FROM audit_checkpoint WHERE chain = 'org/other' ORDER BY size DESC LIMIT 1",
  ) as [{ note: string }];
  const own =
    "chain = 'org/acme' AND size = (SELECT max(size) FROM audit_checkpoint WHERE chain = 'org/acme')";
  for (
    const change of [
      `UPDATE audit_checkpoint SET note = ${quoted(note)} WHERE ${own}`,
      `UPDATE audit_checkpoint SET note = 'x' || note WHERE ${own}`,
      `UPDATE audit_checkpoint SET note = replace(note, char(10) || char(10), 'x' || char(10) || char(10)) WHERE ${own}`,
      `DELETE FROM audit_checkpoint WHERE chain = 'org/acme'`,
      `UPDATE audit_chain SET family = 'org/was' WHERE chain = 'org/acme';`,
    ]
  ) {
    await whileAltered(harness.database, { tables, changes: [change] }, async () => {
      assertAltered(await harness.send("/v1/audit/checkpoint", { key }), change);
    });
  }
  for (
    const change of [
      `UPDATE signing_key SET public_key = ${blob(STRANGER.publicKey)}`,
      `INSERT INTO signing_key (ordinal, public_key, certificate, from_size, until_size)
        VALUES (2, ${blob(STRANGER.publicKey)}, NULL, 3, NULL)`,
      "UPDATE signing_key SET from_size = 1",
      "UPDATE signing_key SET until_size = 1",
      "DELETE FROM signing_key",
    ]
  ) {
    await whileAltered(harness.database, { tables, changes: [change] }, async () => {
      assertAltered(await harness.send("/.well-known/jwks.json"), change);
    });
  }
  assert.equal((await harness.send("/.well-known/jwks.json")).status, 200);
  await harness.close();
});

Deno.test("after rotations jwks.json lists the keys to which certificates lead from the key that is held", async () => {
  const { harness, key, ask } = await openSite();
  const next = buildWorld({ seed: "rotation" }).newSigner(1);
  const before = evidenceIn((await ask["score s-1"]!()).body);
  await harness.rotateSigningKey(next);
  await harness.send("/v1/score", { key, body: score("s-3") });
  // Made before the rotation: signed by the first key alone.
  assert.equal(evidenceIn((await ask["score s-1"]!()).body), before);
  const { body } = await harness.send("/.well-known/jwks.json");
  assert.deepEqual(body.keys.map((one: Json) => one["x-jiss-until"]), [null, null]);
  for (
    const change of [
      `UPDATE signing_key SET public_key = ${blob(STRANGER.publicKey)} WHERE ordinal = 1`,
      "UPDATE signing_key SET certificate = NULL WHERE ordinal = 2",
      "UPDATE signing_key SET from_size = from_size + 1 WHERE ordinal = 2",
      "UPDATE signing_key SET until_size = 1 WHERE ordinal = 1",
    ]
  ) {
    await whileAltered(harness.database, { tables: EVIDENCE_TABLES, changes: [change] }, async () => {
      assertAltered(await harness.send("/.well-known/jwks.json"), change);
    });
  }
  assert.deepEqual((await harness.send("/.well-known/jwks.json")).body.keys, body.keys);
  await harness.close();
});

// ---- another record's evidence ----------------------------------------------------------------------------

/** Statements that exchange the positions of two records. */
const swapped = (table: string, id: string, first: string, second: string) => {
  const position = (name: string) => `(SELECT position FROM ${table} WHERE ${id} = '${name}')`;
  return [
    `CREATE TABLE places AS SELECT ${position(first)} AS first, ${position(second)} AS second`,
    `UPDATE ${table} SET position = (SELECT second FROM places) WHERE ${id} = '${first}'`,
    `UPDATE ${table} SET position = (SELECT first FROM places) WHERE ${id} = '${second}'`,
    "DROP TABLE places",
  ];
};

Deno.test("no record is answered with the evidence of another one, though both are the service's own", async () => {
  const site = await openSite();
  const { harness, ask } = site;
  const at = async (table: string, id: string, name: string) => {
    const [row] = await select(harness.database, `SELECT position FROM ${table} WHERE ${id} = '${name}'`);
    return Number(row!.position);
  };
  const scored = await seqOf(harness, "s-1");
  const committed = await at("score_commit", "session_id", "s-1");
  await refusesWhileAltered(site, {
    tables: ["interaction"],
    changes: swapped("interaction", "session_id", "s-1", "s-2"),
    names: ["score s-1", "score s-2", "replay s-1"],
  });
  await refusesWhileAltered(site, {
    tables: ["interaction"],
    changes: [`UPDATE interaction SET position = ${committed} WHERE session_id = 's-1'`],
    names: ["score s-1", "replay s-1"],
  });
  await refusesWhileAltered(site, {
    tables: ["score_commit"],
    changes: swapped("score_commit", "session_id", "s-1", "s-2"),
    names: ["commit s-1", "commit s-2"],
  });
  await refusesWhileAltered(site, {
    tables: ["score_commit"],
    changes: [`UPDATE score_commit SET position = ${scored} WHERE session_id = 's-1'`],
    names: ["commit s-1"],
  });
  await refusesWhileAltered(site, {
    tables: ["skipped_interaction"],
    changes: [`UPDATE skipped_interaction SET position = ${scored} WHERE session_id = 'f-1'`],
    names: ["frozen f-1"],
  });
  await refusesWhileAltered(site, {
    tables: ["decision"],
    changes: swapped("decision", "decision_id", "d-1", "d-2"),
    names: ["decision d-1", "decision d-2", "replay d-1"],
  });
  await refusesWhileAltered(site, {
    tables: ["score_batch"],
    changes: [
      "CREATE TABLE places AS SELECT sum(first_position) AS both FROM score_batch",
      "UPDATE score_batch SET first_position = (SELECT both FROM places) - first_position",
      "DROP TABLE places",
    ],
    names: ["batch 1", "batch 2"],
  });
  await refusesWhileAltered(site, {
    tables: ["score_batch"],
    changes: ["UPDATE score_batch SET count = 1"],
    names: ["batch 1", "batch 2"],
  });
  assert.equal((await ask["report by its id"]!()).status, 200);
  await refusesWhileAltered(site, {
    tables: ["compliance_report"],
    changes: [`UPDATE compliance_report SET position = ${scored}`],
    names: ["report", "report by its id"],
  });
  await harness.close();
});

Deno.test("a report is answered only under its own id and for its own content", async () => {
  const { harness, key, ask } = await openSite();
  const other = "/v1/compliance/report?period_start=2026-10-01&period_end=2026-12-01";
  const { body: first } = await ask.report!();
  const { body: second } = await harness.send(other, { key });
  const [a, b] = [first.report.report_id, second.report.report_id];
  assert.notEqual(a, b);
  const exchange = (column: string) => [
    `CREATE TABLE kept AS SELECT * FROM compliance_report`,
    `UPDATE compliance_report SET ${column} = hex(randomblob(32))`,
    `UPDATE compliance_report SET ${column} = (SELECT ${column} FROM kept WHERE kept.report <> compliance_report.report)`,
    `DROP TABLE kept`,
  ];
  await whileAltered(
    harness.database,
    { tables: ["compliance_report"], changes: exchange("report_id") },
    async () => {
      for (const id of [a, b]) {
        assertAltered(await harness.send(`/v1/compliance/report/${id}`, { key }), "another's id");
      }
    },
  );
  await whileAltered(
    harness.database,
    { tables: ["compliance_report"], changes: exchange("content_sha256") },
    async () => {
      for (const path of [REPORT, other]) {
        assertAltered(await harness.send(path, { key }), "another's content");
      }
    },
  );
  await harness.close();
});

Deno.test("a chain that is relabelled as another organization's gives that organization no evidence", async () => {
  const { harness, ask } = await openSite();
  const key = await harness.organization("third");
  assert.equal((await harness.send("/v1/score", { key, body: score("s-1") })).status, 200);
  await whileAltered(harness.database, {
    tables: ["audit_chain"],
    changes: [
      "UPDATE audit_chain SET family = 'aside' WHERE family = 'org/acme'",
      "UPDATE audit_chain SET family = 'org/acme' WHERE family = 'org/third'",
      "UPDATE audit_chain SET family = 'org/third' WHERE family = 'aside'",
    ],
  }, async () => {
    for (const name of ["replay s-1", "proof of an entry", "report by its id"]) {
      assertAltered(await ask[name]!(), name);
    }
  });
  await harness.close();
});

// ---- erased and removed records ---------------------------------------------------------------------------

Deno.test("410 for erased records needs the entry of their erasure in the chain; without it they are refused with 503", async () => {
  const { harness, key } = await openSite();
  assert.equal((await harness.send("/v1/operator/operator-1", { method: "DELETE", key })).status, 200);
  const asks = [
    () => harness.send("/v1/score", { key, body: score("s-1") }),
    () => harness.send("/v1/score/batch", { key, body: batch("b-1", "b-2") }),
    () => harness.send("/v1/score/s-1/commit", { key, body: {} }),
    () => harness.send("/v1/decision/score", { key, body: decision("d-1") }),
    () => harness.send("/v1/decision/replay/s-1", { key }),
  ];
  const all = async (status: number) => {
    for (const ask of asks) assert.equal((await ask()).status, status);
  };
  await all(410);
  const [{ hash }] = await select(
    harness.database,
    "SELECT hex(entry_hash) AS hash FROM audit_entry WHERE chain = 'org/acme' AND seq = 1",
  ) as [{ hash: string }];
  for (
    const change of [
      "UPDATE tombstone SET entry_hash = zeroblob(32)",
      "UPDATE tombstone SET seq = seq - 1",
      "UPDATE tombstone SET seq = 1000",
      `UPDATE tombstone SET seq = 1, entry_hash = x'${hash}'`,
      "UPDATE tombstone SET chain = 'org/other'",
      "UPDATE tombstone SET reason = 'pruned'",
    ]
  ) {
    await whileAltered(harness.database, { tables: ["tombstone"], changes: [change] }, async () => {
      for (const ask of asks) assertAltered(await ask(), change);
    });
  }
  await all(410);
  await harness.close();
});

Deno.test("410 for pruned records needs an entry that cut the chain at least that far; without it they are refused with 503", async () => {
  const harness = await openHarness({ evidenceRetentionDays: 1 });
  const key = await harness.organization("acme");
  const send = (name: string) => harness.send("/v1/score", { key, body: score(name) });
  for (const name of ["s-1", "s-2"]) assert.equal((await send(name)).status, 200);
  harness.clock.advance(3 * 86_400_000);
  assert.equal((await send("s-3")).status, 200);
  await pruneChains(harness.dependencies, harness.clock.now());
  const replayed = (name: string) => harness.send(`/v1/decision/replay/${name}`, { key });
  assert.deepEqual([(await replayed("s-1")).status, (await replayed("s-3")).status], [410, 200]);
  const tables = ["audit_chain", "tombstone"];
  const wider = ["UPDATE audit_chain SET min_index = min_index + 1 WHERE chain = 'org/acme'"];
  await whileAltered(harness.database, { tables, changes: wider }, async () => {
    assertAltered(await replayed("s-3"), "a cut that went too far");
    assertAltered(await send("s-3"), "a cut that went too far");
  });
  const another = ["UPDATE tombstone SET seq = seq - 1"];
  await whileAltered(harness.database, { tables, changes: another }, async () => {
    assertAltered(await replayed("s-1"), "another entry");
    assertAltered(await send("s-1"), "another entry");
  });
  assert.deepEqual([(await replayed("s-1")).status, (await replayed("s-3")).status], [410, 200]);
  await harness.close();
});

// ---- webhooks, and the log ----------------------------------------------------------------------------------

Deno.test("a webhook sends no altered record, and no record of another event", async () => {
  const recording = recordingDeliverer();
  const harness = await openHarness({ deliverer: recording });
  const key = await harness.organization("acme");
  await register(harness, key, { events: ["score.committed"] });
  await harness.send("/v1/score", { key, body: score("s-1") });
  await harness.send("/v1/score/s-1/commit", { key, body: {} });
  for (
    const [tables, change] of [
      [["audit_node"], "UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'"],
      [["webhook_event"], "UPDATE webhook_event SET position = position - 1"],
    ] as const
  ) {
    await whileAltered(harness.database, { tables, changes: [change] }, async () => {
      await harness.deliver();
      assert.deepEqual(recording.sent, [], change);
    });
    harness.clock.advance(61_000);
  }
  const lines = harness.log.filter(({ msg }) =>
    msg === "a delivery could not be prepared and is tried again"
  );
  assert.equal(lines.length, 2);
  for (const { error } of lines) assert.match(String(error), /The database was altered: /);
  await harness.deliver();
  assert.equal(recording.sent.length, 1);
  assert.equal(JSON.parse(recording.sent[0]!.text).session_id, "s-1");
  await harness.close();
});

Deno.test("the log has a line for each answer that is refused because the database was altered", async () => {
  const { harness, ask } = await openSite();
  const changes = ["UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'"];
  await whileAltered(harness.database, { tables: ["audit_node"], changes }, async () => {
    assertAltered(await ask["score s-1"]!(), "a score");
  });
  const lines = harness.log.filter(({ msg }) => msg === "stored data was altered: the request was refused");
  assert.deepEqual(lines.map(({ level, audit, chain, route }) => [level, audit, chain, route]), [
    ["error", true, "org/acme", "POST /v1/score"],
  ]);
  await harness.close();
});
