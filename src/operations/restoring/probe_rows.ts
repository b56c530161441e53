/**
 * Makes the rows of probes and of their programme anew from a chain's proven entries, once an administrator accepts a
 * database. A row gives only what no entry holds: what an unopened seal hides, if its commitment proves it. A probe whose
 * truth nobody can tell any more is ended, and its name stays used.
 */
import { recordedInteractionSchema } from "../../domain/interaction.ts";
import { departsFromAdvice } from "../../domain/probe.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { organizationOf } from "../../evidence/chain_name.ts";
import type { Entry } from "../../evidence/entry.ts";
import { isCommitted } from "../../evidence/entry.ts";
import { orNull } from "../../evidence/or_null.ts";
import { PROBE_DETAILS, probeCommitment, type ProbeDetail, type ProbeEvent } from "../../evidence/probes.ts";
import { probeSalt } from "../../keys/probe_secrets.ts";
import { loadEpochs, type StoredChain } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { readEntriesAt } from "../../store/operator_records.ts";
import {
  deleteProbeRows,
  probeProgrammeQuery,
  type ProbeProgrammeRow,
  probeProgrammes,
  type ProbeRow,
  probes,
  readProbes,
} from "../../store/probes.ts";
import { readParts } from "../../store/recorded_inputs.ts";
import { sealed, shareOf } from "../../store/seals.ts";
import { type AcceptanceDependencies, AcceptedChain } from "./accepted_records.ts";

