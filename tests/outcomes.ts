/** Outcomes of `jiss verify` as its parts would report them, for tests of what is said of them. */
import type { Outcome, VerifiedBundle, VerifiedDocument } from "../src/cli/verify_outcome.ts";
import type { FileFinding } from "../src/evidence/files.ts";
import type { KnownCheckpoint } from "../src/evidence/kept.ts";

export const ORIGIN = "jiss.test/01J/org/acme";

export function checkpointOf(size: number, byte: number): KnownCheckpoint {
  return {
    origin: ORIGIN,
    size,
    root: new Uint8Array(32).fill(byte),
    note: `${ORIGIN}\n${size}\nroot ${byte}\n\n— ${ORIGIN} signature\n`,
  };
}

export function bundle(fields: Partial<VerifiedBundle> = {}): VerifiedBundle {
  return {
    origin: ORIGIN,
    chain: "org/acme",
    base: 0,
    size: 7,
    entries: 7,
    checkpoint: checkpointOf(7, 0xab),
    verdict: "INTACT",
    exitCode: 0,
    firstBadSeq: null,
    firstBadRange: null,
    findings: [],
    dropped: 0,
    counts: {},
    damage: null,
    withheld: 0,
    erased: 2,
    replayed: 5,
    keyFingerprint: "SHA256:key",
    isKeyTrusted: true,
    selfTrusted: false,
    keptCount: 0,
    agreed: [],
    provesFork: true,
    comparedScores: [],
    refuted: [],
    restore: null,
    untrustedKept: [],
    uncompared: [],
    isOfKeptFamily: false,
    isOfKeptSystem: false,
    lost: null,
    census: null,
    contradicted: [],
    ...fields,
  };
}

export function finding(fields: Partial<FileFinding>): FileFinding {
  return {
    code: "LINK_BROKEN",
    fatal: true,
    seq: 3,
    range: null,
    line: null,
    detail: null,
    file: null,
    ...fields,
  };
}

export function document(fields: Partial<VerifiedDocument> = {}): VerifiedDocument {
  return {
    file: "answer.json",
    report: {
      kind: "result",
      fault: null,
      origin: ORIGIN,
      checkpoint: checkpointOf(5, 0xcd),
      entries: [{ seq: 4, entryHash: "ef".repeat(32), sessionId: "s-1", statedScore: null }],
    },
    unreadable: null,
    page: null,
    hasPins: true,
    place: "alone",
    isForked: false,
    isCompared: true,
    isFormer: false,
    uncompared: null,
    keyFingerprint: "SHA256:key",
    ...fields,
  };
}

export function outcome(fields: Partial<Outcome>): Outcome {
  return {
    bundles: [],
    documents: [],
    replay: true,
    unusedCheckpoints: 0,
    rememberedIn: null,
    given: null,
    ...fields,
  };
}
