/** An organization or a team week by week: the choice of the weeks, the charts, the probes, and the map of operators. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { VerdictStatus } from "../../domain/enums.ts";
import { isWide, SAYS_LITTLE } from "../../pages/estimates.ts";
import { dayInWords, shareInWords } from "../../pages/wording.ts";
import { medianFigure, verdictsFigure, weekInWords } from "../../pages/week_plots.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import { Drawing } from "../shared/drawing.tsx";
import { save } from "../shared/save.ts";
import { type CsvColumns, csvName, csvOf } from "./csv.ts";
import { Choice, ChosenOnPaper, Days } from "./filters.tsx";
import { Folded } from "./folded.tsx";
import { Empty, Figure, Tile, toneOf } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { useSession } from "./session.tsx";
import type { Weeks } from "./types.ts";
import { UnknownChoices } from "./unknown.tsx";

/** The weeks and the team that somebody looks at, as the address has them; each is empty if it is not chosen. */
export interface WeekChoice {
  readonly from: string;
  readonly to: string;
  readonly team: string;
}

/** Fields for the first day, the last day and the team. `label` names the group; `id` is unique in the page. */
export function ChooseWeeks({ id, side = "", label, choice, shown, onChoose }: {
  readonly id: string;
  /** The end of the names that the choices have in the address. */
  readonly side?: string;
  readonly label: string;
  readonly choice: WeekChoice;
  /** The weeks that are shown now; null while they are not known. */
  readonly shown: Weeks | null;
  readonly onChoose: (choice: WeekChoice) => void;
}) {
  const named = (shown?.teams ?? []).flatMap(({ team }) => team === null ? [] : [team]);
  // Weeks that nobody chose are those that are shown.
  const days = { from: shown?.weeks[0]?.week_start ?? "", to: shown?.weeks.at(-1)?.week_start ?? "" };
  const isListed = choice.team === "" || named.includes(choice.team);
  // A team that has no figures, and is in no list, is no choice.
  const isUnknown = !isListed && shown !== null && shown.weeks.every(({ operators }) => operators === 0);
  const offered = isListed || isUnknown ? named : [...named, choice.team];
  const chosen = [
    ["Weeks", days.from === "" ? "" : `${dayInWords(days.from)} to ${dayInWords(days.to)}`],
    ["Team", choice.team || "all operators"],
  ] as const;
  return (
    <>
      {isUnknown && <UnknownChoices names={[`team${side}`]} />}
      <ChosenOnPaper choices={chosen} />
      <Folded summary="Choose weeks or a team" choices={chosen}>
        <div class="filters" role="group" aria-label={label}>
          <Days
            id={`${id}-`}
            words={SPAN}
            since={choice.from || days.from}
            until={choice.to || days.to}
            onSent={({ since, until }) => onChoose({ ...choice, from: since, to: until })}
          />
          {offered.length > 0 && (
            <Choice
              id={`${id}-team`}
              label="Team"
              value={isUnknown ? "" : choice.team}
              options={[["", "All operators"], ...offered.map((team) => [team, team] as const)]}
              onChosen={(team) => onChoose({ ...choice, team })}
            />
          )}
        </div>
      </Folded>
    </>
  );
}

const SPAN = { since: "From the week of (UTC)", until: "To that of (UTC)", show: "Show these weeks" };

/** Stands in place of the figures of weeks that have none. */
export function NoWeeks({ weeks }: Pick<Weeks, "weeks">) {
  return (
    <Empty>
      <p>
        {weeks.some(({ operators }) => operators > 0)
          ? "There are fewer than five operators: where they are pseudonyms, no figures of so few are shown."
          : "Nobody was scored in these weeks."}
      </p>
    </Empty>
  );
}

/** Why there are no figures of probes. */
export function probesInWords(privacy: "named" | "pseudonymous"): string {
  return privacy === "named"
    ? "was opened in these weeks"
    : "was opened in these weeks, or fewer than five operators had one";
}

/** The charts of the weeks. `id` is unique in the page; `heading` is the level of a heading among them. */
export function WeekCharts({ id, heading: Heading, body: { weeks, probes } }: {
  readonly id: string;
  readonly heading: "h2" | "h3";
  readonly body: Weeks;
}) {
  const { signedIn: { minimum, privacy } } = useSession();
  const median = medianFigure(weeks, {
    id: `${id}-median`,
    caption: "Median JIS at the end of each week",
    minimum,
  });
  const verdicts = verdictsFigure(weeks, { id: `${id}-verdicts`, caption: "Operators by verdict" });
  if (median === null || verdicts === null) return <NoWeeks weeks={weeks} />;
  return (
    <>
      <div class="panels">
        <Drawing of={median} class="of-weeks" />
        <Drawing of={verdicts} class="of-weeks" />
      </div>
      <Heading id={`${id}-probes`}>Sealed probes of these weeks</Heading>
      {probes === null ? <p class="muted">None {probesInWords(privacy)}.</p> : <Probes probes={probes} />}
    </>
  );
}

