/**
 * Chains of an organization: it verifies them, exports them, proves an entry, and gets checkpoints and keys.
 * Source: contract, sections 4 and 5; evidence design, section 8.
 */
import * as z from "zod";
import { beyondLongest, CHAIN_KINDS, linkedSizes, linkSchema } from "../../domain/audit.ts";
import { envelopeFields } from "../../domain/score.ts";
import { exportFile, longestShownSize, softwareName } from "../../operations/chains/export.ts";
import { publicKeys } from "../../operations/chains/own_keys.ts";
import { currentCheckpoint, familyOf, proofOfEntry } from "../../operations/organizations/audit.ts";
import { retentionOf } from "../../operations/shared/deployment.ts";
import { verifyChain } from "../../operations/verification/verification.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { KEYED_READ, OPEN } from "./shared.ts";

const chainParametersSchema = z.object({
  chain: z.enum(CHAIN_KINDS).default("evidence").meta({
    description: "The chain of scores and decisions, or the audit log of the organization and its keys.",
  }),
});

/** A size or an index of a chain, as text in a path or a query. */
const chainSizeFrom = (low: 0 | 1) =>
  z.string().regex(/^(0|[1-9][0-9]{0,14})$/, "must be a whole number without sign").transform(Number)
    .refine((value) => value >= low, `must be at least ${low}`)
    .meta({ override: { pattern: low === 0 ? "^(0|[1-9][0-9]{0,14})$" : "^[1-9][0-9]{0,14}$" } });

const verifyParametersSchema = z.object({
  from: chainSizeFrom(0).optional().meta({
    description: "Resumes at this entry: verification begins at the last checkpoint at or before it.",
  }),
  since_size: chainSizeFrom(1).optional().meta({
    description: "Adds the proof that the chain of this size is a beginning of the present one.",
  }),
});

/** The range is a tuple, but client generators cannot read the schema of a tuple. */
const range = z.array(z.int()).length(2).nullable();

const findingSchema = z.object({
  chain: z.string().meta({ description: "The epoch of the chain that it is about." }),
  code: z.string(),
  fatal: z.boolean(),
  seq: z.int().nullable(),
  range,
  detail: z.string().nullable(),
  sentence: z.string().meta({ description: "The finding in plain words." }),
}).meta({ id: "EvidenceFinding" });

const hash32 = z.string().regex(/^[0-9a-f]{64}$/);

const signedCheckpoint = {
  origin: z.string(),
  size: z.int().min(1),
  root: hash32,
  note: z.string().meta({ description: "The signed checkpoint: keep it, and no later one can deny it." }),
};

const verifyResponseSchema = z.object({
  valid: z.boolean(),
  entries_checked: z.int().min(0),
  from_seq: z.int().min(0),
  to_seq: z.int().min(-1),
  head: hash32.meta({ description: "Hash of the newest entry." }),
  checkpoint: z.object(signedCheckpoint).nullable(),
  first_bad: z.int().nullable(),
  code: z.string().nullable().meta({
    description: "The code of the first finding that makes the chain invalid.",
  }),
  findings: z.array(findingSchema),
  consistency: z.object({ from: z.int(), to: z.int(), proof: z.array(hash32) }).optional().meta({
    description: "RFC 6962 consistency proof, where `since_size` asks for it.",
  }),
  ...envelopeFields,
}).meta({ id: "ChainVerification" });

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

const exportParametersSchema = z.object({
  ...chainParametersSchema.shape,
  parts: z.enum(["all", "structural", "none"]).default("all").meta({
    description:
      "all: everything, so that scores can be replayed. structural: only how the chain itself came about. none: hashes alone.",
  }),
  link: linkSchema.optional().meta({
    description:
      "Sizes of checkpoints that were kept, separated by commas. Where entries up to there were removed by the retention rule, the bundle proves that what is left goes on from them.",
    examples: ["120,480"],
  }),
});

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
      const longest = await longestShownSize(dependencies.database, { family, parts });
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

const proofPathSchema = z.object({
  seq: chainSizeFrom(0).meta({ description: "The entry's place in its chain, from 0." }),
});

const proofResponseSchema = z.object({
  seq: z.int().min(0),
  entry_hash: hash32,
  proof: z.string().meta({ description: "C2SP tlog-proof@v1 against the newest checkpoint." }),
  ...envelopeFields,
}).meta({ id: "InclusionProof" });

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

const checkpointResponseSchema = z.object({ ...signedCheckpoint, ...envelopeFields }).meta({
  id: "Checkpoint",
});

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

const jwksSchema = z.object({
  keys: z.array(z.object({
    kty: z.literal("OKP"),
    crv: z.literal("Ed25519"),
    x: z.string(),
    kid: z.string(),
    use: z.literal("sig"),
    alg: z.literal("EdDSA"),
    "x-jiss-from": z.int().nullable(),
    "x-jiss-until": z.int().nullable(),
  })),
}).meta({ id: "JsonWebKeySet", description: "RFC 7517; ranges are sizes of the system chain." });

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
  getChainVerification,
  getChainExport,
  getChainProof,
  getCheckpoint,
  getAdminChainVerification,
  getPublicKeys,
];
