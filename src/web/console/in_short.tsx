/** The organization in short: a few figures of the last weeks, each with a small picture and the way to its chart in Trends. */
import type { ComponentChildren } from "preact";
import type { Markup } from "../../pages/markup.ts";
import { hasMedian, weekInWords } from "../../pages/week_plots.ts";
import { medianSpark, operatorsSpark, probesSpark, verdictsSpark } from "../../pages/week_sparks.ts";
import { countInWords, scoreInWords } from "../../pages/wording.ts";
import { Drawing } from "../shared/drawing.tsx";
import { Figure } from "./parts.tsx";
import { useSession } from "./session.tsx";
import type { Weeks } from "./types.ts";
import { NoWeeks, probesInWords } from "./weeks.tsx";

/** Four figures: the median, the verdicts, the probes, and the map of operators and weeks. */
export function InShort({ body }: { readonly body: Weeks }) {
  const { weeks, probes, operators, next_cursor: next } = body;
  const { signedIn: { minimum, privacy } } = useSession();
  const index = weeks.findLastIndex(hasMedian);
  const last = weeks[index];
  if (last?.median_interval == null || last.verdicts === null) return <NoWeeks weeks={weeks} />;
  const { verdicts, median_interval: interval } = last;
  const at = `weeks.${index}`;
  const span = `${countInWords(weeks.length, "week")} to that of ${weekInWords(weeks.at(-1)!.week_start)}`;
  return (
    <ul class="tiles in-short">
      <Short
        name="Median JIS"
        chart="median"
        value={<Figure of={`${at}.median_jis`} value={last.median_jis} />}
        spark={medianSpark(weeks, {
          label: `The median in the ${span}, now ${scoreInWords(last.median_jis!)}, with its range shaded`,
          minimum,
        })}
      >
        <Figure of={`${at}.median_interval.low`} value={interval.low} /> to{" "}
        <Figure of={`${at}.median_interval.high`} value={interval.high} />, with 90 %
      </Short>
      <Short
        name="Operators by verdict"
        chart="verdicts"
        value={
          <a href="/console/operators?verdict=non_compliant">
            <Figure of={`${at}.verdicts.non_compliant`} value={verdicts.non_compliant} /> below
          </a>
        }
        spark={verdictsSpark(
          weeks,
          `The shares of the verdicts in the ${span}. Filled: below the threshold; dashed: undetermined; outlined: meets it`,
        )}
      >
        <a href="/console/operators?verdict=undetermined">
          <Figure of={`${at}.verdicts.undetermined`} value={verdicts.undetermined} /> undetermined
        </a>,{" "}
        <a href="/console/operators?verdict=compliant">
          <Figure of={`${at}.verdicts.compliant`} value={verdicts.compliant} /> meet it
        </a>
      </Short>
      <Short
        name="Sealed probes"
        chart="probes"
        value={probes === null ? "None" : (
          <>
            <Figure of="probes.wrong.count" value={probes.wrong.count} /> of{" "}
            <Figure of="probes.wrong.probes" value={probes.wrong.probes} />
          </>
        )}
        spark={probes !== null && probesSpark(
          weeks,
          `The probes of the ${span}. Above the line: the share of errors found; below it: of false alarms`,
        )}
      >
        {probes === null ? probesInWords(privacy) : (
          <>
            errors found; <Figure of="probes.right.count" value={probes.right.count} /> false alarms in{" "}
            <Figure of="probes.right.probes" value={probes.right.probes} />
          </>
        )}
      </Short>
      <Short
        name="Operators by week"
        chart="operators"
        value={<Figure of={`${at}.operators`} value={last.operators} />}
        spark={operatorsSpark(
          operators,
          `${countInWords(operators.length, "operator")}, the lowest score on top, in the ${span}`,
        )}
      >
        {next === null ? "the lowest on top" : `the ${operators.length} lowest`}; thick: below, thin: meets it
      </Short>
    </ul>
  );
}

/** One figure; a click anywhere on it leads to its chart. */
function Short({ name, chart, value, spark, children }: {
  readonly name: string;
  /** The end of the chart's id in Trends. */
  readonly chart: "median" | "verdicts" | "probes" | "operators";
  readonly value: ComponentChildren;
  readonly spark: Markup | false;
  readonly children: ComponentChildren;
}) {
  return (
    <li class="tile">
      <a class="name" href={`/console/trends#first-${chart}`}>{name}</a>
      <span class="value">{value}</span>
      <span class="more">{children}</span>
      {spark !== false && <Drawing of={spark} class="small-chart" />}
    </li>
  );
}
