/** The caller's organization, or a team of it, week by week. */
import * as z from "zod";
import type { Period } from "../../domain/period.ts";
import { weeksOfGroups } from "../../domain/small_groups.ts";
import { teamNameSchema } from "../../domain/team.ts";
import {
  defaultFirstWeek,
  WEEK_ROWS_DEFAULT,
  WEEK_ROWS_MAX,
  WEEKS_DEFAULT,
  WEEKS_MAX,
  weeksBetween,
  weeksResponseSchema,
} from "../../domain/week.ts";
import { organizationWeeks } from "../../operations/reporting/weeks.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, validationFailed } from "../parse.ts";
import { integerParameter, recordPage } from "./parameters.ts";
import { KEYED_READ, teamsWithheld } from "./shared.ts";

const dayParameter = z.iso.date("must be a day, such as 2026-10-01");

const weeksParametersSchema = z.object({
  from: dayParameter.optional().meta({
    description: `A day of the first week (UTC). Default: ${WEEKS_DEFAULT} weeks up to that of \`to\`.`,
  }),
  to: dayParameter.optional().meta({
    description: `A day of the last week (UTC). Default: today. At most ${WEEKS_MAX} weeks are shown.`,
  }),
  team: teamNameSchema.optional().meta({ description: "Only operators who are in this team today." }),
  limit: integerParameter({ min: 0, max: WEEK_ROWS_MAX, fallback: WEEK_ROWS_DEFAULT }).meta({
    description: "Operators in this answer.",
  }),
  cursor: recordPage.cursor,
});

const getWeeks: Route = {
  ...KEYED_READ,
  path: "/v1/organization/weeks",
  operationId: "getWeeks",
  summary: "The organization week by week",
  description:
    "Returns for each week, from Monday to Monday (UTC), what the dashboard would have said at its end: the median score with its interval, the operators by verdict, and what the probes of the week found; and a page of operators with the score that each had then. The present week counts late labels, earlier weeks are as they were recorded. It is no evidence: a report is. `next_cursor` gets more operators.",
  parameters: weeksParametersSchema,
  success: { status: 200, description: "The weeks.", schema: weeksResponseSchema },
  examples: [
    { summary: "The last 13 weeks" },
    { summary: "Two weeks, without operators", query: { from: "2026-09-07", to: "2026-09-14", limit: "0" } },
  ],
  async handler({ dependencies }, { exchange, request }) {
    const { caller, call: { now }, pseudonyms } = exchange;
    const { from, to, team = null, limit, cursor: first = 0 } = parseParameters(
      request,
      weeksParametersSchema,
    );
    if (team !== null && pseudonyms !== null) throw teamsWithheld();
    const found = await organizationWeeks(dependencies, caller!, {
      weeks: weeksAsked({ from, to }, now),
      team,
      now,
    });
    const { teams, weeks, total, operators } = pseudonyms === null ? found : weeksOfGroups(found);
    const end = first + limit;
    return {
      status: 200,
      body: {
        team,
        teams,
        weeks: weeks.map(({ probed: _probed, ...week }) => week),
        probes: total.probes,
        operators: operators.slice(first, end),
        next_cursor: limit > 0 && end < operators.length ? String(end) : null,
      },
    };
  },
};

/** @throws {ServiceError} VALIDATION_FAILED if there are too many, or none. */
function weeksAsked(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): readonly Period[] {
  const last = to === undefined ? now : Date.parse(to);
  const weeks = weeksBetween(from === undefined ? defaultFirstWeek(last) : Date.parse(from), last, now);
  if (weeks.length === 0) {
    throw validationFailed([{
      path: "from",
      message: "must be before to, not in the future, and no earlier than 1970",
    }]);
  }
  if (weeks.length > WEEKS_MAX) {
    throw validationFailed([{ path: "from", message: `must be at most ${WEEKS_MAX} weeks before to` }]);
  }
  return weeks;
}

export const WEEK_ROUTES: readonly Route[] = [getWeeks];
