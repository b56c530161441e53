/** How a score changed in 30 days: an arrow with the points, and the same in words. */
import { scoreInWords } from "../../pages/wording.ts";
import { changeInWords, isSteady } from "./trend.ts";

export function Trend({ points }: { readonly points: number }) {
  const size = scoreInWords(Math.abs(points));
  const [arrow, words] = isSteady(points)
    ? ["→", "steady for 30 days"]
    : points > 0
    ? ["↗", `${size} points higher than 30 days ago`]
    : ["↘", `${size} points lower than 30 days ago`];
  return (
    <span class="trend" title={words}>
      <span aria-hidden="true">{arrow} {changeInWords(points)}</span>
      <span class="hidden">{words}</span>
    </span>
  );
}
