/** How an operator judges: live work, by stakes, sealed probes and announced tests as rows, both rates with their intervals. */
import { Fragment } from "preact";
import { casesInWords, estimateRows, rateInWords, ratesByWork, saysLittle } from "../../pages/estimates.ts";
import { KNOWN_CASE, knownCasesPieces } from "../../pages/known_cases_words.ts";
import { rateBar } from "../../pages/rate_bar.ts";
import { shareInWords } from "../../pages/wording.ts";
import { ESTIMATE_LEVEL, type RateEstimate } from "../../scoring/estimates.ts";
import { Drawing } from "../shared/drawing.tsx";
import { Figure, Rows } from "./parts.tsx";
import type { Profile } from "./types.ts";

type Estimates = NonNullable<Profile["profile"]["estimates"]>;

const RATES = [
  ["departs_when_wrong", "Departs from wrong advice (finds the error: more is better)"],
  ["departs_when_right", "Departs from right advice (false alarm: less is better)"],
] as const;

/** How many cases are known, and how much they weigh. */
export function KnownCases({ profile }: Pick<Profile, "profile">) {
  const pieces = knownCasesPieces(
    profile,
    (place, value) => <Figure of={`profile.${place}`} value={value} />,
  );
  return (
    <p>
      {KNOWN_CASE} {pieces.map((piece, index) => <Fragment key={index}>{piece}</Fragment>)}
    </p>
  );
}

/** Both rates of each kind of work; the kinds of which nothing is known stand in one line. */
export function WorkRates({ estimates }: { readonly estimates: Estimates }) {
  const work = ratesByWork(estimates);
  const unknown = work.filter(({ rates }) => rates === null).map(({ name }) => name.toLowerCase());
  return (
    <div class="work-rates">
      <p>Each range holds its rate with {shareInWords(ESTIMATE_LEVEL)}.</p>
      <Rows label="Rates by kind of work" columns={["Work", ...RATES.map(([, label]) => label)]}>
        {work.map(({ kind, name, rates }, index) => {
          const place = kind === "live" ? "profile.estimates" : `profile.estimates.${kind}`;
          return rates !== null && (
            <tr key={kind}>
              <th scope="row">{name}</th>
              {RATES.map(([of]) => (
                <td key={of}>
                  <Rate of={`${place}.${of}`} rate={rates[of]} hasEnds={index === 0} />
                </td>
              ))}
            </tr>
          );
        })}
      </Rows>
      {unknown.length > 0 && <p class="small muted">No known case: {unknown.join(", ")}</p>}
    </div>
  );
}

/** The other estimates from the known cases of an operator: what they say, and their numbers in a fold. */
export function KnownEstimates({ estimates }: { readonly estimates: Estimates }) {
  const rows = estimateRows(estimates);
  return (
    <div class="estimates">
      <ul>{rows.map(({ name, meaning }) => <li key={name}>{meaning}</li>)}</ul>
      <details>
        <summary>Statistics</summary>
        <h3>Estimates from the known cases</h3>
        <Rows
          label="Estimates from the known cases"
          columns={["Quantity", "#Estimate", `#${shareInWords(ESTIMATE_LEVEL)} interval`]}
        >
          {rows.map(({ name, estimate, interval }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{estimate}</td>
              <td class="number">{interval}</td>
            </tr>
          ))}
        </Rows>
      </details>
    </div>
  );
}

function Rate({ of, rate, hasEnds }: {
  /** Its place in the answer. */
  readonly of: string;
  readonly rate: RateEstimate;
  /** Whether the ends of the bar are named. */
  readonly hasEnds: boolean;
}) {
  const [known, remark] = casesInWords(rate).split(/(?<=:) /);
  const mean = <span data-rate={`${of}.mean`}>{rateInWords(rate.mean)}</span>;
  return (
    <div class="rate-line">
      {saysLittle(rate) ? <span class="muted">{mean}</span> : <strong>{mean}</strong>}
      <Drawing of={rateBar(rate)} />
      {hasEnds && (
        // The picture says its ends to who does not see it.
        <span class="rate-ends small muted" aria-hidden="true">
          <span>{rateInWords(0)}</span>
          <span>{rateInWords(1)}</span>
        </span>
      )}
      <span class="small muted">
        <span class="whole">
          <span data-rate={`${of}.low`}>{rateInWords(rate.low)}</span> to{" "}
          <span data-rate={`${of}.high`}>{rateInWords(rate.high)}</span>,
        </span>{" "}
        <span class="whole">
          {rate.cases > 0 && <Figure of={`${of}.cases`} value={rate.cases} />}
          {rate.cases > 0 ? known!.slice(String(rate.cases).length) : known}
        </span>
        {remark !== undefined && ` ${remark}`}
      </span>
    </div>
  );
}