/** The place of an entry, over all epochs and in its chain. */
interface Place {
  readonly epoch: AcceptedEpoch;
  readonly seq: number;
  readonly position: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

interface AcceptedEpoch {
  readonly stored: StoredChain;
  readonly accepted: AcceptedChain;
}

type SealColumns = Pick<ProbeRow, "position" | "at" | "domain" | "stakes" | "commitment" | "request_id">;
type StateColumns = Pick<
  ProbeRow,
  "state" | "drawn_at" | "expires_at" | "closed_position" | "closed_at" | "ai_correct" | "departed"
>;

/** The proven entries about a probe. */
interface ProbeFacts {
  seal?: SealColumns;
  drawn?: Place;
  closed?: Place & {
    readonly state: "decided" | "recalled" | "lost";
    readonly ai_correct: boolean;
    readonly reference: string | null;
  };
}

/** The proven entries about a programme. */
interface ProgrammeFacts {
  policy?: Pick<ProbeProgrammeRow, "policy" | "changed_at">;
  day?: Pick<ProbeProgrammeRow, "day" | "day_policy" | "changed_at"> & { opened: number };
}

interface ChainFacts {
  readonly probes: Map<string, ProbeFacts>;
  readonly programme: ProgrammeFacts;
  /** The instant of the newest proven entry, epoch milliseconds. */
  last: number;
}

const CLOSINGS = { PROBE_OPENED: "decided", PROBE_RECALLED: "recalled", PROBE_LOST: "lost" } as const;

/** Makes these rows of a family anew. The rows of its other records need not be sealed yet. */
export async function rebuildProbes(dependencies: AcceptanceDependencies, family: string): Promise<void> {
  const { database, seals, log } = dependencies;
  const orgId = organizationOf(family)!;
  const epochs: AcceptedEpoch[] = [];
  for (const stored of await loadEpochs(database, family)) {
    epochs.push({ stored, accepted: await AcceptedChain.open(dependencies, stored) });
  }
  const facts = await readFacts(database, epochs);
  const programme = await rebuildProgramme(dependencies, orgId, facts.programme);
  const rows = new Map<string, ProbeRow>();
  for await (const page of readProbes(database, orgId)) for (const row of page) rows.set(row.probe_id, row);
  const changed = { removed: 0, written: 0, ended: 0 };
  const rebuilding = new Rebuilding(dependencies, orgId, { epochs, last: facts.last });
  for (const probeId of new Set([...facts.probes.keys(), ...rows.keys()])) {
    const row = rows.get(probeId);
    const isOwn = row !== undefined && shareOf(seals, probes, row) !== null;
    const after = await rebuilding.rowOf(probeId, { facts: facts.probes.get(probeId) ?? {}, row, isOwn });
    if (isOwn && after !== null && isSame(row, after)) continue;
    if (after === null) changed.removed += 1;
    else changed.written += 1;
    if (after?.state === "recalled" && after.closed_position === null) changed.ended += 1;
    await database.batch([
      ...deleteProbeRows(orgId, { probeIds: [probeId], isProgramme: false }),
      ...(after === null ? [] : [probes.save!(sealed(seals, probes, after).row)]),
    ]);
  }
  if (!programme && changed.removed + changed.written === 0) return;
  log.error("rows of probes were altered: they are made anew from the chain", {
    audit: true,
    org_id: orgId,
    programme,
    ...changed,
  });
}

async function readFacts(database: Database, epochs: readonly AcceptedEpoch[]): Promise<ChainFacts> {
  const facts: ChainFacts = { probes: new Map(), programme: {}, last: 0 };
  for (const epoch of epochs) {
    const { chain } = epoch.stored;
    const span = { chain, first: 0, end: Number.MAX_SAFE_INTEGER, eventTypes: null, name: "detail" } as const;
    for await (const page of readParts(database, span)) {
      const proven = await epoch.accepted.parts(page, "detail");
      for (const { seq, data } of page) {
        const entry = proven.get(seq);
        if (entry !== undefined) addFact(facts, { epoch, entry, data });
      }
    }
  }
  return facts;
}

function addFact(
  facts: ChainFacts,
  { epoch, entry, data }: { readonly epoch: AcceptedEpoch; readonly entry: Entry; readonly data: string },
): void {
  const { event_type, seq } = entry;
  const at = Date.parse(entry.timestamp);
  facts.last = Math.max(facts.last, at);
  const place: Place = { epoch, seq, position: epoch.stored.firstPosition + seq, at };
  const probeOf = (id: string) => {
    const known = facts.probes.get(id) ?? {};
    facts.probes.set(id, known);
    return known;
  };
  const read = <Event extends ProbeEvent>(event: Event): ProbeDetail<Event> | undefined => {
    if (event !== event_type) return undefined;
    const { data: detail } = PROBE_DETAILS[event].safeParse(orNull(() => JSON.parse(data)));
    return detail as ProbeDetail<Event> | undefined;
  };
  const policy = read("PROBE_POLICY_CHANGED");
  if (policy !== undefined) facts.programme.policy = { policy: canonicalJson(policy), changed_at: at };
  const day = read("PROBE_SEED_COMMITTED");
  if (day !== undefined) {
    const day_policy = canonicalJson(day.policy);
    facts.programme.day = { day: day.day, day_policy, changed_at: at, opened: 0 };
  }
  const opened = read("PROBE_SEED_OPENED");
  if (opened !== undefined && facts.programme.day?.day === opened.day) facts.programme.day.opened = 1;
  const seal = read("PROBE_SEALED");
  if (seal !== undefined) {
    const { probe_id, domain, stakes, commitment } = seal;
    const { position } = place;
    probeOf(probe_id).seal ??= { position, at, domain, stakes, commitment, request_id: entry.id };
  }
  const drawn = read("PROBE_DRAWN")?.probe_id ?? null;
  if (drawn !== null) probeOf(drawn).drawn ??= place;
  for (const event of Object.keys(CLOSINGS) as (keyof typeof CLOSINGS)[]) {
    const opening = read(event);
    if (opening === undefined) continue;
    const { probe_id, ai_correct, reference } = opening;
    probeOf(probe_id).closed ??= { ...place, state: CLOSINGS[event], ai_correct, reference };
  }
}

/** @returns whether the row was not what the chain says. */
async function rebuildProgramme(
  { database, seals }: AcceptanceDependencies,
  orgId: string,
  { policy, day }: ProgrammeFacts,
): Promise<boolean> {
  const [row] = await database.read(probeProgrammeQuery(orgId));
  const own = row !== undefined && shareOf(seals, probeProgrammes, row) !== null ? row : null;
  // If the entry that set the policy is cut off, none was set after the newest day began.
  const set = policy ??
    (day === undefined ? own : { policy: day.day_policy!, changed_at: day.changed_at });
  const newest = day ?? own ?? { day: null, day_policy: null, opened: 1 };
  const after: ProbeProgrammeRow | null = set === null ? null : {
    org_id: orgId,
    policy: set.policy,
    changed_at: own !== null && own.policy === set.policy ? own.changed_at : set.changed_at,
    day: newest.day,
    day_policy: newest.day_policy,
    opened: newest.opened,
  };
  if (own === null ? row === undefined && after === null : after !== null && isSame(own, after)) return false;
  await database.batch([
    ...deleteProbeRows(orgId, { probeIds: [], isProgramme: true }),
    ...(after === null ? [] : [probeProgrammes.save!(sealed(seals, probeProgrammes, after).row)]),
  ]);
  return true;
}

/** Whether a row has exactly these columns, its seal aside. */
function isSame<Row extends object>(row: Row, columns: Row): boolean {
  const textOf = (value: unknown) => value instanceof Uint8Array ? value.toHex() : value;
  return Object.entries(columns).every(([name, value]) =>
    name === "seal" || textOf(value) === textOf(row[name as keyof Row])
  );
}

interface KnownOfProbe {
  readonly facts: ProbeFacts;
  readonly row: ProbeRow | undefined;
  /** Whether this installation wrote the row, now or earlier. */
  readonly isOwn: boolean;
}

class Rebuilding {
  readonly #epochs: readonly AcceptedEpoch[];
  readonly #last: number;

