/**
 * Everything that is kept about a reviewer, as a page for that reviewer: the measurements, each score, its
 * causes and its use, the retention, and the way to contest it. The page is one document without script that
 * fetches nothing. It is made piece by piece, and its last line says that it is whole. Source: contract,
 * section 4; Regulation (EU) 2016/679 (GDPR), Articles 12 and 15.
 */
import type { SubjectHead, SubjectRecord } from "../domain/subject.ts";
import { quantity } from "../scoring/wording.ts";
import { headOf } from "./head.ts";
import { type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { PAGE_STYLE } from "./style.ts";
import { factsOf, titleOf } from "./subject_words.ts";
import { dataTable, definitionList } from "./tables.ts";
import { instantInWords, nameInWords, pointsInWords, shareInWords } from "./wording.ts";

export interface SubjectDocument {
  readonly head: SubjectHead;
  readonly records: AsyncIterable<SubjectRecord>;
  /** ISO 8601. */
  readonly madeAt: string;
}

const STYLE = `${PAGE_STYLE}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem}
a{color:inherit}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--bar);outline-offset:2px}
.record{margin:1.5rem 0 0;padding:0 0 1rem;border-bottom:1px solid var(--grid)}
.record h3{font-size:1.0625rem;line-height:1.3;margin:0 0 .25rem;overflow-wrap:anywhere}
.record dl{margin:.5rem 0}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--muted)}
pre{margin:.5rem 0;padding:.75rem 1rem;background:var(--soft);border:1px solid var(--grid);font:.8125rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.moves td:nth-child(2),.moves td:nth-child(3){white-space:nowrap}
@media print{h3{break-after:avoid}nav{display:none}}
`;

/** The policy to serve {@link subjectPage} with. */
export const SUBJECT_PAGE_CSP: string = policyFor(STYLE);

/** The HTML document: its head, a piece for each record, its foot. */
export async function* subjectPage({ head, records, madeAt }: SubjectDocument): AsyncGenerator<string> {
  yield beginning(head, madeAt).toString();
  let count = 0;
  for await (const record of records) {
    count += 1;
    yield recordSection(record, count).toString();
  }
  yield ending(head, count).toString();
}

function beginning(head: SubjectHead, madeAt: string): Markup {
  const { organization, operator_id, notice } = head;
  // The elements that stay open are closed by the ending.
  return markup`${headOf({ title: `What is kept about ${operator_id}: ${organization.name}`, style: STYLE })}
<body>
<main>
<header>
<h1>What is kept about you: <bdi>${operator_id}</bdi></h1>
<p class="statement">This is everything that the scoring service of <bdi>${organization.name}</bdi> keeps about you, as of ${
    instantInWords(madeAt)
  }, and what you can do about it.</p>
<nav aria-label="Contents"><ul>
<li><a href="#summary">In short</a></li>
<li><a href="#score">What the score is</a></li>
<li><a href="#records">Every record</a></li>
<li><a href="#keeping">How long, and for whom</a></li>
<li><a href="#contest">How to contest</a></li>
</ul></nav>
</header>
${summary(head)}
<section aria-labelledby="score">
<h2 id="score">What the score is, and what it is not</h2>
<p>${notice.purpose}</p>
<p>${notice.recorded}</p>
<h3>How it is made</h3>
${list(notice.logic)}
<h3>What it must not be used for, and what it cannot say</h3>
${list(notice.limits)}
<h3>Decisions made by a program alone</h3>
<p>${notice.automated_decisions}</p>
</section>
<section aria-labelledby="records">
<h2 id="records">Every record</h2>
<p>${
    quantity(String(head.record_count), "record")
  }, the oldest first. Raw data are folded away under each of them.</p>
`;
}

function summary(head: SubjectHead): Markup {
  const { profile, operator_id, organization, pseudonym, notice, state } = head;
  return markup`<section aria-labelledby="summary">
<h2 id="summary">In short</h2>
${
    profile === null
      ? markup`<p>You were never scored. What is kept are cases that were not scored, or scores of how risky single decisions were.</p>`
      : scoreNow(profile)
  }
${
    definitionList([
      [
        "You are called",
        markup`<code>${operator_id}</code> by the organization, <code>${pseudonym}</code> in the log`,
      ],
      ["Organization", markup`<bdi>${organization.name}</bdi> (<code>${organization.id}</code>)`],
      ["Kept for", notice.retention.statement],
      ["Passed on to", notice.recipients.statement],
      ["If you disagree", markup`${notice.contest.steps[0]!} <a href="#contest">All your ways</a>`],
    ])
  }
${
    profile === null
      ? null
      : folded("Your record as the next score starts from it (raw data)", { profile, state })
  }
</section>`;
}

function scoreNow(profile: NonNullable<SubjectHead["profile"]>): Markup {
  const { jis, band, uncertainty, total_interactions, minimum_data_met, last_interaction_at } = profile;
  return markup`<p>Your score is <strong>${
    pointsInWords(jis)
  } of 100</strong> (${band.toLowerCase()}). What your cases show lies between <strong>${
    pointsInWords(uncertainty.low)
  } and ${pointsInWords(uncertainty.high)}</strong>, with a probability of ${
    shareInWords(uncertainty.level)
  } by the service's own reckoning. It rests on ${
    quantity(String(total_interactions), "case")
  }, the last of ${instantInWords(last_interaction_at)}.${
    minimum_data_met ? "" : " That is too little for a verdict."
  }</p>
${
    dataTable({
      columns: ["Of this score", "0 to 100"],
      rows: Object.entries(profile.dimensions).map(([name, value]) => [nameInWords(name), value] as const),
    })
  }`;
}

function list(items: readonly string[]): Markup {
  return markup`<ul>
${
    items.map((item) =>
      markup`<li>${item}</li>
`
    )
  }</ul>`;
}

function recordSection(record: SubjectRecord, number: number): Markup {
  const { timestamp, altered, chain, seq, entry_hash } = record;
  return markup`<article class="record" aria-labelledby="record-${number}">
<h3 id="record-${number}">${number}. ${titleOf(record)}</h3>
<p class="note">${instantInWords(timestamp)}</p>
${
    altered
      ? markup`<p class="statement"><strong>Altered.</strong> What is stored under this record is not what was recorded: nothing is said here in words, as nothing in it can be relied on. It is folded below as it is stored.</p>`
      : null
  }
${altered ? null : definitionList(factsOf(record))}
${moved(record)}
${
    folded(`Raw data of record ${number}, and what to quote`, {
      entry: seq,
      chain,
      entry_hash,
      event_id: record.event_id,
      event_type: record.event_type,
      request_id: record.request_id,
      full_mode: record.full_mode,
      input: record.input,
      result: record.result,
      detail: record.detail,
    })
  }
</article>
`;
}

/** The causes for each dimension: first those that changed, then, folded, why the rest did not. */
function moved({ event_type, explanation }: SubjectRecord): Markup | null {
  if (explanation === null) return null;
  const changed = explanation.filter(({ before, after }) => before !== after);
  const same = explanation.filter(({ before, after }) => before === after);
  const isRead = event_type === "DRS_COMPUTED";
  return markup`${
    changed.length === 0 ? null : markup`<p>${isRead ? "What had faded since:" : "What moved it:"}</p>
${movements(changed)}`
  }
${
    same.length === 0
      ? null
      : markup`<details><summary>${
        isRead
          ? "What was read as it stood"
          : changed.length === 0
          ? "Why nothing moved"
          : "Why the rest did not move"
      }</summary>
${movements(same)}
</details>`
  }`;
}

function movements(rows: NonNullable<SubjectRecord["explanation"]>): Markup {
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

/** Data as they are stored, folded until the reader opens them. */
function folded(title: string, data: unknown): Markup {
  return markup`<details><summary>${title}</summary>
<pre>${JSON.stringify(data, null, 1)}</pre>
</details>`;
}

function ending({ notice, organization }: SubjectHead, count: number): Markup {
  const { retention, recipients, source, contest, law } = notice;
  return markup`</section>
<section aria-labelledby="keeping">
<h2 id="keeping">How long it is kept, where it comes from, who gets it</h2>
<p>${retention.statement}</p>
<p>${source}</p>
<p>Recipients: ${recipients.statement}</p>
</section>
<section aria-labelledby="contest">
<h2 id="contest">How to contest</h2>
<ol>
${
    contest.steps.map((step) =>
      markup`<li>${step}</li>
`
    )
  }</ol>
<p>To <bdi>${organization.name}</bdi>, quote:</p>
${
    definitionList([
      ["Your id", markup`<code>${contest.quote.operator_id}</code>`],
      ["Your pseudonym", markup`<code>${contest.quote.pseudonym}</code>`],
      ["This copy", markup`<code>${contest.quote.request_id}</code>`],
      ["The record", "Its case or decision id, its entry number and its hash, from its raw data"],
    ])
  }
<p class="note">${law}</p>
</section>
<p class="statement">This copy is whole: it has ${
    quantity(String(count), "record")
  }. One that ends before this line was cut short.</p>
</main>
</body>
</html>
`;
}
