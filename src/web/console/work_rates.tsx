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

const RATES = [["departs_when_wrong", "Departs from wrong advice"], [
  "departs_when_right",
  "Departs from right advice",
]] as const;

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

/** Both rates of each kind of work. */
export function WorkRates({ estimates }: { readonly estimates: Estimates }) {
  return (
    <>
      <p>
        To depart from wrong advice is to find an error; to depart from right advice is a false alarm. Each
        range holds its rate with {shareInWords(ESTIMATE_LEVEL)}.
      </p>
      <Rows label="Rates by kind of work" columns={["Work", ...RATES.map(([, label]) => label)]}>
        {ratesByWork(estimates).map(({ kind, name, rates }) => {
          const place = kind === "live" ? "profile.estimates" : `profile.estimates.${kind}`;
          return (
            <tr key={kind}>
              <th scope="row">{name}</th>
              {RATES.map(([of]) => (
                <td key={of}>
                  {rates === null
                    ? <span class="muted">No known case</span>
                    : <Rate of={`${place}.${of}`} rate={rates[of]} />}
                </td>
              ))}
            </tr>
          );
        })}
      </Rows>
    </>
  );
}

/** The other estimates from the known cases of an operator. */
export function KnownEstimates({ estimates }: { readonly estimates: Estimates }) {
  return (
    <div class="estimates">
      <h3>Estimates from the known cases</h3>
      <Rows
        label="Estimates from the known cases"
        columns={["Quantity", "#Estimate", `#${shareInWords(ESTIMATE_LEVEL)} interval`, "What it says"]}
      >
        {estimateRows(estimates).map(({ name, estimate, interval, meaning }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{estimate}</td>
            <td class="number">{interval}</td>
            <td class="small">{meaning}</td>
          </tr>
        ))}
      </Rows>
    </div>
  );
}

function Rate({ of, rate }: {
  /** Its place in the answer. */
  readonly of: string;
  readonly rate: RateEstimate;
}) {
  const [known, remark] = casesInWords(rate).split(/(?<=:) /);
  const mean = <span data-rate={`${of}.mean`}>{rateInWords(rate.mean)}</span>;
  return (
    <div class="rate-line">
      {saysLittle(rate) ? <span class="muted">{mean}</span> : <strong>{mean}</strong>}
      <Drawing of={rateBar(rate)} />
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
