/** Evidence: an organization appends to its chain, verifies its chains, exports them and proves an entry. */
import {
  appendRequestSchema,
  appendResponseSchema,
  beyondLongest,
  chainParametersSchema,
  checkpointResponseSchema,
  exportParametersSchema,
  jwksSchema,
  linkedSizes,
  PAYLOAD_LIMIT_BYTES,
  proofPathSchema,
  proofResponseSchema,
  verifyParametersSchema,
  verifyResponseSchema,
} from "../../domain/audit.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { utf8 } from "../../evidence/crypto.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { exportFile, longestOf, softwareName } from "../../operations/chains/export.ts";
import { publicKeys } from "../../operations/chains/own_keys.ts";
import {
  appendEvent,
  currentCheckpoint,
  familyOf,
  proofOfEntry,
} from "../../operations/organizations/audit.ts";
import { retentionOf } from "../../operations/shared/deployment.ts";
import { verifyChain } from "../../operations/verification/verification.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { KEYED_POST, KEYED_READ, OPEN } from "./shared.ts";

const postAuditAppend: Route = {
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
  async handler({ dependencies }, { context, exchange, json }) {
    const { event_type, payload } = parseWith(appendRequestSchema, json);
    const { length } = utf8(canonicalJson(payload));
    if (length > PAYLOAD_LIMIT_BYTES) {
      throw validationFailed([{
        path: "payload",
        message: `must be at most ${PAYLOAD_LIMIT_BYTES} bytes of canonical JSON, it has ${length}`,
      }]);
    }
    const { event, ...about } = await appendEvent(dependencies, exchange.caller!, {
      eventType: event_type,
      payload,
      call: exchange.call,
      idempotency: idempotentCall(context),
    });
    return { status: 201, body: { ...event }, ...about };
  },
};

/** Fields of a route that verifies one of the organization's chains. */
function verificationOf(kind: "evidence" | "admin") {
  return {
    ...KEYED_READ,
    parameters: verifyParametersSchema,
    success: {
      status: 200,
      description: "What was found; `valid` is false where something is wrong.",
      schema: verifyResponseSchema,
    },
    examples: [
      { summary: "The whole chain" },
      { summary: "With the proof that it continues an earlier one", query: { since_size: "1" } },
    ],
    async handler({ dependencies }, { context, exchange }) {
      const { from, since_size } = parseParameters(context.req.raw, verifyParametersSchema);
      const body = await verifyChain(dependencies, {
        family: familyOf(exchange.caller!, kind),
        from: from ?? 0,
        sinceSize: since_size ?? null,
        now: exchange.call.now,
      });
      return { status: 200, body: { ...body } };
    },
  } satisfies Partial<Route>;
}

const getChainVerification: Route = {
  ...verificationOf("evidence"),
  path: "/v1/audit/chain/verify",
  operationId: "getChainVerification",
  summary: "Verify the evidence chain",
  description:
    "Every link, commitment, tree root and signature of the organization's scores and decisions, from the database. It works in slices and holds nobody up. Scores are replayed by `GET /v1/decision/replay/{id}` and, all of them, by `jiss verify`.",
};

const getAdminChainVerification: Route = {
  ...verificationOf("admin"),
  path: "/v1/admin/audit/verify-chain",
  operationId: "getAdminChainVerification",
  summary: "Verify the audit log's chain",
  description: "As the evidence chain's, for what was done to the organization and its keys.",
};

const getChainExport: Route = {
  ...KEYED_READ,
  path: "/v1/audit/chain/export",
  operationId: "getChainExport",
  summary: "Carry a chain away",
  description:
    "A bundle for `jiss verify`, of the organization's scores and decisions or of its audit log: one canonical JSON object a line. It ends with a trailer; a file without one was cut short.",
  parameters: exportParametersSchema,
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
  async handler({ dependencies, description }, { context, exchange }) {
    const { chain, parts, link } = parseParameters(context.req.raw, exportParametersSchema);
    const caller = exchange.caller!;
    const family = familyOf(caller, chain);
    const links = linkedSizes(link);
    if (links.length > 0) {
      const longest = await longestOf(dependencies.database, { family, parts });
      if (Math.max(...links) > longest) {
        throw validationFailed([{ path: "link", message: beyondLongest(longest) }]);
      }
    }
    const name = chain === "evidence" ? caller.orgId : `${caller.orgId}-${chain}`;
    return {
      status: 200,
      pieces: exportFile(dependencies, {
        family,
        parts,
        links,
        retentionDays: retentionOf(dependencies, family),
        now: exchange.call.now,
        software: softwareName(description.version),
      }),
      contentType: "application/x-ndjson",
      headers: { "Content-Disposition": `attachment; filename="${name}.ndjson"` },
    };
  },
};

const getChainProof: Route = {
  ...KEYED_READ,
  path: "/v1/audit/chain/proof/{seq}",
  operationId: "getChainProof",
  summary: "Prove one entry",
  description: "Proof that an entry stands under the newest checkpoint.",
  pathParameters: proofPathSchema,
  parameters: chainParametersSchema,
  success: { status: 200, description: "The proof.", schema: proofResponseSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "The first entry", path: { seq: "0" } }],
  async handler({ dependencies }, { context, exchange }) {
    const { seq } = parseWith(proofPathSchema, context.req.param());
    const { chain } = parseParameters(context.req.raw, chainParametersSchema);
    return { status: 200, body: await proofOfEntry(dependencies, exchange.caller!, { kind: chain, seq }) };
  },
};

const getCheckpoint: Route = {
  ...KEYED_READ,
  path: "/v1/audit/checkpoint",
  operationId: "getCheckpoint",
  summary: "The newest checkpoint",
  description:
    "Size and root of a chain, signed. Whoever keeps it can prove a later change of anything before it.",
  parameters: chainParametersSchema,
  success: { status: 200, description: "The checkpoint.", schema: checkpointResponseSchema },
  examples: [{ summary: "Of the audit log", query: { chain: "admin" } }],
  async handler({ dependencies }, { context, exchange }) {
    const { chain } = parseParameters(context.req.raw, chainParametersSchema);
    return { status: 200, body: await currentCheckpoint(dependencies, exchange.caller!, chain) };
  },
};

const getPublicKeys: Route = {
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
  async handler({ dependencies }) {
    return { status: 200, body: await publicKeys(dependencies), document: true };
  },
};

export const EVIDENCE_ROUTES: readonly Route[] = [
  postAuditAppend,
  getChainVerification,
  getChainExport,
  getChainProof,
  getCheckpoint,
  getAdminChainVerification,
  getPublicKeys,
];
