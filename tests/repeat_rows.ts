/**
 * Records that can be made only once, made twice by a service whose database was altered: everything is
 * signed, linked and replays, and yet a label, a score, a commit or a decision counts a second time.
 *
 * As in tests/tamper_rows.ts the rows are run by the product's verifier and by the independent one.
 */
import { buildWorld, type ChainWriter } from "./bundle_builder.ts";
import type { SeveralRow } from "./tamper_chain_rows.ts";
import { INTACT, type Row, tampered } from "./verification.ts";

const LATE = { interaction: { outcome_correct: null, scenario_type: "standard" } } as const;

/** A session scored at 1, labelled at 2, and what a row adds. */
function labelled(more: (chain: ChainWriter) => void = () => {}): ChainWriter {
  const chain = buildWorld().chain("org/acme");
  chain.score("ada", LATE);
  chain.label(1, false);
  more(chain);
  return chain;
}

const NAMED = "named-by-a-caller";

/** Retention removed the entries before 3, with the score of a session that is labelled later. */
const beyondTheCut = (labels: number) => {
  const chain = buildWorld({ step: 40 * 86_400_000 }).chain("org/acme", { retentionDays: 30 });
  chain.score("ada", LATE);
  chain.score("ada");
  for (let count = 0; count < labels; count += 1) chain.label(1, false);
  chain.prune(3);
  return chain.bundle();
};

export const REPEAT_ROWS: readonly Row[] = [
  {
    name: "a session that is labelled a second time is found",
    text: labelled((chain) => chain.label(1, false)).bundle(),
    ...tampered(["RECORD_REPEATED@3"], 3),
  },
  {
    name: "a second label that contradicts the first is found, and each one after it",
    text: labelled((chain) => {
      chain.label(1, true);
      chain.score("ada");
      chain.label(1, false);
    }).bundle(),
    ...tampered(["RECORD_REPEATED@3", "RECORD_REPEATED@5"], 3),
  },
  {
    name: "labels of two sessions are no repetition",
    text: labelled((chain) => chain.label(chain.score("ada", LATE), false)).bundle(),
    ...INTACT,
  },
  {
    name: "a session that is scored a second time is found",
    text: labelled((chain) => {
      chain.score("ada", { session: NAMED });
      chain.score("ada", { session: NAMED });
    }).bundle(),
    ...tampered(["RECORD_REPEATED@4"], 4),
  },
  {
    name: "a session that is scored a second time, for another operator, is found",
    text: labelled((chain) => {
      chain.score("ada", { session: NAMED });
      chain.score("ben", { session: NAMED });
    }).bundle(),
    ...tampered(["RECORD_REPEATED@4"], 4),
  },
  {
    name: "a session that is committed a second time is found",
    text: labelled((chain) => {
      chain.commit(1);
      chain.commit(1);
    }).bundle(),
    ...tampered(["RECORD_REPEATED@4"], 4),
  },
  {
    name: "a decision that is scored a second time is found",
    text: labelled((chain) => {
      chain.decide("ada", NAMED);
      chain.decide("ada", NAMED);
    }).bundle(),
    ...tampered(["RECORD_REPEATED@4"], 4),
  },
  {
    name: "a record made twice is found without replay too",
    text: labelled((chain) => chain.label(1, false)).bundle(),
    replay: false,
    ...tampered(["RECORD_REPEATED@3"], 3),
  },
  {
    name: "a frozen session that is scored later counts as scored once",
    text: labelled((chain) => {
      chain.skip("ada", NAMED);
      chain.score("ada", { session: NAMED });
    }).bundle(),
    ...INTACT,
  },
  {
    name: "records with withheld parts cannot be recognized as repeated",
    text: labelled((chain) => chain.label(1, false)).bundle({ parts: "structural" }),
    replay: false,
    ...INTACT,
  },
  {
    name: "a session whose score retention removed may be labelled once",
    text: beyondTheCut(1),
    ...INTACT,
    findings: ["PRUNED_PREFIX[0,2]", "STATE_UNANCHORED@3"],
  },
  {
    name: "a second label of a session whose score retention removed is found",
    text: beyondTheCut(2),
    ...tampered(["RECORD_REPEATED@4", "PRUNED_PREFIX[0,2]", "STATE_UNANCHORED@3"], 4),
  },
];

// ---- restores ---------------------------------------------------------------------------------------------------

/** A chain with a session scored at 2 and one at 4, restored to its first 4 entries. */
function restored(names: readonly string[]) {
  const first = buildWorld().chain("org/acme");
  first.score("ada");
  first.score("ada", { session: "kept" });
  first.score("ada");
  first.score("ada", { session: "lost" });
  const second = first.restore(4);
  for (const session of names) second.score("ada", { session });
  return { whole: first.bundle(), left: first.bundle({ size: 4 }), after: second.bundle() };
}

const again = restored(["lost"]);
const repeated = restored(["lost", "kept"]);
const UNANCHORED = { verdict: "INTACT, UNANCHORED", exitCode: 0 } as const;
const OPEN = { ...INTACT, findings: ["STATE_UNANCHORED@1"] };

export const RESTORED_REPEAT_ROWS: readonly SeveralRow[] = [
  {
    name: "a session that a restore lost may be scored again in the next epoch",
    text: again.left + again.after,
    reports: [INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "a session that a restore kept, scored again in the next epoch, is found",
    text: repeated.left + repeated.after,
    reports: [INTACT, tampered(["RECORD_REPEATED@2"], 2)],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name:
      "an export from before a restore and the next epoch may both hold the session that the restore lost",
    text: again.whole + again.after,
    reports: [INTACT, OPEN],
    overall: UNANCHORED,
  },
  {
    name: "two exports of one chain may hold the same records",
    text: again.left + again.left,
    reports: [INTACT, INTACT],
    overall: UNANCHORED,
  },
];
