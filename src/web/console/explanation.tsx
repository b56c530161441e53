/** Shows the dimensions that a score or a late label moved, with the causes; the others stand in a fold. */
import { FROM_PRIOR } from "../../pages/jis_plot.ts";
import { countInWords, nameInWords } from "../../pages/wording.ts";
import { joinWithAnd } from "../../scoring/wording.ts";
import { Figure } from "./parts.tsx";
import { Table } from "./table.tsx";
import type { Replay } from "./types.ts";

type Moved = Replay["explanation"][number] & {
  /** Its place in the answer. */
  readonly place: number;
};

const MOVED_CSV = {
  dimension: (row: Moved) => row.dimension,
  before: (row: Moved) => row.before,
  after: (row: Moved) => row.after,
  rules: (row: Moved) => row.rules.join(" "),
};

/** Sentences that move several dimensions alike. */
interface Shared {
  readonly dimensions: readonly string[];
  readonly rules: readonly string[];
}

/** The sentences that stand in more than one row, by the rows in which they stand. */
function sharedBy(explanation: Replay["explanation"]): readonly Shared[] {
  const places = new Map<string, string[]>();
  for (const { dimension, rules } of explanation) {
    for (const rule of new Set(rules)) places.set(rule, [...places.get(rule) ?? [], dimension]);
  }
  const groups = new Map<string, { readonly dimensions: readonly string[]; readonly rules: string[] }>();
  for (const [rule, dimensions] of places) {
    if (dimensions.length < 2) continue;
    const group = groups.get(dimensions.join()) ?? { dimensions, rules: [] };
    group.rules.push(rule);
    groups.set(dimensions.join(), group);
  }
  return [...groups.values()];
}

function SharedCauses({ shared, rows }: {
  readonly shared: readonly Shared[];
  /** The rows of the table below. */
  readonly rows: readonly Moved[];
}) {
  return shared.map(({ dimensions, rules }) => (
    <div class="small" key={dimensions.join()}>
      <p>
        {dimensions.join() === rows.map(({ dimension }) => dimension).join()
          ? "In every dimension below:"
          : `In ${joinWithAnd(dimensions.map((name) => nameInWords(name).toLowerCase()))}:`}
      </p>
      <ul>{rules.map((rule) => <li key={rule}>{rule}</li>)}</ul>
    </div>
  ));
}

/** The dimensions that moved, each with its causes; those that did not stand in a fold of one line. */
export function Explanation({ explanation, of, label, prior = [] }: {
  readonly explanation: Replay["explanation"];
  readonly of: string;
  readonly label: string;
  /** Dimensions whose number is the prior's. */
  readonly prior?: readonly string[];
}) {
  const rows = explanation.map((row, place) => ({ ...row, place }));
  const moved = rows.filter(({ before, after }) => before !== after);
  const still = rows.filter(({ before, after }) => before === after);
  const shared = sharedBy(explanation);
  const said = new Set(shared.flatMap(({ rules }) => rules));
  const isMoved = ({ dimensions }: Shared) => moved.some(({ dimension }) => dimensions.includes(dimension));
  const given = { of, said, prior };
  return (
    <>
      {moved.length === 0 ? <p>No dimension moved.</p> : (
        <>
          <SharedCauses shared={shared.filter(isMoved)} rows={moved} />
          <Dimensions {...given} label={label} rows={moved} />
        </>
      )}
      {still.length > 0 && (
        <details class="still">
          <summary>{countInWords(still.length, "dimension")} did not move</summary>
          <SharedCauses shared={shared.filter((one) => !isMoved(one))} rows={still} />
          <Dimensions {...given} label={`${label}: those that did not move`} rows={still} />
        </details>
      )}
    </>
  );
}

function Dimensions({ label, rows, of, said, prior }: {
  readonly label: string;
  readonly rows: readonly Moved[];
  readonly of: string;
  /** Causes that stand above the table. */
  readonly said: ReadonlySet<string>;
  readonly prior: readonly string[];
}) {
  return (
    <Table
      label={label}
      rows={rows}
      keyOf={(row) => row.dimension}
      columns={[{
        head: "Dimension",
        cell: ({ dimension }) => (
          <>
            {nameInWords(dimension)}
            {prior.includes(dimension) && <div class="small muted">{FROM_PRIOR}</div>}
          </>
        ),
      }, {
        head: "Before",
        isNumber: true,
        cell: ({ before, place }) => <Figure of={`${of}.${place}.before`} value={before} />,
      }, {
        head: "After",
        isNumber: true,
        cell: ({ after, place }) => <Figure of={`${of}.${place}.after`} value={after} />,
      }, {
        head: "Why",
        class: "small",
        cell: ({ rules }) => {
          const own = rules.filter((rule) => !said.has(rule));
          return own.length === 0 && rules.length > 0
            ? <span class="muted">As said above</span>
            : own.map((rule) => <p key={rule}>{rule}</p>);
        },
      }]}
      csv={MOVED_CSV}
    />
  );
}
