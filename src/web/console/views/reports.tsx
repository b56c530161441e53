/** Compliance reports: those that were issued, and a form for a new one. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { lastFullQuarter } from "../../../domain/period.ts";
import { periodInShort } from "../../../pages/period_words.ts";
import { Article14Measures } from "../article14.tsx";
import { VERDICT_PLACES } from "../operator_rows.tsx";
import { addressOf, Answered, Empty, Failure, Instant, Pages, View } from "../parts.tsx";
import { ReportActs } from "../report_acts.tsx";
import { VerdictOrStatus } from "../scores_alone.tsx";
import { useCaller } from "../session.tsx";
import { type Column, Table } from "../table.tsx";
import type { ReportAnswer, Reports } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/reports";
const PAGE = "50";
const NEWEST = "-issued_at";

type Report = Reports["reports"][number];

const COLUMNS: readonly Column<Report>[] = [{
  head: "Period",
  order: { name: "period_start", keyOf: ({ period }) => period.start },
  // A period has UTC days, as the report itself.
  cell: ({ report_id, period }) => (
    <>
      <a href={`${PATH}/${report_id}`}>{periodInShort(period)}</a>
      <code class="second">{report_id}</code>
    </>
  ),
}, {
  head: "Verdict",
  order: { name: "verdict", keyOf: ({ verdict }) => verdict && VERDICT_PLACES[verdict] },
  cell: ({ verdict, overall_status, status_certain }) => (
    <VerdictOrStatus verdict={verdict} status={overall_status} isCertain={status_certain} />
  ),
}, {
  head: "Issued",
  order: { name: "issued_at", keyOf: ({ issued_at }) => issued_at },
  cell: ({ issued_at }) => <Instant at={issued_at} />,
}, {
  head: "Actions",
  cell: ({ report_id, period }) => <ReportActs id={report_id} period={periodInShort(period)} />,
}];

const CSV = {
  report_id: (row: Report) => row.report_id,
  period_start: (row: Report) => row.period.start,
  period_end: (row: Report) => row.period.end,
  verdict: (row: Report) => row.verdict,
  overall_status: (row: Report) => row.overall_status,
  status_certain: (row: Report) => row.status_certain,
  issued_at: (row: Report) => row.issued_at,
};

export function ReportsView() {
  const { query } = useLocation();
  const { sort = "", cursor = "" } = query;
  const asked = useAnswer<Reports>({ path: addressOf("/v1/compliance/reports", { cursor, limit: PAGE }) });
  return (
    <View title="Compliance reports">
      <Issue />
      <h2>Issued reports</h2>
      <Answered asked={asked}>
        {({ reports, next_cursor: next }) =>
          reports.length === 0
            ? (
              <Empty>
                <p>None was issued yet: choose a period above.</p>
              </Empty>
            )
            : (
              <>
                <Table
                  label="Issued reports"
                  rows={reports}
                  keyOf={(row) => row.report_id}
                  columns={COLUMNS}
                  csv={CSV}
                  ordering={{
                    ...{ path: PATH, query: {}, sort, first: NEWEST, served: NEWEST },
                    isWhole: cursor === "" && next === null,
                  }}
                />
                <Pages path={PATH} query={{ sort, ...(cursor === "" ? {} : { cursor }) }} next={next} />
              </>
            )}
      </Answered>
      <Article14Measures />
    </View>
  );
}

/** The UTC date of an instant, as a date's input has it. */
function dateOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** Issues a report. The same period over unchanged records is the same report: asking twice does no harm. */
function Issue() {
  const [quarter] = useState(() => lastFullQuarter(Date.now()));
  const [start, setStart] = useState(() => dateOf(quarter.start));
  const [end, setEnd] = useState(() => dateOf(quarter.end));
  const { route } = useLocation();
  const caller = useCaller();
  const { busy, error, run } = useAction<ReportAnswer>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const path = addressOf("/v1/compliance/report", { period_start: start, period_end: end });
    const answer = await run((patience) => caller.json<ReportAnswer>({ path }, { patience }));
    if (answer !== null) route(`${PATH}/${answer.report.report_id}`);
  };
  return (
    <form onSubmit={submit}>
      <p>
        What the records of a period say of human oversight: a summary on one page, then the findings,
        framework by framework. It is evidence for your own assessment, and no declaration of compliance. The
        dates are at first those of the last full quarter (UTC).
      </p>
      <div class="filters">
        <div class="field">
          <label for="start">From, included</label>
          <input
            id="start"
            type="date"
            required
            value={start}
            onInput={(event) => setStart(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="end">To, excluded</label>
          <input
            id="end"
            type="date"
            required
            value={end}
            onInput={(event) => setEnd(event.currentTarget.value)}
          />
        </div>
        <button class="main" type="submit" disabled={busy}>{busy ? "Making it…" : "Make the report"}</button>
      </div>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
