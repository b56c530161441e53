/**
 * Chains of an organization: it verifies them, exports them, proves an entry, and gets checkpoints and keys.
 * Source: contract, sections 4 and 5; evidence design, section 8.
 */
import * as z from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { hash32 } from "../../domain/hash.ts";
import { beyondLongest, CHAIN_KINDS, linkedSizes, linkSchema } from "../../domain/audit.ts";
import { envelopeFields } from "../../domain/score.ts";
import { exportFile, longestShownSize, softwareName } from "../../operations/chains/export.ts";
import { publicKeys } from "../../operations/chains/own_keys.ts";
import { currentCheckpoint, familyOf, proofOfEntry } from "../../operations/organizations/audit.ts";
import { retentionOf } from "../../operations/shared/deployment.ts";
import { verifyChain } from "../../operations/verification/verification.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { KEYED_READ, keyFor, OPEN } from "./shared.ts";

const chainParametersSchema = z.object({
  chain: z.enum(CHAIN_KINDS).default("evidence").meta({
    description:
      "`evidence`: the chain of scores and decisions. `admin`: the audit log of the organization and its keys.",
  }),
});

/** A size or an index of a chain, as text in a path or a query. */
const chainSizeFrom = (low: 0 | 1) =>
  z.string().regex(/^(0|[1-9][0-9]{0,14})$/, "must be a whole number without sign").transform(Number)
    .refine((value) => value >= low, `must be at least ${low}`)
    .meta({ override: { pattern: low === 0 ? "^(0|[1-9][0-9]{0,14})$" : "^[1-9][0-9]{0,14}$" } });

const verifyParametersSchema = z.object({
  from: chainSizeFrom(0).optional().meta({
    description: "Verifies from this entry on. Verification begins at the last checkpoint at or before it.",
  }),
  since_size: chainSizeFrom(1).optional().meta({
    description: "Adds a proof that the present chain continues the chain of this size.",
  }),
});

/** The range is a tuple, but client generators cannot read the schema of a tuple. */
const range = z.array(z.int()).length(2).nullable();

const findingSchema = z.object({
  chain: z.string().meta({ description: "The epoch of the chain that the finding is about." }),
  code: z.string(),
  fatal: z.boolean(),
  seq: z.int().nullable(),
  range,
  detail: z.string().nullable(),
  sentence: z.string().meta({ description: "The finding in plain words." }),
}).meta({ id: "EvidenceFinding" });

const signedCheckpoint = {
  origin: z.string(),
  size: z.int().min(1),
  root: hash32,
  note: z.string().meta({
    description: "The signed checkpoint. Keep it: it proves any later change of the entries that it covers.",
  }),
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
    description: "RFC 6962 consistency proof, if `since_size` was given.",
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
      description: "The findings; `valid` is false if the chain is invalid.",
      schema: verifyResponseSchema,
    },
    examples: [
      { summary: "The whole chain" },
      { summary: "With the proof that it continues an earlier one", query: { since_size: "1" } },
    ],
    async handler({ dependencies }, { exchange, request }) {
      const { from, since_size } = parseParameters(request, verifyParametersSchema);
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
    "Verifies each link, commitment, tree root and signature of the organization's scores and decisions in the database. It works in slices, so that other requests do not wait. It does not recompute scores: `GET /v1/decision/replay/{id}` recomputes one score, and `jiss verify` recomputes all of them.",
};

const getAdminChainVerification: Route = {
  ...verificationOf("admin"),
  path: "/v1/admin/audit/verify-chain",
  operationId: "getAdminChainVerification",
  summary: "Verify the audit log's chain",
  description:
    "Verifies the chain of the audit log in the same way as `GET /v1/audit/chain/verify` verifies the evidence chain.",
};

const exportParametersSchema = z.object({
  ...chainParametersSchema.shape,
  parts: z.enum(["all", "structural", "none"]).default("all").meta({
    description:
      "`all`: everything, so that scores can be recomputed. `structural`: only the contents about the chain itself. `none`: hashes only.",
  }),
  link: linkSchema.optional().meta({
    description:
      "Sizes of checkpoints that you kept, separated by commas. If the retention rule removed the entries that they cover, the bundle proves that the remaining entries continue from these checkpoints.",
    examples: ["120,480"],
  }),
});

const getChainExport: Route = {
  ...KEYED_READ,
  ...keyFor("export"),
  path: "/v1/audit/chain/export",
  operationId: "getChainExport",
  summary: "Export a chain",
  description:
    "Returns a bundle for `jiss verify` with the organization's scores and decisions, or with its audit log: one canonical JSON object on each line. The last line is a trailer; a file without a trailer is incomplete.",
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
    { summary: "Without personal data", query: { parts: "structural" } },
    {
      summary: "The audit log, linked to a checkpoint of its first entry",
      query: { chain: "admin", link: "1" },
    },
  ],
  async handler({ dependencies, description }, { exchange, request }) {
    const { chain, parts, link } = parseParameters(request, exportParametersSchema);
    const caller = exchange.caller!;
    const family = familyOf(caller, chain);
    const mayNameOperators = chain === "evidence" && parts === "all";
    if (exchange.pseudonyms !== null && mayNameOperators) {
      throw new ServiceError(
        "FORBIDDEN",
        "Reviewers are pseudonyms here, and their records name them: ask for parts=structural or parts=none, or export with a key.",
      );
    }
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
      namesNoOperator: !mayNameOperators,
    };
  },
};

const proofPathSchema = z.object({
  seq: chainSizeFrom(0).meta({ description: "The entry's index in its chain, counted from 0." }),
});

const proofResponseSchema = z.object({
  seq: z.int().min(0),
  entry_hash: hash32,
  proof: z.string().meta({ description: "C2SP tlog-proof@v1 for the newest checkpoint." }),
  ...envelopeFields,
}).meta({ id: "InclusionProof" });

const getChainProof: Route = {
  ...KEYED_READ,
  path: "/v1/audit/chain/proof/{seq}",
  operationId: "getChainProof",
  summary: "Prove one entry",
  description: "Returns a proof that the newest checkpoint covers the entry.",
  pathParameters: proofPathSchema,
  parameters: chainParametersSchema,
  success: { status: 200, description: "The proof.", schema: proofResponseSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "The first entry", path: { seq: "0" } }],
  async handler({ dependencies }, { exchange, path, request }) {
    const { seq } = parseWith(proofPathSchema, path);
    const { chain } = parseParameters(request, chainParametersSchema);
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
    "Returns the signed size and root of a chain. Keep the checkpoint: it proves any later change of the entries that it covers.",
  parameters: chainParametersSchema,
  success: { status: 200, description: "The checkpoint.", schema: checkpointResponseSchema },
  examples: [{ summary: "The audit log's", query: { chain: "admin" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { chain } = parseParameters(request, chainParametersSchema);
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
}).meta({
  id: "JsonWebKeySet",
  description:
    "A JSON Web Key Set (RFC 7517). `x-jiss-from` and `x-jiss-until` are sizes of the system chain.",
});

const getPublicKeys: Route = {
  ...OPEN,
  method: "GET",
  path: "/.well-known/jwks.json",
  operationId: "getPublicKeys",
  summary: "The log's public keys",
  description:
    "Returns the keys that sign checkpoints, newest first, each with the range of sizes of the system chain that it signs. Get the keys over a separate channel before you trust them: a key that comes together with its signatures proves nothing.",
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
