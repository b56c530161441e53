/** The newest records of a reviewer: those that changed something as a table, the others in a fold. */
import type { OwnPage } from "../../domain/own_page.ts";
import { countInWords, nameInWords, scoreInWords } from "../../pages/wording.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import { localInWords } from "../shared/local_time.ts";

type OwnRecord = OwnPage["records"][number];

interface Shown {
  readonly record: OwnRecord;
  /** Its verdict, if that is another than before; else null. */
  readonly verdict: OwnRecord["verdict"];
  readonly isStill: boolean;
}

/** The records with what each of them changed against the score before it, as far as that is on the page. */
function shownOf(records: readonly OwnRecord[]): readonly Shown[] {
  return records.map((record, index) => {
    const before = records.slice(index + 1).find(({ kind }) => kind === "score");
    const { jis, explanation } = record;
    const isChanged = before !== undefined && record.kind === "score" && before.verdict !== record.verdict;
    const isSameScore = jis === null ||
      (before !== undefined && before.jis !== null && scoreInWords(jis) === scoreInWords(before.jis));
    return {
      record,
      verdict: isChanged ? record.verdict : null,
      isStill: explanation.length === 0 && !isChanged && isSameScore,
    };
  });
}

export function Records({ records, contest }: {
  /** Newest first. */
  readonly records: OwnPage["records"];
  readonly contest: (id: string) => void;
}) {
  if (records.length === 0) return <p>There is no record.</p>;
  const shown = shownOf(records);
  const [still, changed] = [shown.filter(({ isStill }) => isStill), shown.filter(({ isStill }) => !isStill)];
  const noun = still.every(({ record }) => record.kind === "score") ? "case" : "record";
  return (
    <>
      {changed.length > 0 && (
        <RecordTable label="What moved the score lately" rows={changed} contest={contest} />
      )}
      {still.length > 0 && (
        <details>
          <summary>{countInWords(still.length, noun)} changed nothing</summary>
          <RecordTable label="What changed nothing lately" rows={still} contest={contest} />
        </details>
      )}
    </>
  );
}

const HEADS = ["Date", "Decision", "Score", "Change", "If you disagree"] as const;

function RecordTable({ label, rows, contest }: {
  readonly label: string;
  readonly rows: readonly Shown[];
  readonly contest: (id: string) => void;
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      {/* The roles stay if the style draws the rows as cards. */}
      <table class="rows cards" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {HEADS.map((head) => <th key={head} scope="col" role="columnheader">{head}</th>)}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <RecordRow key={`${row.record.kind} ${row.record.id}`} {...row} contest={contest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RecordRow({ record, verdict, contest }: Shown & { readonly contest: (id: string) => void }) {
  const { id, kind, timestamp, decision, jis, explanation } = record;
  const [, ofDecision, ofScore, ofChange, ofContest] = HEADS;
  const act = `Contest this ${kind === "score" ? "case" : "decision"}`;
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        {localInWords(timestamp)}
        <span class="second">
          {kind === "score" ? "case" : "decision"} <code>{id}</code>
        </span>
      </th>
      <td role="cell" data-label={ofDecision}>{nameInWords(decision)}</td>
      <td role="cell" data-label={ofScore}>
        {jis !== null && scoreInWords(jis)}
        {verdict !== null && <span class="second">since then: {VERDICT_WORDS[verdict]}</span>}
      </td>
      <td role="cell" data-label={ofChange}>
        {explanation.length === 0 ? "none" : (
          <details>
            <summary>{explanation.map(({ dimension }) => nameInWords(dimension)).join(", ")}</summary>
            <ul>
              {explanation.map(({ dimension, before, after, rules }) => (
                <li key={dimension}>
                  {nameInWords(dimension)}: {before} → {after}. {rules.join(" ")}
                </li>
              ))}
            </ul>
          </details>
        )}
      </td>
      <td role="cell" data-label={ofContest}>
        <button type="button" aria-label={`${act}: ${id}`} onClick={() => contest(id)}>{act}</button>
      </td>
    </tr>
  );
}
