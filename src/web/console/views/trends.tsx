/** Two spans of weeks, or two teams, side by side, with what can be said of their difference. */
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { weekInWords } from "../../../pages/week_plots.ts";
import { addressOf, Answered, Figure, View } from "../parts.tsx";
import type { Weeks } from "../types.ts";
import { type Asked, useAnswer } from "../use_answer.ts";
import { ChooseWeeks, HeatMap, WeekCharts, type WeekChoice } from "../weeks.tsx";
import { WeeksSummary } from "../weeks_summary.tsx";

const PATH = "/console/trends";
/** Operators whose weeks each side shows. */
const ROWS = "15";

/** The ends of the names that the choices of both sides have in the address. */
const SIDES = ["", "2"] as const;

export function TrendsView() {
  const { query, route } = useLocation();
  const choices = [chosen(query, SIDES[0]), chosen(query, SIDES[1])] as const;
  const isComparing = query.compare !== undefined;
  const first = useWeeks(choices[0]);
  useChartOfAddress(first.loaded.state === "ready");
  const choose = (side: 0 | 1, choice: WeekChoice) => {
    const [one, other] = side === 0 ? [choice, choices[1]] : [choices[0], choice];
    route(addressOf(PATH, {
      ...one,
      ...(isComparing ? { compare: "1", from2: other.from, to2: other.to, team2: other.team } : {}),
    }));
  };
  return (
    <View title="Trends">
      {isComparing ? <Both first={first} choices={choices} onChoose={choose} /> : (
        <>
          <ChooseWeeks
            id="first"
            label="Weeks and team"
            choice={choices[0]}
            shown={shownBy(first)}
            onChoose={(choice) => choose(0, choice)}
          />
          <p>
            <a class="button" href={addressOf(PATH, { ...choices[0], compare: "1" })}>
              Compare with other weeks or another team
            </a>
          </p>
          <Answered asked={first}>
            {(body) => (
              <>
                <WeeksSummary body={body} />
                <WeekCharts id="first" heading="h2" body={body} />
                <HeatMap id="first-operators" body={body} />
              </>
            )}
          </Answered>
        </>
      )}
    </View>
  );
}

function Both({ first, choices, onChoose }: {
  readonly first: Asked<Weeks>;
  readonly choices: readonly [WeekChoice, WeekChoice];
  readonly onChoose: (side: 0 | 1, choice: WeekChoice) => void;
}) {
  const second = useWeeks(choices[1]);
  const sides = [["first", "First", first], ["second", "Second", second]] as const;
  return (
    <>
      <p>
        <a class="button" href={addressOf(PATH, { ...choices[0] })}>Show the first alone</a>
      </p>
      {addressOf("", { ...choices[0] }) === addressOf("", { ...choices[1] })
        ? <p>Choose other weeks or another team for one of them.</p>
        : first.loaded.state === "ready" && second.loaded.state === "ready" && (
          <Difference first={first.loaded.body} second={second.loaded.body} />
        )}
      <div class="panels">
        {sides.map(([id, name, asked], index) => (
          <section key={id} aria-labelledby={`${id}-head`}>
            <h2 id={`${id}-head`}>{name}</h2>
            <ChooseWeeks
              id={id}
              side={SIDES[index]}
              label={`Weeks and team of the ${name.toLowerCase()}`}
              choice={choices[index]!}
              shown={shownBy(asked)}
              onChoose={(choice) => onChoose(index === 0 ? 0 : 1, choice)}
            />
            <Answered asked={asked} side={SIDES[index]}>
              {(body) => <WeekCharts id={id} heading="h3" body={body} />}
            </Answered>
          </section>
        ))}
      </div>
    </>
  );
}

/** The medians at the end of both spans, and whether their intervals are apart. */
function Difference({ first, second }: { readonly first: Weeks; readonly second: Weeks }) {
  const [one, other] = [first.weeks.at(-1), second.weeks.at(-1)];
  if (one?.median_interval == null || other?.median_interval == null) return null;
  const apart = one.median_interval.low > other.median_interval.high ||
    other.median_interval.low > one.median_interval.high;
  const side = ({ week_start, median_interval, operators }: typeof one, body: Weeks) => (
    <>
      <Figure of={`weeks.${body.weeks.length - 1}.median_jis`} value={body.weeks.at(-1)!.median_jis} /> (
      <Figure of={`weeks.${body.weeks.length - 1}.median_interval.low`} value={median_interval!.low} /> to
      {" "}
      <Figure of={`weeks.${body.weeks.length - 1}.median_interval.high`} value={median_interval!.high} />), of
      {" "}
      <Figure of={`weeks.${body.weeks.length - 1}.operators`} value={operators} />
      {operators === 1 ? " operator" : " operators"} in the week of {weekInWords(week_start)}
      {body.team !== null && (
        <>
          {" "}
          for <bdi>{body.team}</bdi>
        </>
      )}
    </>
  );
  return (
    <div class={`notice ${apart ? "fair" : ""}`}>
      <h2>{apart ? "The medians differ clearly" : "The medians do not differ clearly"}</h2>
      <p>
        First: {side(one, first)}. Second: {side(other, second)}. {apart
          ? "The intervals do not overlap."
          : "The intervals overlap, so that the scores may tell no difference."}
      </p>
    </div>
  );
}

/** Goes to the chart that the address names: it stands only after the answer, when the browser has looked for it in vain. */
function useChartOfAddress(isReady: boolean): void {
  useEffect(() => {
    const chart = isReady ? document.getElementById(location.hash.slice(1)) : null;
    if (chart === null) return;
    chart.tabIndex = -1;
    chart.focus();
    chart.scrollIntoView();
  }, [isReady]);
}

function useWeeks({ from, to, team }: WeekChoice): Asked<Weeks> {
  return useAnswer<Weeks>({ path: addressOf("/v1/organization/weeks", { from, to, team, limit: ROWS }) });
}

function shownBy({ loaded }: Asked<Weeks>): Weeks | null {
  return loaded.state === "ready" ? loaded.body : null;
}

/** The choice that the address has for one side. */
function chosen(query: Readonly<Record<string, string>>, side: (typeof SIDES)[number]): WeekChoice {
  const { [`from${side}`]: from = "", [`to${side}`]: to = "", [`team${side}`]: team = "" } = query;
  return { from, to, team };
}
