/**
 * The table of a report's findings: of each provision whether it is in force, the verdict with its threshold beside it, and
 * below both the measure and the remarks.
 */
import type { Finding } from "../domain/report.ts";
import { textMarkup } from "./document_markup.ts";
import { forceInWords } from "./force_words.ts";
import { type Markup, markup } from "./markup.ts";
import { metricInWords } from "./metric_words.ts";
import { findingCertainty } from "./report_sections.ts";
import { countInWords, shareInWords, STATUS_WORDS } from "./wording.ts";

const HEADS = ["Provision", "In force", "Verdict", "Threshold, and observed"] as const;
const [, FORCE, VERDICT, THRESHOLD] = HEADS;

/**
 * The table. In a narrow window its cells stand one below another.
 * @param day ISO date: the period's last day. @param labelledBy id of the heading above.
 */
export function provisionsTable(
  findings: readonly Finding[],
  { day, labelledBy }: { readonly day: string; readonly labelledBy: string },
): Markup {
  return markup`<table class="provisions" aria-labelledby="${labelledBy}">
<thead><tr>${HEADS.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
${findings.map((finding, index) => rowGroup(finding, { above: findings.slice(0, index), day }))}
</table>`;
}

/** A page break never splits the two rows. `above` are the findings before it. */
function rowGroup(
  finding: Finding,
  { above, day }: { readonly above: readonly Finding[]; readonly day: string },
): Markup {
  const { regulation, provision, citation, requirement, metric, capped, status } = finding;
  const force = forceInWords(finding, day);
  const certainty = findingCertainty(finding);
  return markup`<tbody>
<tr>
<th scope="rowgroup"><p><strong>${regulation}, ${provision}</strong></p><p class="small">${citation}</p></th>
<td data-head="${FORCE}"><p><strong>${force.state}</strong></p><p class="small">${force.dates} (${finding.date_confidence} source)</p></td>
<td data-head="${VERDICT}"><p>${verdictMark(finding)}</p></td>
<td data-head="${THRESHOLD}">${observation(finding)}</td>
</tr>
<tr><td colspan="4" class="small">
<p>Asks: ${requirement}. Measured: ${metricInWords(metric)}. By the scores alone: ${
    STATUS_WORDS[status].toLowerCase()
  }${certainty === null ? null : `; ${certainty}`}.</p>
${capped === null ? null : markup`<p><strong>Not better than partial:</strong> ${capped}</p>`}
${remarks(finding, above)}
</td></tr>
</tbody>
`;
}

/** The note and the source of a law, once for all of its provisions that have the same. */
function remarks(finding: Finding, above: readonly Finding[]): Markup {
  const { regulation, status_note, source } = finding;
  const same = above.find((other) =>
    other.regulation === regulation && other.status_note === status_note && other.source === source
  );
  if (same !== undefined) return markup`<p>Note and source: as for ${same.provision}.</p>`;
  return markup`${
    status_note === "" ? null : markup`<p>${status_note}</p>
`
  }<p>Source: ${source}</p>`;
}

/** A provision that does not apply has no verdict. */
function verdictMark({ verdict, status }: Finding): Markup {
  return textMarkup(verdict == null ? { status } : { judged: verdict });
}

function observation({ observed, threshold, passing, operators }: Finding): Markup {
  const asked = markup`<p>${shareInWords(threshold)} of the operators</p>`;
  if (passing === null) {
    return markup`${asked}<p class="small">observed: withheld, fewer than five reviewers</p>`;
  }
  if (observed === null) {
    return markup`${asked}<p class="small">observed: nothing, there is nobody to judge</p>`;
  }
  return markup`${asked}<p class="small">observed: <strong>${
    shareInWords(observed)
  }</strong>, ${passing} of ${countInWords(operators, "operator")}</p>`;
}
