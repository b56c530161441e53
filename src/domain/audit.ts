/**
 * Operations of an organization on its chains: append an event of its own, verify, export, prove.
 * Source: contract, sections 4 and 5; evidence design, section 8.
 */
import * as z from "zod";
import { SERVICE_EVENTS } from "./audit_events.ts";
import { envelopeFields } from "./score.ts";

/** Prefixes of the names of the service's own events, present and future. */
const RESERVED_PREFIXES = [
  "AUTH_FAIL_",
  "ADMIN_",
  "SCORE_",
  "DRS_",
  "KEY_",
  "CHAIN_",
  "RETENTION_",
  "SIGNING_",
  "SUBJECT_",
  "ORG_",
] as const;

/** Largest payload, bytes of its canonical JSON. */
export const PAYLOAD_LIMIT_BYTES = 65_536;

const RESERVED_NAME = new RegExp(
  `^(?:${[...RESERVED_PREFIXES, ...SERVICE_EVENTS.map((event) => `${event}$`)].join("|")})`,
);

const eventTypeSchema = z.string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    "must be 1 to 64 capitals, digits or underscores, beginning with a capital",
  )
  .refine((eventType) => !RESERVED_NAME.test(eventType), {
    message: `is a name of the service's own events: choose one that does not begin with ${
      RESERVED_PREFIXES.join(", ")
    } and is none of its names`,
  })
  .meta({
    description: "Any name that is not reserved for the service's own events.",
    examples: ["REVIEW_POLICY_CHANGED"],
    // Many languages have no lookahead, so the pattern does not exclude the reserved names.
    override: { not: { pattern: RESERVED_NAME.source } },
  });

interface Unsound {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * The first fault in a value that must be the same in every language; null if there is none. A path is built
 * only for a fault: a payload may have half a million members.
 */
function unsoundPlace(value: unknown): Unsound | null {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return { path: [], message: "must be a finite number" };
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
    return isExact ? null : { path: [], message: "must be a whole number within 2^53: write it as text" };
  }
  if (typeof value === "string") {
    return value.isWellFormed() ? null : { path: [], message: "must be well-formed Unicode" };
  }
  if (typeof value !== "object" || value === null) return null;
  return Array.isArray(value) ? unsoundItem(value) : unsoundMember(value as Record<string, unknown>);
}

function unsoundItem(items: readonly unknown[]): Unsound | null {
  for (let index = 0; index < items.length; index += 1) {
    const place = unsoundPlace(items[index]);
    if (place !== null) return below(String(index), place);
  }
  return null;
}

function unsoundMember(members: Readonly<Record<string, unknown>>): Unsound | null {
  for (const name of Object.keys(members)) {
    if (!name.isWellFormed()) return { path: [], message: "must have names of well-formed Unicode" };
    const place = unsoundPlace(members[name]);
    if (place !== null) return below(name, place);
  }
  return null;
}

function below(name: string, { path, message }: Unsound): Unsound {
  return { path: [name, ...path], message };
}

const payloadSchema = z.record(z.string(), z.unknown(), { error: "must be an object" }).superRefine(
  (payload, context) => {
    const place = unsoundPlace(payload);
    if (place !== null) context.addIssue({ code: "custom", message: place.message, path: [...place.path] });
  },
).meta({
  description:
    "What happened: an object of at most 65,536 bytes of canonical JSON. Put no personal data here: it is not erased with an operator.",
});

export const appendRequestSchema = z.object({ event_type: eventTypeSchema, payload: payloadSchema }).meta({
  id: "AuditAppendRequest",
});

export function appendResponseSchema<Evidence extends z.ZodType, Entry extends z.ZodType>(
  { evidence, entry }: { readonly evidence: Evidence; readonly entry: Entry },
) {
  return z.object({
    event_id: z.string().meta({ description: "The entry's id." }),
    seq: z.int().min(0),
    entry_hash: z.string(),
    entry,
    detail: z.record(z.string(), z.unknown()).meta({
      description: "The payload as it was recorded, which the evidence covers.",
    }),
    evidence,
    ...envelopeFields,
  }).meta({ id: "AuditAppended" });
}

/** The kinds of chains that an organization has. */
export const CHAIN_KINDS = ["evidence", "admin"] as const;
export type ChainKind = (typeof CHAIN_KINDS)[number];

export const chainParametersSchema = z.object({
  chain: z.enum(CHAIN_KINDS).default("evidence").meta({
    description: "The chain of scores and decisions, or the audit log of the organization and its keys.",
  }),
});

/** A size or an index of a chain, as text in a path or a query. */
const count = (low: 0 | 1) =>
  z.string().regex(/^(0|[1-9][0-9]{0,14})$/, "must be a whole number without sign").transform(Number)
    .refine((value) => value >= low, `must be at least ${low}`)
    .meta({ override: { pattern: low === 0 ? "^(0|[1-9][0-9]{0,14})$" : "^[1-9][0-9]{0,14}$" } });

export const verifyParametersSchema = z.object({
  from: count(0).optional().meta({
    description: "Resumes at this entry: verification begins at the last checkpoint at or before it.",
  }),
  since_size: count(1).optional().meta({
    description: "Adds the proof that the chain of this size is a beginning of the present one.",
  }),
});

/** The range is a tuple, but client generators cannot read the schema of a tuple. */
const range = z.array(z.int()).length(2).nullable();

export const findingSchema = z.object({
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

export const verifyResponseSchema = z.object({
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

/** Most sizes that one export links. */
export const LINK_LIMIT = 64;

/** Sizes of checkpoints that an auditor kept, separated by commas. */
export const linkSchema = z.string()
  .regex(
    new RegExp(`^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,${LINK_LIMIT - 1}}$`),
    `must be sizes of checkpoints, whole numbers from 1 on, separated by commas, ${LINK_LIMIT} at most`,
  );

/** The sizes in a `link` parameter; none if it is left out. */
export function linkedSizes(link: string | undefined): readonly number[] {
  return link === undefined ? [] : link.split(",").map(Number);
}

/** The message for a size that cannot be linked: no chain of the family that an export shows is that long. */
export function beyondLongest(longest: number): string {
  return `must be at most ${longest}, the size of the longest chain that this export shows`;
}

export const exportParametersSchema = z.object({
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

export const proofPathSchema = z.object({
  seq: count(0).meta({ description: "The entry's place in its chain, from 0." }),
});

export const proofResponseSchema = z.object({
  seq: z.int().min(0),
  entry_hash: hash32,
  proof: z.string().meta({ description: "C2SP tlog-proof@v1 against the newest checkpoint." }),
  ...envelopeFields,
}).meta({ id: "InclusionProof" });

export const checkpointResponseSchema = z.object({ ...signedCheckpoint, ...envelopeFields }).meta({
  id: "Checkpoint",
});

export const jwksSchema = z.object({
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
