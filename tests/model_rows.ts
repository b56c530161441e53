/**
 * Model documents from an altered file: unreadable ones, too large ones, and those of an earlier or a later
 * program, each under its right hash and named by scores. As in tests/tamper_rows.ts the rows are run by the
 * product's verifier and by the independent one.
 */
import { modelLine } from "../src/evidence/bundle.ts";
import { buildWorld, modelOf } from "./bundle_builder.ts";
import { type Json, linesOf, sealed } from "./bundle_tampering.ts";
import { JIS_1_0_0 } from "./models.ts";
import { INTACT, notVerifiable, type Row, tampered } from "./verification.ts";

/** A chain with two scores, a decision and a label by a changed document. */
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
    name: "an unreadable model document of the right hash is reported once, and nothing is computed from it",
    text: scoredBy(({ bands }) => bands.adequate = "40"),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a model document without something that no score of the file reads is unreadable",
    text: scoredBy(({ domains }) => delete domains.education.severity),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a model document that no record names must be readable too",
    text: scoredBy(() => {}).replace(
      /^(.*\n)/,
      `$1${modelLine({ ...modelOf({} as Json), document: {} })}\n`,
    ),
    ...tampered(["MALFORMED_LINE", "BUNDLE_DIGEST_MISMATCH"], null),
  },
  {
    name: "a model document with more projections than are computed for each score is not used",
    text: scoredBy(({ decay }) => decay.projection_days = Array.from({ length: 367 }, (_, day) => day + 1)),
    ...notVerifiable(["LIMIT_EXCEEDED"]),
  },
  {
    name: "a model document with a projection for each day of a year is used",
    text: scoredBy(({ decay }) => decay.projection_days = Array.from({ length: 366 }, (_, day) => day + 1)),
    ...INTACT,
  },
  {
    name: "a model document with a word of a thousand letters, which scores repeat, is not used",
    text: scoredBy(({ maintenance }) => maintenance.interventions.deferral_resistance = "x".repeat(1_000)),
    ...notVerifiable(["LIMIT_EXCEEDED"]),
  },
  {
    name: "a model document of thousands of members is not used",
    text: scoredBy(({ drs }) => drs.more = Array(10_000).fill(0)),
    ...notVerifiable(["LIMIT_EXCEEDED"]),
  },
  {
    name: "exercises and law, which no record is computed from, may have another program's shape",
    text: scoredBy((document) => {
      for (const exercise of document.maintenance.exercises) delete exercise.purpose;
      document.law = { rules: Array(20_000).fill("of a later program") };
      delete document.organization;
    }),
    ...INTACT,
  },
  {
    name: "a member that the formulas do not know is ignored",
    text: scoredBy(({ thresholds }) => thresholds.of_a_later_program = 1),
    ...INTACT,
  },
  {
    name: "a model document of later formulas that no record names is not reported",
    text: sealed([plain[0]!, modelLine(unnamed as Json), ...plain.slice(1)]),
    ...INTACT,
  },
];