  constructor(
    private readonly dependencies: AcceptanceDependencies,
    private readonly orgId: string,
    { epochs, last }: { readonly epochs: readonly AcceptedEpoch[]; readonly last: number },
  ) {
    this.#epochs = epochs;
    this.#last = last;
  }

  /** The row of a probe; null if there is to be none. */
  async rowOf(probeId: string, known: KnownOfProbe): Promise<ProbeRow | null> {
    const { facts, row } = known;
    const seal = facts.seal ?? await this.#unprovenSeal(known);
    if (seal === null) return null;
    const own = known.isOwn && row!.position === seal.position && row!.commitment === seal.commitment
      ? row!
      : null;
    const state = await this.#stateOf(facts, own);
    const { position, domain, stakes, commitment } = seal;
    const truth = this.#truthOf(probeId, {
      commitment,
      closed: facts.closed,
      references: [row?.reference ?? null, null],
    });
    const isKnown = truth !== null;
    return {
      org_id: this.orgId,
      probe_id: probeId,
      position,
      request_id: own?.request_id ?? seal.request_id,
      at: own?.at ?? seal.at,
      domain,
      stakes,
      commitment,
      reference: truth?.reference ?? null,
      ...(isKnown || state.closed_at !== null ? state : {
        ...state,
        state: "recalled",
        closed_at: Math.max(this.#last, seal.at),
      }),
    };
  }

