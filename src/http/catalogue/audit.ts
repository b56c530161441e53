/** Evidence: an organization appends to it, verifies it and exports it. */
import {
  appendRequestSchema,
  appendResponseSchema,
  chainParametersSchema,
  checkpointResponseSchema,
  exportParametersSchema,
  jwksSchema,
  proofPathSchema,
  proofResponseSchema,
  verifyParametersSchema,
  verifyResponseSchema,
} from "../../domain/audit.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import type { Route } from "../exchange.ts";
import {
  CHAIN_PARAMETERS,
  EXPORT_PARAMETERS,
  getAdminChainVerification,
  getChainExport,
  getChainVerification,
  getCheckpoint,
  getProof,
  getPublicKeys,
  postAuditAppend,
  VERIFY_PARAMETERS,
} from "../handlers/audit.ts";
import { KEYED_POST, KEYED_READ, OPEN } from "./defaults.ts";

const verification = {
  ...KEYED_READ,
  parameters: { schema: verifyParametersSchema, sources: VERIFY_PARAMETERS },
  success: {
    status: 200,
    description: "What was found; `valid` is false where something is wrong.",
    schema: verifyResponseSchema,
  },
  examples: [
    { summary: "The whole chain" },
    { summary: "With the proof that it continues an earlier one", query: { since_size: "1" } },
  ],
} as const;

const ofChain = { schema: chainParametersSchema, sources: CHAIN_PARAMETERS } as const;

export const AUDIT_ROUTES: readonly Route[] = [
  {
    ...KEYED_POST,
    path: "/v1/audit/append",
    operationId: "postAuditAppend",
    summary: "Append an event of your own",
    description:
      "An event that belongs beside the scores, a change of a review policy say, becomes an entry of the organization's evidence chain, for good.",
    body: { schema: appendRequestSchema, limitBytes: BODY_LIMIT_BYTES },
    success: {
      status: 201,
      description: "The entry and its evidence.",
      schema: appendResponseSchema({ evidence: evidenceSchema, entry: entrySchema }),
    },
    errors: ["GONE"],
    examples: [{
      summary: "A policy changed",
      body: { event_type: "REVIEW_POLICY_CHANGED", payload: { policy: "four-eyes", from: "2026-12-01" } },
    }],
    handler: postAuditAppend,
  },
  {
    ...verification,
    path: "/v1/audit/chain/verify",
    operationId: "getChainVerification",
    summary: "Verify the evidence chain",
    description:
      "Every link, commitment, tree root and signature of the organization's scores and decisions, from the database. It works in slices and holds nobody up. Scores are replayed by `GET /v1/decision/replay/{id}` and, all of them, by `jiss verify`.",
    handler: getChainVerification,
  },
  {
    ...KEYED_READ,
    path: "/v1/audit/chain/export",
    operationId: "getChainExport",
    summary: "Carry a chain away",
    description:
      "A bundle for `jiss verify`, of the organization's scores and decisions or of its audit log: one canonical JSON object a line. It ends with a trailer; a file without one was cut short.",
    parameters: { schema: exportParametersSchema, sources: EXPORT_PARAMETERS },
    success: {
      status: 200,
      description: "The bundle.",
      schema: null,
      otherTypes: ["application/x-ndjson"],
      onlyOtherTypes: true,
    },
    examples: [
      { summary: "Everything" },
      { summary: "Without anything personal", query: { parts: "structural" } },
      {
        summary: "The audit log, linked to a checkpoint of its first entry",
        query: { chain: "admin", link: "1" },
      },
    ],
    handler: getChainExport,
  },
  {
    ...KEYED_READ,
    path: "/v1/audit/chain/proof/{seq}",
    operationId: "getChainProof",
    summary: "Prove one entry",
    description: "Proof that an entry stands under the newest checkpoint.",
    pathParameters: proofPathSchema,
    parameters: ofChain,
    success: { status: 200, description: "The proof.", schema: proofResponseSchema },
    errors: ["NOT_FOUND"],
    examples: [{ summary: "The first entry", path: { seq: "0" } }],
    handler: getProof,
  },
  {
    ...KEYED_READ,
    path: "/v1/audit/checkpoint",
    operationId: "getCheckpoint",
    summary: "The newest checkpoint",
    description:
      "Size and root of a chain, signed. Whoever keeps it can prove a later change of anything before it.",
    parameters: ofChain,
    success: { status: 200, description: "The checkpoint.", schema: checkpointResponseSchema },
    examples: [{ summary: "Of the audit log", query: { chain: "admin" } }],
    handler: getCheckpoint,
  },
  {
    ...verification,
    path: "/v1/admin/audit/verify-chain",
    operationId: "getAdminChainVerification",
    summary: "Verify the audit log's chain",
    description: "As the evidence chain's, for what was done to the organization and its keys.",
    handler: getAdminChainVerification,
  },
  {
    ...OPEN,
    method: "GET",
    path: "/.well-known/jwks.json",
    operationId: "getPublicKeys",
    summary: "The log's public keys",
    description:
      "The keys that sign checkpoints, newest first, each with the sizes of the system chain between which it signs. Pin them out of band: a key that comes with what it signs proves nothing.",
    layer1: true,
    success: { status: 200, description: "A JSON Web Key Set.", schema: jwksSchema },
    errors: ["RATE_LIMITED"],
    examples: [{ summary: "Ask" }],
    handler: getPublicKeys,
  },
];
