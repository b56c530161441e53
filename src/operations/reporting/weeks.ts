/**
 * The weeks of an organization or a team: what the dashboard would have said at the end of each, and each operator's score then.
 * Every row that is read carries its seal. The present week is read from the operators' own rows, so that it says what the
 * dashboard says, late labels included.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import type { Domain, VerdictStatus } from "../../domain/enums.ts";
import { type Measured, medianInterval } from "../../domain/group_median.ts";
import type { Period } from "../../domain/period.ts";
import type { OperatorWeek, OrganizationWeeks } from "../../domain/week.ts";
import {
  isActive,
  type OperatorRow,
  organizationFigures,
  verdictCounts,
} from "../../scoring/organization.ts";
import { edgeQuery } from "../../store/interactions.ts";
import { movedOperatorsQuery } from "../../store/operators.ts";
import type { ProbeRow } from "../../store/probes.ts";
import { type InteractionRow, interactions, type OperatorFigures, operators } from "../../store/records.ts";
import { nextTurn } from "../../store/turn.ts";
import { closedIn, probeFigures } from "../probes/figures.ts";
import { drawsOf } from "../probes/held.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { readHeldRows, requireSealed } from "../shared/sealed_reads.ts";
import { currentFigures, ruleRow } from "./operators.ts";

type Needs = Reading & Scoring;

/** The standing of one operator at the end of a week. */
interface Standing extends Measured {
  readonly row: OperatorRow;
  /** The position of the operator's last interaction then. */
  readonly position: number;
}

/** @throws {AlteredRows} if a row was altered; {ServiceError} SERVICE_UNAVAILABLE if the database is behind what was issued. */
export async function organizationWeeks(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { weeks, team, now }: {
    /** Oldest first; at least one. */
    readonly weeks: readonly Period[];
    /** Null for all operators. */
    readonly team: string | null;
    readonly now: number;
  },
): Promise<OrganizationWeeks> {
  const { database, model: { document } } = dependencies;
  const { held: { operators: rows, probes }, found: [moved] } = await readHeldRows(dependencies, orgId, [
    movedOperatorsQuery(orgId, { unjudged: document.discrimination !== undefined }),
  ]);
  requireSealed(dependencies, operators, moved);
  const members = new Map(
    rows.filter((row) => team === null || row.team === team).map((row) => [row.operator_id, row]),
  );
  const movedByName = new Map(moved.map((row) => [row.operator_id, row]));
  const opened = await openedProbes(dependencies, orgId, {
    probes,
    weeks,
    members: team === null ? null : members,
  });

  const standings: ReadonlyMap<string, Standing>[] = [];
  let latest: ReadonlyMap<string, Standing> = new Map();
  for (const [index, { start, end }] of weeks.entries()) {
    // After the first week, whoever had no interaction in a week stands as in the week before.
    const last = await database.read(
      index === 0
        ? edgeQuery("interaction", { orgId, period: { start: end, end }, edge: "before" })
        : edgeQuery("interaction", { orgId, period: { start, end }, edge: "last" }),
    );
    requireSealed(dependencies, interactions, last);
    latest = new Map([
      ...latest,
      ...last.flatMap((row) => {
        const member = members.get(row.operator_id);
        // A row that was put back after an erasure has another first interaction.
        return member === undefined || row.t0 !== member.t0
          ? []
          : [[row.operator_id, standingOf(row)] as const];
      }),
    ]);
    const at = Math.min(end, now);
    const isPresent = end > now;
    standings.push(
      new Map([...latest].flatMap(([id, recorded]) => {
        const label = isPresent ? movedByName.get(id) : undefined;
        const standing = label !== undefined && label.position === recorded.position
          ? presentStanding(members.get(id)!, currentFigures(document, label).uncertainty)
          : recorded;
        return isActive(document, standing.row, at) ? [[id, standing] as const] : [];
      })),
    );
    // Requests do not wait until all weeks are read.
    await nextTurn();
  }
  return {
    teams: teamsOf(rows.filter((row) => isActive(document, ruleRow(row), now))),
    weeks: weeks.map((week, index) => {
      const here = [...standings[index]!.values()];
      const at = Math.min(week.end, now);
      const { total_operators, median_jis } = organizationFigures(document, here.map(({ row }) => row), at);
      return {
        week_start: new Date(week.start).toISOString().slice(0, 10),
        as_of: new Date(at).toISOString(),
        operators: total_operators,
        median_jis,
        median_interval: medianInterval(here),
        verdicts: total_operators === 0 ? null : verdictCounts(here.map(({ row }) => row)),
        ...opened.figuresIn(week),
      };
    }),
    total: opened.figuresIn({ start: weeks[0]!.start, end: weeks.at(-1)!.end }),
    operators: [...members.values()].flatMap((member) => {
      const own = weeks.map((week, index) => cellOf(standings[index]!.get(member.operator_id), week));
      return own.every((cell) => cell === null) ? [] : [{
        position: member.position,
        jis: member.jis,
        operator_id: member.operator_id,
        team: member.team,
        weeks: own,
      }];
    })
      // Equal scores are in the order of the latest interactions: ids would tell how the names are ordered.
      .sort((one, other) => one.jis - other.jis || one.position - other.position)
      .map(({ operator_id, team, weeks }) => ({ operator_id, team, weeks })),
  };
}

function standingOf(row: InteractionRow): Standing {
  const { jis, low, high, n, t0, t1, tcrit, crit_count, share_hs, share_crit, position } = row;
  return {
    jis,
    low,
    high,
    position,
    row: {
      ...{ jis, n, t0, t1, tcrit },
      domain: row.domain as Domain,
      shareHs: share_hs,
      shareCrit: share_crit,
      critCount: crit_count,
      verdict: row.verdict as VerdictStatus | null,
    },
  };
}

function presentStanding(
  member: OperatorFigures,
  { low, high }: { readonly low: number; readonly high: number },
): Standing {
  return { jis: member.jis, low, high, position: member.position, row: ruleRow(member) };
}

function cellOf(standing: Standing | undefined, { start }: Period): OperatorWeek | null {
  if (standing === undefined) return null;
  const { jis, row: { verdict, t1 } } = standing;
  return { jis, verdict, interacted: t1 >= start };
}

function teamsOf(rows: readonly OperatorFigures[]): OrganizationWeeks["teams"] {
  const counts = new Map<string | null, number>();
  for (const { team } of rows) counts.set(team, (counts.get(team) ?? 0) + 1);
  const named = [...counts.keys()].filter((team) => team !== null).sort();
  return [...named, null].flatMap((team) => {
    const count = counts.get(team);
    return count === undefined ? [] : [{ team, operators: count }];
  });
}

/** The probes that were opened in some weeks. */
async function openedProbes(
  dependencies: Needs,
  orgId: string,
  { probes, weeks, members }: {
    readonly probes: readonly ProbeRow[];
    readonly weeks: readonly Period[];
    /** The operators whose probes count; null for all. */
    readonly members: ReadonlyMap<string, unknown> | null;
  },
) {
  const all = closedIn(probes, { start: weeks[0]!.start, end: weeks.at(-1)!.end });
  const draws = await drawsOf(dependencies, orgId, all);
  const operatorOf = ({ probe_id }: ProbeRow) => draws.get(probe_id)?.operator_id ?? null;
  const counted = members === null ? all : all.filter((probe) => members.has(operatorOf(probe) ?? ""));
  return {
    figuresIn(period: Period) {
      const names = new Set(closedIn(counted, period).map(operatorOf));
      names.delete(null);
      return { probes: probeFigures(counted, period), probed: names.size };
    },
  };
}
