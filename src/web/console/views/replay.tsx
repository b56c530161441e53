/** One score or decision, recomputed from its record, with its explanation and its proof. */
import { useRoute } from "preact-iso";
import { nameInWords, NO_DATA, scoreInWords } from "../../../pages/wording.ts";
import type { Verdict } from "../../../scoring/verdict.ts";
import { verdictInWords } from "../../../scoring/verdict_words.ts";
import { caseInWords } from "../replay_words.ts";
import { Explanation } from "../explanation.tsx";
import { addressOf, Answered, bandInWords, Figure, Instant, Tile, toneOf, View } from "../parts.tsx";
import { type Column, Table } from "../table.tsx";
import { Reviewer } from "../reviewers.tsx";
import { save } from "../../shared/save.ts";
import type { Decisions, Replay } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

export function ReplayView() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const asked = useAnswer<Replay>({ path: `/v1/decision/replay/${encodeURIComponent(id)}` });
  return (
    <View title={`Replay of ${id}`} within={{ path: "/console/decisions", label: "Decisions" }}>
      <Answered asked={asked}>{(body) => <Replayed {...body} />}</Answered>
    </View>
  );
}

function Replayed(replay: Replay) {
  const { kind, recorded, match, differences, explanation, label, evidence, model } = replay;
  return (
    <>
      <p class={`notice ${match ? "good" : "bad"}`} role="status">
        <strong>{match ? "It comes out the same." : "It comes out different."}</strong>{" "}
        Computed anew from the recorded input and the operator's state before it, under model {model.version}.
      </p>
      {kind === "score" && <RecordedVerdict recorded={recorded} />}
      <Tiles {...replay} />
      {!match && <Differences differences={differences} />}
      {kind === "decision" && <Triggers recorded={recorded} />}
      <CaseLine {...replay} />
      <h2>{kind === "score" ? "What moved it" : "What it rests on"}</h2>
      {kind === "score"
        ? (
          <Explanation
            explanation={explanation}
            of="explanation"
            label="What moved each dimension"
            prior={(recorded.prior_dimensions ?? []) as readonly string[]}
          />
        )
        : <Factors recorded={recorded} />}
      {label !== null && <LateLabel label={label} />}
      <Evidence evidence={evidence} />
      <SaveReplay replay={replay} />
      <details>
        <summary>The recorded result in full</summary>
        <pre tabIndex={0}>{JSON.stringify(recorded, null, 2)}</pre>
      </details>
    </>
  );
}

/** The verdict of a score as it was recorded; the formulas before `jis-3` recorded none. */
function RecordedVerdict({ recorded }: Pick<Replay, "recorded">) {
  const { verdict } = recorded.compliance as { readonly verdict?: Verdict };
  if (verdict === undefined) return null;
  return (
    <div class={`notice ${toneOf(verdict.status)}`} data-verdict>
      <h2>Verdict at this score</h2>
      <p>{verdictInWords(verdict)}</p>
    </div>
  );
}

/** The case in one line: whether the AI was right, what the operator did, and how fast. */
function CaseLine({ case: seen, label }: Replay) {
  return seen === null ? null : <p data-case>{caseInWords(seen, label)}</p>;
}

function Tiles(replay: Replay) {
  const { id, kind, recorded, label, evidence: { entry } } = replay;
  // Only the list of decisions has the domain, and the score before this one.
  const { loaded } = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", {
      kind,
      operator_id: String(recorded.operator_id),
      until: new Date(Date.parse(entry.timestamp) + 1).toISOString(),
      limit: "100",
    }),
  });
  const rows = loaded.state === "ready" ? loaded.body.decisions : [];
  const at = rows.findIndex((row) => row.id === id);
  const [row, before = null] = at < 0 ? [] : [rows[at], rows[at + 1]];
  return (
    <ul class="tiles">
      {kind === "score"
        ? (
          <Tile
            name="JIS"
            more={
              <>
                {bandInWords(String(recorded.band))}
                {before !== null && before.jis !== null && (
                  <>
                    {", "}was <span title={String(before.jis)}>{scoreInWords(before.jis)}</span>{" "}
                    at the score before
                  </>
                )}
              </>
            }
          >
            <Figure of="recorded.jis" value={recorded.jis as number} />
          </Tile>
        )
        : (
          <Tile name="Decision risk score" more={nameInWords(String(recorded.routing_decision))}>
            <Figure of="recorded.decision_risk_score" value={recorded.decision_risk_score as number} />
          </Tile>
        )}
      <Decided row={row} label={label} />
      <Tile name="Operator">
        <Reviewer id={String(recorded.operator_id)} />
      </Tile>
      <Tile
        name="Recorded"
        more={
          <>
            entry <Figure of="evidence.entry.seq" value={entry.seq} />
          </>
        }
      >
        <Instant at={entry.timestamp} />
      </Tile>
    </ul>
  );
}