function Probes({ probes }: { readonly probes: NonNullable<Weeks["probes"]> }) {
  const { wrong, right, lost } = probes;
  const counted = (name: "wrong" | "right", { count, probes: all, low, high }: typeof wrong) => (
    <span class={low === null || high === null || isWide({ low, high }) ? "muted little" : undefined}>
      <Figure of={`probes.${name}.count`} value={count} /> of{" "}
      <Figure of={`probes.${name}.probes`} value={all} />
    </span>
  );
  return (
    <ul class="tiles">
      <Tile name="Errors found" more={intervalInWords(wrong)}>{counted("wrong", wrong)}</Tile>
      <Tile name="False alarms" more={intervalInWords(right)}>{counted("right", right)}</Tile>
      <Tile name="Lost">
        <Figure of="probes.lost" value={lost} />
      </Tile>
    </ul>
  );
}

/** The exact interval of a share, in percent, with a remark if it says little. */
function intervalInWords(
  { low, high }: { readonly low: number | null; readonly high: number | null },
): string {
  if (low === null || high === null) return "none yet";
  const remark = isWide({ low, high }) ? `: ${SAYS_LITTLE}` : "";
  return `${shareInWords(low)} to ${shareInWords(high)}, with 95 %${remark}`;
}

/** A verdict's mark beside its colour: the shape that it has everywhere. */
const SIGNS: Readonly<Record<VerdictStatus, string>> = {
  compliant: "●",
  undetermined: "○",
  non_compliant: "◆",
};

/** Weeks of the map that a telephone shows at once. */
const NARROW_WEEKS = 3;

const MAP_LABEL = "Scores by operator and week";

/** Each operator's score at the end of each week, the lowest latest score first. `id` is unique in the page. */
export function HeatMap(
  { id: idOfMap, body: { weeks, operators, next_cursor: next } }: {
    readonly id: string;
    readonly body: Weeks;
  },
) {
  const map = useRef<HTMLDivElement>(null);
  // The map begins with the latest weeks if it is wider than its place.
  useLayoutEffect(() => map.current?.scrollTo({ left: map.current.scrollWidth }), [weeks]);
  if (operators.length === 0) return null;
  const columns: CsvColumns<Weeks["operators"][number]> = {
    operator_id: (row) => row.operator_id,
    team: (row) => row.team,
    ...Object.fromEntries(
      weeks.flatMap(({ week_start: start }, index) => [
        [`jis ${start}`, (row: Weeks["operators"][number]) => row.weeks[index]?.jis],
        [`verdict ${start}`, (row: Weeks["operators"][number]) => row.weeks[index]?.verdict],
      ]),
    ),
  };
  const keep = () =>
    save(csvName(MAP_LABEL, new Date()), "text/csv;charset=utf-8", csvOf(columns, operators));
  return (
    <>
      <h2 id={idOfMap}>{MAP_LABEL}</h2>
      <p class="note">
        {SIGNS.compliant} meets the threshold, {SIGNS.undetermined} undetermined, {SIGNS.non_compliant}{" "}
        below it; in italics: no interaction in that week; –: none in the 90 days before its end.
        {weeks.length > NARROW_WEEKS && (
          <span class="narrow-only">
            {` The last ${NARROW_WEEKS} of ${weeks.length} weeks are in sight; scroll sideways for the others.`}
          </span>
        )}
      </p>
      <div class="scroll of-map" tabIndex={0} role="region" aria-label={MAP_LABEL} ref={map}>
        <table class="heat">
          <thead>
            <tr>
              <th scope="col">Operator</th>
              {weeks.map(({ week_start: start }) => <th scope="col" key={start}>{weekInWords(start)}</th>)}
            </tr>
          </thead>
          <tbody>
            {operators.map(({ operator_id: id, weeks: cells }, row) => (
              <tr key={id}>
                <th scope="row">
                  <Reviewer id={id} />
                </th>
                {cells.map((cell, index) =>
                  cell === null ? <td key={weeks[index]!.week_start} class="absent">–</td> : (
                    <td
                      key={weeks[index]!.week_start}
                      class={`${toneOf(cell.verdict)}${cell.interacted ? "" : " away"}`}
                    >
                      <Figure of={`operators.${row}.weeks.${index}.jis`} value={cell.jis} />
                      {cell.verdict !== null && (
                        <>
                          <span aria-hidden="true">{` ${SIGNS[cell.verdict]}`}</span>
                          <span class="hidden">{`, ${VERDICT_WORDS[cell.verdict].toLowerCase()}`}</span>
                        </>
                      )}
                      {!cell.interacted && <span class="hidden">, no interaction in the week</span>}
                    </td>
                  )
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="table-foot">
        <button type="button" onClick={keep} aria-label={`Save as CSV: ${MAP_LABEL}`}>Save as CSV</button>
      </p>
      {next !== null && (
        <p class="note">
          The {operators.length} with the lowest latest scores.{" "}
          <a href="/console/operators?sort=jis">All operators, the lowest first</a>
        </p>
      )}
    </>
  );
}
