/** Shared by tests of probes: a programme, its stock, and the decisions of those who are shown one. */
import assert from "node:assert/strict";
import { DAY_MS } from "../src/domain/time.ts";
import { utf8 } from "../src/evidence/crypto.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import type { BundleReport } from "../src/evidence/report.ts";
import { BundleVerifier } from "../src/evidence/verifier.ts";
import { Upkeep } from "../src/operations/installation/upkeep.ts";
import type { Harness } from "./harness.ts";

/** A policy under which every case is due while an operator has too few probes, which is at most one in ten. */
export const POLICY = { enabled: true, rate: 0.1, highest_share: 0.1, minimum: 0, ticket_minutes: 60 };

export interface Programme {
  readonly harness: Harness;
  readonly key: string;
}

export async function setPolicy({ harness: { send }, key }: Programme, policy: Record<string, unknown> = {}) {
  const answer = await send("/v1/probes/policy", { key, method: "PUT", body: { ...POLICY, ...policy } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Seals probes of one stratum; every second one is a decoy with right advice. */
export async function sealStock(
  { harness: { send }, key }: Programme,
  count: number,
  fields: Record<string, unknown> = {},
): Promise<readonly { readonly probe_id: string; readonly ai_correct: boolean }[]> {
  const probes = Array.from({ length: count }, (_, index) => ({
    probe_id: `probe-${String(index).padStart(4, "0")}`,
    domain: "general",
    stakes: "standard",
    ai_correct: index % 2 === 1,
    reference: `library/${index}`,
    ...fields,
  }));
  for (let first = 0; first < count; first += 100) {
    const answer = await send("/v1/probes/batch", {
      key,
      body: { probes: probes.slice(first, first + 100) },
    });
    assert.equal(answer.status, 201, answer.text);
  }
  return probes;
}

export async function draw(
  { harness: { send }, key }: Programme,
  session: string,
  fields: Record<string, unknown> = {},
) {
  const body = {
    operator_id: "operator-1",
    session_id: session,
    domain: "general",
    stakes: "standard",
    ...fields,
  };
  const answer = await send("/v1/probes/draw", { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.probe;
}

/** Draws for one session after another until a probe is due. */
export async function drawDue(
  programme: Programme,
  { prefix = "case", ...fields }: Record<string, unknown> & { readonly prefix?: string } = {},
) {
  for (let number = 0; number < 500; number += 1) {
    const session = `${prefix}-${number}`;
    const probe = await draw(programme, session, fields);
    if (probe !== null) return { session, probe };
  }
  throw new Error("none of 500 sessions drew a probe");
}

/** Scores the decision of a probe. */
export async function decide(
  { harness: { send }, key }: Programme,
  { session_id, ticket }: { readonly session_id: string; readonly ticket: string },
  interaction: Record<string, unknown> = {},
  fields: Record<string, unknown> = {},
) {
  return await send("/v1/score", {
    key,
    body: {
      session_id,
      operator_id: "operator-1",
      domain: "general",
      interaction: { time_to_decision_ms: 9_000, decision: "rejected", probe_ticket: ticket, ...interaction },
      ...fields,
    },
  });
}

/** Moves to the next UTC day, and does what is due then. */
export async function nextDay({ harness: { clock, dependencies } }: Programme): Promise<void> {
  clock.advance(DAY_MS);
  await new Upkeep(dependencies).run(clock.now());
}

/** The reports of an auditor's verifier on the organization's chain, for each epoch. */
export async function auditReports(
  { harness: { send, verifierKey }, key }: Programme,
  query = "",
): Promise<readonly BundleReport[]> {
  const { publicKey } = verifierKey("jiss.test");
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: [{ publicKey, prefix: null, from: null, until: null }],
    known: [],
    expected: [],
    replay: true,
  });
  verifier.push(utf8((await send(`/v1/audit/chain/export${query}`, { key })).text));
  return verifier.end();
}