/** The decision itself. */
function Decided({ row, label }: {
  readonly row: Decisions["decisions"][number] | undefined;
  readonly label: Replay["label"];
}) {
  const known = label === null ? "" : `; it was ${label.outcome_correct ? "right" : "wrong"}`;
  return (
    <Tile name="Decision" more={row && nameInWords(row.domain)}>
      {row === undefined ? NO_DATA : `${nameInWords(row.decision)}${known}`}
    </Tile>
  );
}

type Difference = Replay["differences"][number];

const DIFFERENCE_COLUMNS: readonly Column<Difference>[] = [
  { head: "Where", cell: (row) => row.path },
  { head: "Recorded", cell: (row) => JSON.stringify(row.recorded) },
  { head: "Computed anew", cell: (row) => JSON.stringify(row.replayed) },
];

const DIFFERENCE_CSV = {
  path: (row: Difference) => row.path,
  recorded: (row: Difference) => JSON.stringify(row.recorded),
  replayed: (row: Difference) => JSON.stringify(row.replayed),
};

function Differences({ differences }: Pick<Replay, "differences">) {
  return (
    <Table
      label="Differences"
      rows={differences}
      keyOf={(row) => row.path}
      columns={DIFFERENCE_COLUMNS}
      csv={DIFFERENCE_CSV}
    />
  );
}

function LateLabel({ label }: { readonly label: NonNullable<Replay["label"]> }) {
  return (
    <>
      <h2>Its late label</h2>
      <p>
        It became known that the decision was {label.outcome_correct ? "right" : "wrong"},{" "}
        <Instant at={label.labelled_at} />: this moved the operator's record. The score of the case stays as
        it was.
      </p>
      <Explanation
        explanation={label.explanation}
        of="label.explanation"
        label="What the late label moved"
      />
    </>
  );
}

function Evidence({ evidence }: Pick<Replay, "evidence">) {
  return (
    <>
      <h2>Evidence</h2>
      <dl>
        <div>
          <dt>Chain</dt>
          <dd>
            <code>{evidence.entry.chain}</code>
          </dd>
        </div>
        <div>
          <dt>Entry hash</dt>
          <dd>
            <code>{evidence.entry_hash}</code>
          </dd>
        </div>
      </dl>
    </>
  );
}

function SaveReplay({ replay }: { readonly replay: Replay }) {
  return (
    <p>
      <button
        type="button"
        onClick={() => save(`${replay.id}.json`, "application/json", JSON.stringify(replay, null, 2))}
      >
        Save this answer
      </button>
    </p>
  );
}

interface Trigger {
  readonly policy: string;
  readonly triggered: boolean;
  readonly evidence: string | null;
}

function Triggers({ recorded }: Pick<Replay, "recorded">) {
  const triggered = (recorded.policy_triggers as readonly Trigger[]).filter((trigger) => trigger.triggered);
  return (
    <>
      <h2>Policies that applied</h2>
      {triggered.length === 0 ? <p>None.</p> : (
        <ul>
          {triggered.map(({ policy, evidence }) => (
            <li key={policy}>
              <strong>{nameInWords(policy)}</strong>: {evidence}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface Factor {
  readonly name: string;
  readonly value: number;
  readonly weight: number | null;
}

const FACTOR_COLUMNS: readonly Column<Factor>[] = [{
  head: "Factor",
  cell: (row) => nameInWords(row.name),
}, {
  head: "Value",
  isNumber: true,
  cell: (row, index) => <Figure of={`recorded.factors.${index}.value`} value={row.value} />,
}, {
  head: "Weight",
  isNumber: true,
  cell: ({ weight }, index) =>
    weight === null
      ? <span class="muted">feeds the likelihood</span>
      : <Figure of={`recorded.factors.${index}.weight`} value={weight} />,
}];

const FACTOR_CSV = {
  name: (row: Factor) => row.name,
  value: (row: Factor) => row.value,
  weight: (row: Factor) => row.weight,
};

function Factors({ recorded }: Pick<Replay, "recorded">) {
  return (
    <>
      <Table
        label="Factors of the risk"
        rows={recorded.factors as readonly Factor[]}
        keyOf={(row) => row.name}
        columns={FACTOR_COLUMNS}
        csv={FACTOR_CSV}
      />
      <p class="note">A decision reads the operator's record and does not change it.</p>
    </>
  );
}
