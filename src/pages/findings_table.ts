/** The table of a report's findings: two rows for each finding, the result and the remarks on it. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { FindingStatus } from "../domain/report.ts";
import { textMarkup } from "./document_markup.ts";
import { type Markup, markup } from "./markup.ts";
import { STATUS_WORDS } from "./wording.ts";

/** A finding in words. */
export interface FindingRow {
  readonly regulation: string;
  readonly provision: string;
  readonly citation: string;
  readonly requirement: string;
  readonly metric: string;
  /** null if there is no population. */
  readonly observed: string | null;
  readonly threshold: string;
  /** null if it is withheld. */
  readonly passing: string | null;
  /** null if the provision does not apply, or if the report was issued before there were verdicts. */
  readonly verdict: VerdictStatus | null;
  readonly status: FindingStatus;
  /** A remark on whether the status is certain; null if there is none. */
  readonly certainty: string | null;
  readonly force: string;
  /** The dates of force, and how well they are known. */
  readonly dates: string;
  /** The reason why the status is not better than partial; null if there is none. */
  readonly capped: string | null;
  readonly note: string | null;
  readonly source: string;
}

/**
 * The table, which scrolls sideways if there is no room.
 * @param labelledBy id of the heading above the table.
 */
export function findingsTable(rows: readonly FindingRow[], labelledBy: string): Markup {
  return markup`<div class="scroll" role="region" aria-labelledby="${labelledBy}" tabindex="0">
<table class="findings">
<thead><tr><th scope="col">Provision</th><th scope="col">Requirement and metric</th><th scope="col">Observed against threshold</th><th scope="col">Status</th><th scope="col">In force</th></tr></thead>
${rows.map(rowGroup)}
</table>
</div>`;
}

/** A page break never splits the two rows. */
function rowGroup(row: FindingRow): Markup {
  const { verdict, certainty, capped, note } = row;
  return markup`<tbody>
<tr>
<th scope="rowgroup" rowspan="2"><p><strong>${row.regulation}</strong></p><p><strong>${row.provision}</strong></p><p class="small">${row.citation}</p></th>
<td><p>${row.requirement}</p><p class="small">Measured: ${row.metric}</p></td>
<td>${observation(row)}</td>
<td>${
    verdict === null
      ? markup`<p>${textMarkup({ status: row.status })}</p>`
      : markup`<p>${textMarkup({ judged: verdict })}</p><p class="small">Status: ${
        STATUS_WORDS[row.status]
      }</p>`
  }${certainty === null ? null : markup`<p class="small">${certainty}</p>`}</td>
<td><p>${row.force}</p>
<p class="small">${row.dates}</p></td>
</tr>
<tr><td colspan="4" class="small">
${capped === null ? null : markup`<p><strong>Not better than partial:</strong> ${capped}</p>`}
${note === null ? null : markup`<p>${note}</p>`}
<p>Source: ${row.source}</p>
</td></tr>
</tbody>
`;
}

function observation({ observed, threshold, passing }: FindingRow): Markup {
  if (passing === null) {
    return markup`<p>Withheld: fewer than five reviewers</p><p class="small">threshold ${threshold}</p>`;
  }
  if (observed === null) {
    return markup`<p>No population</p><p class="small">threshold ${threshold}</p>`;
  }
  return markup`<p><strong>${observed}</strong><br>against ${threshold}</p>
<p class="small">passing: ${passing}</p>`;
}
