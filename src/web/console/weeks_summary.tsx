/** The weeks in a few sentences: the median and its way, who is below the threshold, and who crossed it in the last week. */
import { Fragment } from "preact";
import { WEEK_MS } from "../../domain/week.ts";
import { dayInWords, scoreInWords } from "../../pages/wording.ts";
import { weekInWords } from "../../pages/week_plots.ts";
import { Figure } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import type { Weeks } from "./types.ts";

/** Null if no median is known for the last week. Every figure is the answer's, or the difference of two of them as they are shown. */
export function WeeksSummary({ body }: { readonly body: Weeks }) {
  const { weeks } = body;
  const index = weeks.length - 1;
  const last = weeks[index];
  const first = weeks.find(({ median_jis }) => median_jis !== null);
  if (last === undefined || last.median_jis === null || first === undefined) return null;
  const isPresent = Date.parse(last.as_of) < Date.parse(last.week_start) + WEEK_MS;
  return (
    <p data-summary>
      {isPresent ? "The median is" : `In the week of ${weekInWords(last.week_start)} the median was`}{" "}
      <Figure of={`weeks.${index}.median_jis`} value={last.median_jis} />
      {first !== last &&
        `, ${changeInWords(first.median_jis!, last.median_jis)} since ${dayInWords(first.week_start)}`}
      .
      {last.verdicts !== null && (
        <>
          {" "}Below:{" "}
          <Figure of={`weeks.${index}.verdicts.non_compliant`} value={last.verdicts.non_compliant} />
          {sinceInWords(weeks)}. <Crossed body={body} isPresent={isPresent} />
        </>
      )}
    </p>
  );
}

/** The difference of two scores as they are shown: `up 18.0`. */
function changeInWords(from: number, to: number): string {
  const change = Number(scoreInWords(to)) - Number(scoreInWords(from));
  const shown = Math.abs(change).toFixed(1);
  return shown === "0.0" ? "unchanged" : `${change > 0 ? "up" : "down"} ${shown}`;
}

/** For how many weeks as many were below, or how many were the week before. */
function sinceInWords(weeks: Weeks["weeks"]): string {
  const counts = weeks.map(({ verdicts }) => verdicts?.non_compliant ?? null);
  const count = counts.at(-1);
  const before = counts.at(-2);
  if (before === undefined || before === null) return "";
  if (before !== count) return `, after ${before} the week before`;
  const equal = counts.length - 1 - counts.findLastIndex((one) => one !== count);
  return `, as for ${equal} weeks`;
}

/** The operators of the answer who fell below the threshold in the last week, and those who rose above it. */
function Crossed({ body: { operators, weeks, next_cursor: next }, isPresent }: {
  readonly body: Weeks;
  readonly isPresent: boolean;
}) {
  if (weeks.length < 2) return null;
  const moved = operators.map(({ operator_id: id, weeks: cells }) => ({
    id,
    was: cells.at(-2)?.verdict === "non_compliant",
    is: cells.at(-1)?.verdict === "non_compliant",
    isHere: cells.at(-1) != null,
  }));
  const isBelow = moved.filter(({ is }) => is).length;
  // The answer may have a part of the operators; those who are below are then all in it, or not.
  const isWhole = next === null || isBelow === weeks.at(-1)!.verdicts!.non_compliant;
  const fell = moved.filter(({ was, is }) => is && !was);
  const rose = moved.filter(({ was, is, isHere }) => was && !is && isHere);
  return (
    <>
      New {isPresent ? "this" : "in that"} week{isWhole ? "" : `, of the ${operators.length} lowest`}:{" "}
      {fell.length === 0 ? "nobody" : <Names ids={fell.map(({ id }) => id)} />}.
      {rose.length > 0 && (
        <>
          {" "}No longer below: <Names ids={rose.map(({ id }) => id)} />.
        </>
      )}
    </>
  );
}

function Names({ ids }: { readonly ids: readonly string[] }) {
  return (
    <>
      {ids.map((id, index) => (
        <Fragment key={id}>
          {index === 0 ? "" : index === ids.length - 1 ? " and " : ", "}
          <Reviewer id={id} />
        </Fragment>
      ))}
    </>
  );
}
