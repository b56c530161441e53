/** How an operator judges: live work, by stakes, sealed probes and announced tests side by side, with their intervals. */
import { estimateRows, rateInWords, ratesByWork } from "../../pages/estimates.ts";
import { rateBar } from "../../pages/rate_bar.ts";
import { percentInWords } from "../../pages/wording.ts";
import { ESTIMATE_LEVEL, type RateEstimate } from "../../scoring/estimates.ts";
import { Drawing } from "../shared/drawing.tsx";
import { Figure, Rows } from "./parts.tsx";
import type { Profile } from "./types.ts";

type Estimates = NonNullable<Profile["profile"]["estimates"]>;

const RATES = [["departs_when_wrong", "Departs from wrong advice"], [
  "departs_when_right",
  "Departs from right advice",
]] as const;

export function HowJudged({ estimates }: { readonly estimates: Estimates | null }) {
  if (estimates === null) return null;
  return (
    <>
      <h2>How the reviewer judges</h2>
      <p>
        To depart from wrong advice is to find an error; to depart from right advice is a false alarm. Each
        range holds its rate with {percentInWords(ESTIMATE_LEVEL)}.
      </p>
      <ul class="tiles work" aria-label="Rates by kind of work">
        {ratesByWork(estimates).map(({ kind, name, rates }) => {
          const place = kind === "live" ? "profile.estimates" : `profile.estimates.${kind}`;
          return (
            <li class="tile" key={kind}>
              <h3>{name}</h3>
              {rates === null ? <p class="small muted">No such case is known.</p> : (
                RATES.map(([of, label]) => (
                  <Rate key={of} label={label} of={`${place}.${of}`} rate={rates[of]} />
                ))
              )}
            </li>
          );
        })}
      </ul>
      <Rows
        label="Estimates from the known cases"
        columns={["Quantity", "#Estimate", `#${percentInWords(ESTIMATE_LEVEL)} interval`, "What it says"]}
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
    </>
  );
}

function Rate({ label, of, rate }: {
  readonly label: string;
  /** Its place in the answer. */
  readonly of: string;
  readonly rate: RateEstimate;
}) {
  return (
    <div class="rate-line">
      <span class="name">{label}</span>
      <strong data-rate={`${of}.mean`}>{rateInWords(rate.mean)}</strong>{" "}
      <span class="small">
        <span data-rate={`${of}.low`}>{rateInWords(rate.low)}</span> to{" "}
        <span data-rate={`${of}.high`}>{rateInWords(rate.high)}</span>,{" "}
        {rate.cases === 0 ? <>without a known case: what is usual</> : (
          <>
            <Figure of={`${of}.cases`} value={rate.cases} /> known {rate.cases === 1 ? "case" : "cases"}
          </>
        )}
      </span>
      <Drawing of={rateBar(rate)} />
    </div>
  );
}
