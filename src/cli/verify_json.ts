/** The output of `jiss verify --json` for programs: one object, `jis.verify/1`. Pure. */
import { hex } from "../evidence/crypto.ts";
import { sentenceOf } from "../evidence/findings.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import type { NamedRoot } from "../evidence/uncompared.ts";
import {
  judge,
  judgeBundle,
  judgeDocument,
  type Judgment,
  type Outcome,
  type VerifiedBundle,
  type VerifiedDocument,
} from "./verify_outcome.ts";

export function jsonReport(outcome: Outcome) {
  return {
    v: "jis.verify/1",
    ...judgmentJson(judge(outcome)),
    bundles: outcome.bundles.map((bundle) => bundleJson(bundle, outcome.replay)),
    documents: outcome.documents.map(documentJson),
    unused_checkpoints: outcome.unusedCheckpoints,
  };
}

function judgmentJson({ verdict, exitCode, firstBadSeq, firstBadRange, code, sentence }: Judgment) {
  return {
    verdict,
    exit_code: exitCode,
    first_bad_seq: firstBadSeq,
    first_bad_range: firstBadRange,
    code,
    sentence,
  };
}

function bundleJson(bundle: VerifiedBundle, replay: boolean) {
  return {
    ...judgmentJson(judgeBundle(bundle)),
    origin: bundle.origin,
    chain: bundle.chain,
    base: bundle.base,
    size: bundle.size,
    entries: bundle.entries,
    checkpoint: checkpointJson(bundle.checkpoint),
    key_fingerprint: bundle.keyFingerprint,
    self_trusted: bundle.selfTrusted,
    replay,
    replayed: bundle.replayed,
    erased: bundle.erased,
    withheld: bundle.withheld,
    findings: bundle.findings.map((finding) => ({
      code: finding.code,
      fatal: finding.fatal,
      seq: finding.seq,
      range: finding.range,
      file: finding.file,
      line: finding.line,
      part: finding.part ?? null,
      detail: finding.detail,
      sentence: sentenceOf(finding),
    })),
    findings_dropped: bundle.dropped,
    untrusted_kept: bundle.untrustedKept.map(checkpointJson),
    contradicted: bundle.contradicted.map(checkpointJson),
    uncompared: bundle.uncompared.map(({ reason: why, checkpoint, anchor }) => ({
      why,
      checkpoint: checkpointJson(checkpoint),
      anchor: rootJson(anchor),
    })),
    lost: bundle.lost && {
      entries: bundle.lost.entries,
      newest: rootJson(bundle.lost.newest),
      agreed: rootJson(bundle.lost.agreed),
    },
  };
}

function documentJson(document: VerifiedDocument) {
  const { file, report, page, place, keyFingerprint } = document;
  return {
    ...judgmentJson(judgeDocument(document)),
    file,
    kind: report?.kind ?? null,
    origin: report?.origin ?? null,
    checkpoint: checkpointJson(report?.checkpoint ?? null),
    key_fingerprint: keyFingerprint,
    entries: (report?.entries ?? []).map(({ seq, entryHash, sessionId }) => ({
      seq,
      entry_hash: entryHash,
      session_id: sessionId,
    })),
    place,
    uncompared: checkpointJson(document.uncompared),
    page,
  };
}

function rootJson(root: NamedRoot | null) {
  return root && { origin: root.origin, size: root.size, root: hex(root.root) };
}

function checkpointJson(checkpoint: KnownCheckpoint | null) {
  if (checkpoint === null) return null;
  const { origin, size, root, note } = checkpoint;
  return { origin, size, root: hex(root), note };
}
