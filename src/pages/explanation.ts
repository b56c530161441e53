/**
 * The effect of one case: the dimensions that changed and the model's sentences on them, each sentence once.
 */
import { type Markup, markup } from "./markup.ts";
import { dataTable } from "./tables.ts";
import { nameInWords, pointsInWords } from "./wording.ts";

export interface DimensionMoved {
  readonly dimension: string;
  /** 0 to 100. */
  readonly before: number;
  readonly after: number;
  readonly rules: readonly string[];
}

/** The explanation as markup; null if it can no longer be given. */
export function movedContent(explanation: readonly DimensionMoved[] | null): Markup {
  if (explanation === null) {
    return markup`<p class="note">The model that gave this score is not in use any more, so that what moved it is no longer told.</p>`;
  }
  const moved = explanation.filter(({ before, after }) => before !== after);
  if (moved.length === 0) return markup`<p class="note">No dimension moved by a whole point.</p>`;
  // One rule often bears on several dimensions.
  const sentences = [...new Set(moved.flatMap(({ rules }) => rules))];
  return markup`<div class="moves">${
    dataTable({
      columns: ["Dimension", "Before", "After"],
      rows: moved.map((
        { dimension, before, after },
      ) => [nameInWords(dimension), pointsInWords(before), pointsInWords(after)]),
    })
  }</div>
<ul class="small">${sentences.map((sentence) => markup`<li>${sentence}</li>`)}</ul>`;
}
