/** A rate with its interval as a line: for a card in which both stand in words, too. */
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
import type { RateEstimate } from "../scoring/estimates.ts";
import { bar, px, tick } from "./chart.ts";
import { rateInWords } from "./estimates.ts";
import { type Markup, markup } from "./markup.ts";

const SIZE = { width: 200, height: 18 };

/** The interval of a rate as a pale bar from 0 to 100 %, and the rate as an upright line in it. */
export function rateBar({ mean, low, high }: Pick<RateEstimate, "mean" | "low" | "high">): Markup {
  const { width, height } = SIZE;
  const x = scaleLinear([0, 1], [3, width - 3]);
  const place = { top: 5, height: height - 10 };
  const label = `${rateInWords(mean)}, interval ${rateInWords(low)} to ${rateInWords(high)}, of 0 to 100 %`;
  return markup`<svg class="rate" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" fill="currentColor"><line class="axis" x1="${
    px(x(0))
  }" x2="${px(x(1))}" y1="${height / 2}" y2="${height / 2}" stroke="currentColor"/>${
    bar({ x, from: low, to: high, ...place, look: "pale" })
  }${tick(x(mean), { className: "mark", ...place })}</svg>`;
}
