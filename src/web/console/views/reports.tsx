/** Compliance reports: those that were issued, and a form for a new one. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { lastFullQuarter } from "../../../domain/period.ts";
import { instantInWords } from "../../../pages/wording.ts";
import {
  addressOf,
  Answered,
  Empty,
  Failure,
  Instant,
  Pages,
  Rows,
  Status,
  VerdictMark,
  View,
} from "../parts.tsx";
import { Article14Measures } from "../article14.tsx";
import { useCaller } from "../session.tsx";
import type { ReportAnswer, Reports } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/reports";
const PAGE = "50";

export function ReportsView() {
  const { query } = useLocation();
  const { cursor = "" } = query;
  const asked = useAnswer<Reports>({ path: addressOf("/v1/compliance/reports", { cursor, limit: PAGE }) });
  return (
    <View title="Compliance reports">
      <Issue />
      <Article14Measures />
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
                <Rows label="Issued reports" columns={["Period", "Verdict", "Status", "Issued", "Report"]}>
                  {reports.map((report) => (
                    <tr key={report.report_id}>
                      <th scope="row">
                        <a href={`${PATH}/${report.report_id}`}>
                          {instantInWords(report.period.start)} to {instantInWords(report.period.end)}
                        </a>
                      </th>
                      <td>
                        <VerdictMark status={report.verdict} />
                      </td>
                      <td>
                        <Status status={report.overall_status} />
                        {!report.status_certain && <div class="small muted">could turn either way</div>}
                      </td>
                      <td>
                        <Instant at={report.issued_at} />
                      </td>
                      <td>
                        <code>{report.report_id}</code>
                      </td>
                    </tr>
                  ))}
                </Rows>
                <Pages path={PATH} query={cursor === "" ? {} : { cursor }} next={next} />
              </>
            )}
      </Answered>
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