  /**
   * The seal of a probe of which no proven entry tells: that of a row which this installation wrote, unless its place
   * is in no chain; or that of any row whose entry is cut off, so that its name stays used.
   */
  async #unprovenSeal({ row, isOwn }: KnownOfProbe): Promise<SealColumns | null> {
    if (row === undefined) return null;
    const gap = await this.#gapAt(row.position);
    return gap === "cut off" || (gap === "unproven" && isOwn) ? row : null;
  }

  /** Why no proven entry is at a position; null if one is, or if no chain reaches it. */
  async #gapAt(position: number): Promise<"cut off" | "unproven" | null> {
    const epoch = this.#epochs.findLast(({ stored }) => stored.firstPosition <= position);
    if (epoch === undefined) return null;
    const { accepted, stored: { chain, firstPosition, minIndex, frontier } } = epoch;
    const seq = position - firstPosition;
    if (seq >= frontier.size) return null;
    if (seq < minIndex) return "cut off";
    const found = await readEntriesAt(this.dependencies.database, { chain, seqs: [seq] });
    return (await accepted.entries(found, () => true)).has(seq) ? null : "unproven";
  }

  async #stateOf({ drawn, closed }: ProbeFacts, own: ProbeRow | null): Promise<StateColumns> {
    const drawnColumns = {
      drawn_at: own?.drawn_at ?? drawn?.at ?? null,
      expires_at: own?.expires_at ?? (drawn === undefined ? null : await this.#expiryOf(drawn)),
    };
    if (closed !== undefined) {
      const { state, position, at, ai_correct } = closed;
      return {
        ...drawnColumns,
        state,
        closed_position: position,
        closed_at: at,
        ai_correct: ai_correct ? 1 : 0,
        departed: state !== "decided"
          ? null
          : own?.closed_position === position
          ? own.departed
          : await this.#departureBefore(closed),
      };
    }
    // The entry that closed it is cut off, or not proven.
    if (own?.closed_position != null && await this.#gapAt(own.closed_position) !== null) {
      const { state, closed_position, closed_at, ai_correct, departed } = own;
      return { ...drawnColumns, state, closed_position, closed_at, ai_correct, departed };
    }
    const open = { closed_position: null, closed_at: null, ai_correct: null, departed: null };
    if (drawn === undefined) return { ...drawnColumns, ...open, state: "sealed" };
    const expires_at = drawnColumns.expires_at ?? drawn.at;
    return { ...drawnColumns, ...open, expires_at, state: "drawn" };
  }

  /** The hidden part of a seal: as it was opened, or a truth that gives its commitment; null if there is neither. */
  #truthOf(
    probe_id: string,
    { commitment, closed, references }: {
      readonly commitment: string;
      readonly closed: ProbeFacts["closed"];
      readonly references: readonly (string | null)[];
    },
  ): { readonly ai_correct: boolean; readonly reference: string | null } | null {
    if (closed !== undefined) return { ai_correct: closed.ai_correct, reference: closed.reference };
    const { crypto, installation } = this.dependencies;
    const salt = probeSalt(installation.key, this.orgId, probe_id);
    for (const reference of references) {
      for (const ai_correct of [true, false]) {
        const truth = { probe_id, ai_correct, reference };
        if (probeCommitment(crypto, salt, truth) === commitment) return { ai_correct, reference };
      }
    }
    return null;
  }

  /** Until when a probe was to be decided, from the assignment after its draw; null if that is not held. */
  async #expiryOf({ epoch, seq }: Place): Promise<number | null> {
    const input = await this.#inputAt(epoch, { seq: seq + 1, eventType: "PROBE_ASSIGNED" });
    const expiresAt = PROBE_DETAILS.PROBE_ASSIGNED.safeParse(input).data?.expires_at ?? null;
    return expiresAt === null ? null : Date.parse(expiresAt);
  }

  /** Whether the score before an opening departed from the recommendation; null if its input is not held. */
  async #departureBefore({ epoch, seq }: Place): Promise<number | null> {
    const input = await this.#inputAt(epoch, { seq: seq - 1, eventType: "SCORE_COMPUTED" }) as
      | { readonly interaction?: unknown }
      | null;
    const { success, data } = recordedInteractionSchema.safeParse(input?.interaction);
    return success ? (departsFromAdvice(data) ? 1 : 0) : null;
  }

  /** The proven input of an entry; null if there is none. */
  async #inputAt(
    { stored: { chain }, accepted }: AcceptedEpoch,
    { seq, eventType }: { readonly seq: number; readonly eventType: string },
  ): Promise<unknown> {
    const { crypto, database } = this.dependencies;
    const found = await readEntriesAt(database, { chain, seqs: [seq] });
    const part = found[0]?.parts.find(({ name }) => name === "input");
    if (part === undefined) return null;
    const proven = await accepted.entries(
      found,
      (entry) => entry.event_type === eventType && isCommitted(crypto, entry, part),
    );
    return proven.has(seq) ? orNull(() => JSON.parse(part.text)) : null;
  }
}
