/**
 * Model documents that somebody's file brings: what is none, what is too large, and what an earlier or a later program
 * wrote, each under its right hash and named by scores. As in tests/tamper_rows.ts the rows are run by the product's
 * verifier and by the independent one.
 */
import { modelLine } from "../src/evidence/bundle.ts";
import { buildWorld, modelOf } from "./bundle_builder.ts";
import { type Json, linesOf, sealed } from "./bundle_tampering.ts";
import { JIS_1_0_0 } from "./models.ts";
import { INTACT, notVerifiable, type Row, tampered } from "./verification.ts";

/** A chain whose two scores, decision and label are by a document that was changed. */
function scoredBy(change: (document: Json) => void): string {
  const world = buildWorld();
  const document = structuredClone(JIS_1_0_0);
  change(document);
  world.model = modelOf(document);
  const chain = world.chain("org/acme");
  chain.score("ada", { interaction: { outcome_correct: null, scenario_type: "standard" } });
  chain.label(1, false);
  chain.score("ada");
  chain.decide("ada");
  return chain.bundle();
}

const unnamed = modelOf({ ...JIS_1_0_0, formulas: "jis-9" } as Json);
const plain = linesOf(scoredBy(() => {}));

export const MODEL_ROWS: readonly Row[] = [
  {
    name: "a model document of the right hash that is none is said once, and nothing is computed from it",
    text: scoredBy(({ bands }) => bands.adequate = "40"),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a model document that lacks what no score of the file reads is none",
    text: scoredBy(({ domains }) => delete domains.education.severity),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a model document that no record names must be one too",
    text: scoredBy(() => {}).replace(
      /^(.*\n)/,
      `$1${modelLine({ ...modelOf({} as Json), document: {} })}\n`,
    ),
    ...tampered(["MALFORMED_LINE", "BUNDLE_DIGEST_MISMATCH"], null),
  },
  {
    name: "a model document with more projections than are computed for each score is not looked at",
    text: scoredBy(({ decay }) => decay.projection_days = Array.from({ length: 367 }, (_, day) => day + 1)),
    ...notVerifiable(["LIMIT_EXCEEDED"]),
  },
  {
    name: "a model document with a projection for each day of a year is looked at",
    text: scoredBy(({ decay }) => decay.projection_days = Array.from({ length: 366 }, (_, day) => day + 1)),
    ...INTACT,
  },
  {
    name: "a model document with a word of a thousand letters, which scores repeat, is not looked at",
    text: scoredBy(({ maintenance }) => maintenance.interventions.deferral_resistance = "x".repeat(1_000)),
    ...notVerifiable(["LIMIT_EXCEEDED"]),
  },
  {
    name: "a model document of thousands of members is not looked at",
    text: scoredBy(({ drs }) => drs.more = Array(10_000).fill(0)),
    ...notVerifiable(["LIMIT_EXCEEDED"]),
  },
  {
    name: "exercises and law, which no record is computed from, may have the shape of another program",
    text: scoredBy((document) => {
      for (const exercise of document.maintenance.exercises) delete exercise.purpose;
      document.law = { rules: Array(20_000).fill("of a later program") };
      delete document.organization;
    }),
    ...INTACT,
  },
  {
    name: "a member that the formulas do not know is read by nobody",
    text: scoredBy(({ thresholds }) => thresholds.of_a_later_program = 1),
    ...INTACT,
  },
  {
    name: "a model document of later formulas, which no record names, says nothing",
    text: sealed([plain[0]!, modelLine(unnamed as Json), ...plain.slice(1)]),
    ...INTACT,
  },
];
