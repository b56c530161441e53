/** The table of the dimensions that one record moved or left as they were, each with the reason. */
import type { DimensionMoved } from "./explanation.ts";
import { type Markup, markup } from "./markup.ts";
import { nameInWords } from "./wording.ts";

/** A row for each dimension, in the order given. */
export function movesTable(rows: readonly DimensionMoved[]): Markup {
  return markup`<div class="scroll">
<table class="moves">
<thead><tr><th scope="col">Dimension</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Why</th></tr></thead>
<tbody>
${
    rows.map(({ dimension, before, after, rules }) =>
      markup`<tr><th scope="row">${nameInWords(dimension)}</th><td>${before}</td><td>${after}</td><td>${
        rules.join(" ")
      }</td></tr>
`
    )
  }</tbody>
</table>
</div>`;
}
