/** The introduction: the purpose of the demo, the data that it measures and keeps, and its beginning. */
import { useState } from "preact/hooks";
import { formatQuantity } from "../../scoring/wording.ts";
import { CASES, FIRST_CASES } from "./cases.ts";
import { loadCollector, type Measure, timeAlone } from "../shared/measuring.ts";
import { Stage } from "../shared/stage.tsx";

interface IntroProperties {
  readonly collector: string;
  readonly keptDays: number;
  readonly onBegin: (count: number, measure: Measure) => void;
}

type Loading = "none" | "loading" | "failed";

export function Intro({ collector, keptDays, onBegin }: IntroProperties) {
  const [loading, setLoading] = useState<Loading>("none");
  const [count, setCount] = useState(FIRST_CASES);
  const load = async () => {
    setLoading("loading");
    try {
      onBegin(count, await loadCollector(collector));
    } catch {
      setLoading("failed");
    }
  };
  return (
    <Stage title="Judge an AI's advice" isFirst>
      <p class="lead">
        An AI advises, you decide. Some of its advice is wrong, and its confidence does not tell which. At the
        end you see what this service makes of your decisions: a Judgment Independence Score, and what moved
        it.
      </p>
      <Length count={count} isFixed={loading === "loading"} onCount={setCount} />
      {loading === "failed"
        ? <Unmeasured onAgain={load} onBegin={() => onBegin(count, timeAlone)} />
        : (
          <div class="actions">
            <button type="button" class="main" disabled={loading === "loading"} onClick={load}>
              {loading === "loading" ? "One moment…" : "Begin with case 1"}
            </button>
          </div>
        )}
      <p class="small">
        Read before you begin: <a href="#what">what is measured and kept</a>.
      </p>
      <div class="panels">
        <section aria-labelledby="how">
          <h2 id="how">How it goes</h2>
          <ul>
            <li>
              You judge {FIRST_CASES}{" "}
              short cases, about a minute each. All that is needed stands in the case. After them you can go
              on to {CASES.length}, or you choose {CASES.length} now.
            </li>
            <li>You accept the advice, change it, decide otherwise, put the case off or pass it on.</li>
            <li>You are told what was right after the last case.</li>
            <li>
              It is no test of you: of so few cases a score says little. It shows how the measure works: what
              counts is telling right advice from wrong. To disagree earns nothing by itself, and neither does
              to be slow.
            </li>
          </ul>
        </section>
        <section aria-labelledby="what">
          <h2 id="what">What is measured and kept</h2>
          <ul>
            <li>
              For each case: your decision, whether it proved right, the time you took, how many parts of the
              case you looked at closely, how far you scrolled, and how much of the folded material you
              opened. Never what you type, or where you point.
            </li>
            <li>
              These records are sent together after the last case, under a name that this page makes up at
              random. If you go on after {FIRST_CASES} cases, all {CASES.length}{" "}
              are sent as a second run, under another name. The service keeps them for{" "}
              {formatQuantity(String(keptDays), "day")}{" "}
              and then deletes them. Anybody to whom you give the link can look at them.
            </li>
            <li>
              No account, no cookie. Leave before the last case of a run, and nothing of it is sent or kept.
            </li>
          </ul>
        </section>
      </div>
    </Stage>
  );
}

interface LengthProperties {
  readonly count: number;
  /** True while the run with this length begins. */
  readonly isFixed: boolean;
  readonly onCount: (count: number) => void;
}

function Length({ count, isFixed, onCount }: LengthProperties) {
  return (
    <fieldset class="choices" disabled={isFixed}>
      <legend>How many cases?</legend>
      {[FIRST_CASES, CASES.length].map((offered) => (
        <label key={offered} class="choice">
          <input
            type="radio"
            name="count"
            value={offered}
            checked={count === offered}
            onChange={() => onCount(offered)}
          />
          <span>
            {offered} cases, about {offered} minutes
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Unmeasured({ onAgain, onBegin }: { readonly onAgain: () => void; readonly onBegin: () => void }) {
  return (
    <div class="notice fair">
      <div role="alert">
        <p>
          <strong>The measuring script cannot be loaded.</strong>{" "}
          Without it the page takes only the time for each case; the rest counts as not measured, which is not
          the same as nothing done, but weighs less.
        </p>
      </div>
      <div class="actions">
        <button type="button" onClick={onAgain}>Load it again</button>
        <button type="button" class="main" onClick={onBegin}>Go on without measurements</button>
      </div>
    </div>
  );
}
