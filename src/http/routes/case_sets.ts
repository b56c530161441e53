/** Case sets of exercises: an organization's own, and those of the program. Source: case-sets.md. */
import * as z from "zod";
import { HASH32 } from "../../domain/hash.ts";
import { BODY_LIMIT_BYTES, CASE_SET_LIMIT_BYTES } from "../../domain/limits.ts";
import { envelopeFields } from "../../domain/score.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { utf8 } from "../../evidence/crypto.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { listedCaseSetSchema } from "../../exercises/answers.ts";
import { caseSetSchema } from "../../exercises/case_set.ts";
import { CASE_SET_EXAMPLE } from "../../exercises/example.ts";
import { addCaseSet, listCaseSets, readCaseSet } from "../../operations/exercises/case_sets.ts";
import type { Route } from "../exchange.ts";
import { parseWith, validationFailed } from "../parse.ts";
import { KEYED_POST, KEYED_READ, keyFor } from "./shared.ts";

/** A hash in an example, of the form of those that a service gives. */
const SET_OF_THE_EXAMPLE = "0".repeat(64);

const addedResponseSchema = listedCaseSetSchema.extend({
  detail: z.object({ sha256: z.string(), case_set: caseSetSchema }).meta({
    description: "What the entry CASE_SET_ADDED records, which the evidence covers.",
  }),
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({
  id: "CaseSetAdded",
});

const postCaseSet: Route = {
  ...KEYED_POST,
  ...keyFor("act"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/case-sets",
  operationId: "postCaseSet",
  summary: "Add a case set",
  description:
    "Checks a case set and records it in the organization's evidence, with the truth of its cases. Its hash names this version; a change is a new version beside it. The same document again changes nothing. Do not send personal data: a case set is not erased with an operator.",
  body: { schema: caseSetSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 201, description: "The case set and its evidence.", schema: addedResponseSchema },
  errors: ["CONFLICT"],
  examples: [{ summary: "Four loans", body: CASE_SET_EXAMPLE }],
  async handler({ dependencies }, { exchange, json }) {
    const set = parseWith(caseSetSchema, json);
    const { length } = utf8(canonicalJson(set));
    if (length > CASE_SET_LIMIT_BYTES) {
      throw validationFailed([{
        path: "cases",
        message:
          `must have at most ${CASE_SET_LIMIT_BYTES} bytes of canonical JSON with the rest of the set, and has ${length}`,
      }]);
    }
    const { set: added, ...recorded } = await addCaseSet(dependencies, exchange.caller!, {
      set,
      call: exchange.call,
    });
    return { status: 201, body: { ...added, ...recorded } };
  },
};

const getCaseSets: Route = {
  ...KEYED_READ,
  path: "/v1/case-sets",
  operationId: "getCaseSets",
  summary: "The case sets",
  description:
    "Returns the organization's case sets, the last added first, and those of the program. Nothing of their cases is in this list.",
  success: {
    status: 200,
    description: "The case sets.",
    schema: z.object({ case_sets: z.array(listedCaseSetSchema), count: z.int(), ...envelopeFields }).meta({
      id: "CaseSetsResponse",
    }),
  },
  examples: [{ summary: "Ask" }],
  async handler({ dependencies }, { exchange }) {
    const sets = await listCaseSets(dependencies, exchange.caller!);
    return { status: 200, body: { case_sets: sets, count: sets.length } };
  },
};

const caseSetPathSchema = z.object({
  sha256: z.string().regex(HASH32, "must be the sha256 of a case set").meta({
    examples: [SET_OF_THE_EXAMPLE],
  }),
});

const getCaseSet: Route = {
  ...KEYED_READ,
  path: "/v1/case-sets/{sha256}",
  operationId: "getCaseSet",
  summary: "A case set, whole",
  description: "Returns one version of a case set with the truth of its cases. It is not for reviewers.",
  pathParameters: caseSetPathSchema,
  success: {
    status: 200,
    description: "The case set.",
    schema: z.object({ sha256: z.string(), case_set: caseSetSchema, ...envelopeFields }).meta({
      id: "CaseSetResponse",
    }),
  },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One version", path: { sha256: SET_OF_THE_EXAMPLE } }],
  async handler({ dependencies }, { exchange, path }) {
    const { sha256 } = parseWith(caseSetPathSchema, path);
    return {
      status: 200,
      body: { sha256, case_set: await readCaseSet(dependencies, exchange.caller!, sha256) },
    };
  },
};

export const CASE_SET_ROUTES: readonly Route[] = [postCaseSet, getCaseSets, getCaseSet];
