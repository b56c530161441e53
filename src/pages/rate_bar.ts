/** A rate with its interval as a line: for a card in which both stand in words, too. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import type { RateEstimate } from "../scoring/estimates.ts";
import { bar, px, tick } from "./chart.ts";
import { rateInWords, SAYS_LITTLE, saysLittle } from "./estimates.ts";
import { type Markup, markup } from "./markup.ts";

const SIZE = { width: 200, height: 18 };

/**
 * The interval of a rate as a pale bar from 0 to 100 %, and the rate as an upright line in it. A rate that says little is its interval
 * alone, as a hollow bar.
 */
export function rateBar(rate: RateEstimate): Markup {
  const { mean, low, high } = rate;
  const isLittle = saysLittle(rate);
  const { width, height } = SIZE;
  const x = scaleLinear([0, 1], [3, width - 3]);
  const place = { top: 5, height: height - 10 };
  const range = `interval ${rateInWords(low)} to ${rateInWords(high)}, of 0 to 100 %`;
  const label = isLittle ? `${range}: ${SAYS_LITTLE}` : `${rateInWords(mean)}, ${range}`;
  return markup`<svg class="rate" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" fill="currentColor"><line class="axis" x1="${
    px(x(0))
  }" x2="${px(x(1))}" y1="${height / 2}" y2="${height / 2}" stroke="currentColor"/>${
    bar({ x, from: low, to: high, ...place, look: isLittle ? "hollow" : "pale" })
  }${isLittle ? null : tick(x(mean), { className: "mark", ...place })}</svg>`;
}
