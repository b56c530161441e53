/** Rows of sealed probes: the kinds that a plan reads and replaces by key, and the queries over them. */
import { type CompiledQuery, type Insertable, type Selectable, sql } from "kysely";
import { compileOnce } from "./compile_once.ts";
import { type Database, query, type Statement } from "./database.ts";
import { readPages } from "./paging.ts";
import { keyIn, loadOnce, type RecordKind } from "./records.ts";
import { listed } from "./value_list.ts";
import type { ProbeDrawTable, ProbeProgrammeTable, ProbeTable } from "./schema.ts";

/** A row whose seal is absent until it is saved. */
type Unsealed<Table> = Omit<Selectable<Table>, "seal"> & Pick<Insertable<ProbeTable>, "seal">;

/** An organization's programme: its policy, and the newest day with a seed. */
export type ProbeProgrammeRow = Unsealed<ProbeProgrammeTable>;

export const probeProgrammes: RecordKind<ProbeProgrammeRow> = {
  name: "probe_programme",
  load: loadOnce((keys) =>
    query.selectFrom("probe_programme").selectAll().where(keyIn(["org_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id],
  sealing: {
    values: (row) => [
      row.org_id,
      row.policy,
      row.changed_at,
      row.day,
      row.day_policy,
      row.opened,
    ],
    heldBy: ({ org_id }) => `org/${org_id}`,
  },
  save: compileOnce((row) =>
    query.insertInto("probe_programme").values(row).onConflict((conflict) =>
      conflict.column("org_id").doUpdateSet(({ ref }) => ({
        policy: ref("excluded.policy"),
        changed_at: ref("excluded.changed_at"),
        day: ref("excluded.day"),
        day_policy: ref("excluded.day_policy"),
        opened: ref("excluded.opened"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
};

export type ProbeRow = Unsealed<ProbeTable>;

export const probes: RecordKind<ProbeRow> = {
  name: "probe",
  load: loadOnce((keys) =>
    query.selectFrom("probe").selectAll().where(keyIn(["org_id", "probe_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.probe_id],
  sealing: {
    values: (row) => [
      row.org_id,
      row.probe_id,
      row.position,
      row.request_id,
      row.at,
      row.domain,
      row.stakes,
      row.commitment,
      row.reference,
      row.state,
      row.drawn_at,
      row.expires_at,
      row.closed_position,
      row.closed_at,
      row.ai_correct,
      row.departed,
    ],
    heldBy: ({ org_id }) => `org/${org_id}`,
  },
  save: compileOnce((row) =>
    query.insertInto("probe").values(row).onConflict((conflict) =>
      conflict.columns(["org_id", "probe_id"]).doUpdateSet(({ ref }) => ({
        state: ref("excluded.state"),
        drawn_at: ref("excluded.drawn_at"),
        expires_at: ref("excluded.expires_at"),
        closed_position: ref("excluded.closed_position"),
        closed_at: ref("excluded.closed_at"),
        ai_correct: ref("excluded.ai_correct"),
        departed: ref("excluded.departed"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
};

/** A case before which a probe was due. */
export type ProbeDrawRow = Unsealed<ProbeDrawTable>;

export const probeDraws: RecordKind<ProbeDrawRow> = {
  name: "probe_draw",
  load: loadOnce((keys) =>
    query.selectFrom("probe_draw").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  sealing: {
    values: (row) => [
      row.org_id,
      row.session_id,
      row.operator_id,
      row.position,
      row.probe_id,
      row.probe_session_id,
    ],
  },
  save: compileOnce((row) => query.insertInto("probe_draw").values(row).compile()),
};

/** The case before which a probe is shown, by the session of the probe; the draw's row itself is sealed. */
export interface ProbeSession {
  readonly org_id: string;
  readonly probe_session_id: string;
  readonly session_id: string;
}

export const probeSessions: RecordKind<ProbeSession> = {
  name: "probe_session",
  load: loadOnce((keys) =>
    query.selectFrom("probe_draw").select(["org_id", "probe_session_id", "session_id"])
      .$narrowType<{ probe_session_id: string }>().where(keyIn(["org_id", "probe_session_id"], keys))
      .compile()
  ),
  keyOf: (row) => [row.org_id, row.probe_session_id],
};

/** The probes that an operator was shown and did not decide yet. */
export interface OpenProbes {
  readonly org_id: string;
  readonly operator_id: string;
  /** JSON of their ids. */
  readonly ids: string;
}

export const openProbes: RecordKind<OpenProbes> = {
  name: "open_probes",
  load: loadOnce((keys) =>
    sql<OpenProbes>`select value ->> 0 as org_id, value ->> 1 as operator_id, (
        select json_group_array(probe_id) from (
          select d.probe_id from probe_draw as d indexed by probe_draw_operator
            join probe as p on p.org_id = d.org_id and p.probe_id = d.probe_id
            where d.org_id = value ->> 0 and d.operator_id = value ->> 1 and p.state = 'drawn'
            order by d.position)
      ) as ids from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
};

/** The probes of a stratum that can be drawn. */
export interface ProbeStock {
  readonly org_id: string;
  readonly domain: string;
  readonly stakes: string;
  /** JSON of their ids, in the order in which they were sealed. */
  readonly ids: string;
}

/** By organization, domain and stakes. A plan that draws one puts the rest, so that the next plan sees it. */
export const probeStocks: RecordKind<ProbeStock> = {
  name: "probe_stock",
  load: loadOnce((keys) =>
    sql<ProbeStock>`select value ->> 0 as org_id, value ->> 1 as domain, value ->> 2 as stakes, (
        select json_group_array(probe_id) from (
          select probe_id from probe indexed by probe_stock where org_id = value ->> 0
            and domain = value ->> 1 and stakes = value ->> 2 and state = 'sealed' order by position)
      ) as ids from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.org_id, row.domain, row.stakes],
};

/** How many probes of an operator were decided in a span of time. */
export interface DecidedProbes {
  readonly org_id: string;
  readonly operator_id: string;
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** By organization, operator, and the first instant in the span and after it, epoch milliseconds in decimal. */
export const decidedProbes: RecordKind<DecidedProbes> = {
  name: "decided_probes",
  load: loadOnce((keys) =>
    sql<DecidedProbes>`select value ->> 0 as org_id, value ->> 1 as operator_id, value ->> 2 as "from",
        value ->> 3 as "to", (
        select count(*) from probe_draw as d indexed by probe_draw_operator
          join probe as p on p.org_id = d.org_id and p.probe_id = d.probe_id
          where d.org_id = value ->> 0 and d.operator_id = value ->> 1 and p.state = 'decided'
            and p.closed_at >= cast(value ->> 2 as integer) and p.closed_at < cast(value ->> 3 as integer)
      ) as count from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.org_id, row.operator_id, row.from, row.to],
};

/** The positions of the assignments of an operator's probes that wait for their decision. */
export function openAssignmentsQuery(
  orgId: string,
  operatorId: string,
): CompiledQuery<{ readonly position: number }> {
  return query.selectFrom("probe_draw as d").innerJoin(
    "probe as p",
    (join) => join.onRef("p.org_id", "=", "d.org_id").onRef("p.probe_id", "=", "d.probe_id"),
  ).select("d.position").where("d.org_id", "=", orgId).where("d.operator_id", "=", operatorId)
    .where("p.state", "=", "drawn").compile();
}

/** The programmes of all organizations of which a seed is still to be opened, or whose probes are drawn. */
export function probeProgrammesQuery(): CompiledQuery<ProbeProgrammeRow> {
  return query.selectFrom("probe_programme").selectAll().orderBy("org_id").compile();
}

/** The name of a probe. */
export interface ProbeName {
  readonly org_id: string;
  readonly probe_id: string;
}

/** The organizations with a drawn probe that expired by an instant, epoch milliseconds. */
export function overdueOrganizationsQuery(now: number): CompiledQuery<{ readonly org_id: string }> {
  return query.selectFrom("probe").select("org_id").distinct().where("state", "=", "drawn")
    .where("expires_at", "<=", now).orderBy("org_id").compile();
}

/** A drawn probe whose time is over. */
interface OverdueProbe {
  readonly probe_id: string;
  readonly expires_at: number | null;
}

/** The drawn probes of an organization that expired by an instant, epoch milliseconds, the oldest first, page by page. */
export function readOverdueProbes(
  database: Database,
  { orgId, now }: { readonly orgId: string; readonly now: number },
): AsyncGenerator<readonly OverdueProbe[]> {
  const rows = query.selectFrom("probe").select(["probe_id", "expires_at"]).where("org_id", "=", orgId)
    .where("state", "=", "drawn").where("expires_at", "<=", now).orderBy("expires_at").orderBy("probe_id");
  return readPages<OverdueProbe>(
    database,
    (after, limit) =>
      (after === null
        ? rows
        : rows.where(sql<boolean>`(expires_at, probe_id) > (${after.expires_at}, ${after.probe_id})`))
        .limit(limit).compile(),
  );
}

/** The probes of all organizations that are not opened, page by page. */
export function readUnopenedProbes(database: Database): AsyncGenerator<readonly ProbeName[]> {
  const rows = query.selectFrom("probe").select(["org_id", "probe_id"]).where("state", "in", [
    "sealed",
    "drawn",
  ])
    .orderBy("org_id").orderBy("probe_id");
  return readPages<ProbeName>(
    database,
    (after, limit) =>
      (after === null
        ? rows
        : rows.where(sql<boolean>`(org_id, probe_id) > (${after.org_id}, ${after.probe_id})`))
        .limit(limit).compile(),
  );
}

/** All probes of an organization, in the order in which they were sealed. */
export function probesQuery(orgId: string): CompiledQuery<ProbeRow> {
  return query.selectFrom("probe").selectAll().where("org_id", "=", orgId).orderBy("position").compile();
}

/** The programme of an organization. */
export function probeProgrammeQuery(orgId: string): CompiledQuery<ProbeProgrammeRow> {
  return query.selectFrom("probe_programme").selectAll().where("org_id", "=", orgId).compile();
}

/** How many cases of an organization had a probe due, and for how many of them none was left. */
export function drawCountsQuery(
  orgId: string,
): CompiledQuery<{ readonly due: number; readonly empty: number }> {
  return query.selectFrom("probe_draw").select((row) => [
    row.fn.countAll<number>().as("due"),
    row.fn.countAll<number>().filterWhere("probe_id", "is", null).as("empty"),
  ]).where("org_id", "=", orgId).compile();
}

/** Deletes rows of probes and programmes of an organization. */
export function deleteProbeRows(orgId: string, { probeIds, isProgramme }: {
  readonly probeIds: readonly string[];
  /** Whether the row of the programme goes, too. */
  readonly isProgramme: boolean;
}): readonly Statement[] {
  const statements: Statement[] = [];
  if (probeIds.length > 0) {
    statements.push(
      query.deleteFrom("probe").where("org_id", "=", orgId).where("probe_id", "in", listed<string>(probeIds))
        .compile(),
    );
  }
  if (isProgramme) statements.push(query.deleteFrom("probe_programme").where("org_id", "=", orgId).compile());
  return statements;
}

/** The probes of an organization, page by page. */
export function readProbes(database: Database, orgId: string): AsyncGenerator<readonly ProbeRow[]> {
  const rows = query.selectFrom("probe").selectAll().where("org_id", "=", orgId).orderBy("probe_id");
  return readPages<ProbeRow>(
    database,
    (after, limit) =>
      (after === null ? rows : rows.where("probe_id", ">", after.probe_id)).limit(limit).compile(),
  );
}

/** How many probes of an organization are sealed and not drawn. */
export interface SealedCount {
  readonly org_id: string;
  readonly count: number;
}

export const sealedCounts: RecordKind<SealedCount> = {
  name: "sealed_count",
  load: loadOnce((keys) =>
    sql<SealedCount>`select value ->> 0 as org_id, (
        select count(*) from probe indexed by probe_stock where org_id = value ->> 0 and state = 'sealed'
      ) as count from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.org_id],
};

/** The draws of some probes. */
export function probeDrawsQuery(orgId: string, probeIds: readonly string[]): CompiledQuery<ProbeDrawRow> {
  return query.selectFrom("probe_draw").selectAll().where("org_id", "=", orgId)
    .where("probe_id", "in", listed<string>(probeIds)).compile();
}

/** The probes of a page, below a position; null begins with the newest. */
export function probePageQuery(
  orgId: string,
  { state, below, limit }: {
    readonly state: string | null;
    readonly below: number | null;
    readonly limit: number;
  },
): CompiledQuery<ProbeRow> {
  let rows = query.selectFrom("probe").selectAll().where("org_id", "=", orgId).orderBy("position", "desc")
    .limit(limit);
  if (state !== null) rows = rows.where("state", "=", state);
  if (below !== null) rows = rows.where("position", "<", below);
  return rows.compile();
}
