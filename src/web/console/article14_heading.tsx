/** The heading over the measures of Article 14, with the law's state of force as on a report's page. */
import { forceInWords } from "../../pages/force_words.ts";
import { dayOf } from "../../pages/wording.ts";
import type { Article14 } from "./types.ts";
import type { Asked } from "./use_answer.ts";

export function Article14Heading({ id, asked: { loaded } }: {
  readonly id: string;
  readonly asked: Asked<Article14>;
}) {
  const measure = loaded.state === "ready" ? loaded.body.measures[0] : undefined;
  return (
    <h2 id={id}>
      Article 14, EU AI Act: the last 90 days
      {measure !== undefined && loaded.state === "ready" && (
        <span class="force" data-force>
          {forceInWords(measure, dayOf(loaded.body.timestamp)).phrase}
        </span>
      )}
    </h2>
  );
}
