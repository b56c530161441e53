/**
 * A candidate model in shadow: the candidate scores every interaction too, after it was committed and from
 * its recorded input, and the differences between the two models are summed up.
 *
 * It writes nothing, and nothing waits for it: the writer hands over the entries of a durable commit, and a
 * few are processed at a time, with requests served in between. Its data is in this process's memory only,
 * under pseudonyms, and bounded. An operator's state begins as the model in use has left it, as it would if
 * the candidate came into use at that moment (scoring model, section 15, point 5).
 * Source: contract, section 1 (`JISS_SCORING_SHADOW_MODEL_FILE`).
 */
import {
  SHADOW_OPERATORS_MAX,
  SHADOW_QUEUE_LIMIT,
  SHADOW_REPORTED_OPERATORS,
  SHADOW_WEIGHTS_MAX,
} from "../../domain/limits.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { hex } from "../../evidence/crypto.ts";
import { computeLabel, computeScore, type LabelInput, type ScoreInput } from "../../evidence/record.ts";
import { errorFields, type Log } from "../../observability/log.ts";
import type { Model } from "../../scoring/model.ts";
import type { EventWeights } from "../../scoring/reducer.ts";
import {
  type Comparison,
  countDirections,
  differenceFigures,
  differenceOf,
  directionsOf,
  EMPTY_TALLY,
  figuresOf,
  tallied,
  type Tally,
} from "../../scoring/shadow.ts";
import type { OperatorState } from "../../scoring/state.ts";
import { subjectsOfPseudonymsQuery } from "../../store/subjects.ts";
import { nextTurn } from "../../store/turn.ts";
import type { PlacedEntry } from "../../store/unit_of_work.ts";
import type { Reading, Scoring } from "../shared/capabilities.ts";
import type { OrganizationCaller } from "../shared/call.ts";

/** The entries that move an operator's state, and the one that ends it. */
const FOLLOWED_EVENTS = ["SCORE_COMPUTED", "OUTCOME_LABELLED", "SUBJECT_ERASED"] as const;

/** Entries that are processed in one turn of the event loop: they take less than half a millisecond. */
const SLICE = 8;

/** Shortest time between two failures in the log, milliseconds; the metrics count every failure. */
const FAILURE_LOGGED_MS = 60_000;

interface QueuedEntry {
  readonly type: (typeof FOLLOWED_EVENTS)[number];
  readonly orgId: string;
  /** The operator's pseudonym. */
  readonly subject: string;
  readonly entryId: string;
  readonly entryHash: Uint8Array;
  /** Canonical JSON, as recorded. */
  readonly input: string | undefined;
  readonly result: string | undefined;
}

/** One operator under the candidate model. */
interface ShadowOperator {
  /**
   * The entry that was processed last, and the candidate's state after it as JSON, which takes a fraction of
   * the memory of the value. null if the candidate begins with the next entry.
   */
  place: { readonly entryHash: string; readonly state: string } | null;
  /** The candidate's weights, by the entry id of a score that may be labelled later. */
  readonly weights: Map<string, EventWeights>;
  tally: Tally;
  /** The comparison at the newest interaction. */
  newest: Comparison | null;
}

interface ShadowOrganization {
  readonly operators: Map<string, ShadowOperator>;
  failed: number;
  missed: number;
  restarts: number;
}

/** Sizes of the held data, and counts since the start. */
export interface ShadowCounts {
  readonly waiting: number;
  readonly operators: number;
  /** Number of scores whose weights are kept for a late label. */
  readonly weights: number;
  readonly failed: number;
  readonly missed: number;
  readonly restarts: number;
}

/** Upper bounds of the operators that are followed, the entries that wait, and the weights that are kept. */
export interface ShadowBounds {
  readonly operators: number;
  readonly queue: number;
  readonly weights: number;
}

export interface ShadowOptions {
  readonly candidate: Model;
  /** Instant of the start, epoch milliseconds. */
  readonly since: number;
  readonly log: Log;
  /** A clock that never goes back, milliseconds. */
  readonly monotonic: () => number;
  /** Called for each interaction that was compared. */
  readonly onCompared?: (
    compared: { readonly difference: number } & ReturnType<typeof directionsOf>,
  ) => void;
  /** Default: the bounds of the program. */
  readonly bounds?: ShadowBounds;
}

export class Shadow {
  readonly #options: ShadowOptions;
  readonly #bounds: ShadowBounds;
  readonly #queue: QueuedEntry[] = [];
  #running: Promise<void> | null = null;
  readonly #organizations = new Map<string, ShadowOrganization>();
  #operators = 0;
  /** Operators whose weights are kept, by the entry id of the score, oldest first. */
  readonly #weightOwners = new Map<string, ShadowOperator>();
  #loggedAt = -Infinity;

  constructor(options: ShadowOptions) {
    this.#options = options;
    this.#bounds = options.bounds ??
      { operators: SHADOW_OPERATORS_MAX, queue: SHADOW_QUEUE_LIMIT, weights: SHADOW_WEIGHTS_MAX };
  }

  get candidate(): Model {
    return this.#options.candidate;
  }

  get since(): number {
    return this.#options.since;
  }

  get counts(): ShadowCounts {
    const organizations = [...this.#organizations.values()];
    const sum = (count: (organization: ShadowOrganization) => number) =>
      organizations.reduce((total, organization) => total + count(organization), 0);
    return {
      waiting: this.#queue.length,
      operators: this.#operators,
      weights: this.#weightOwners.size,
      failed: sum(({ failed }) => failed),
      missed: sum(({ missed }) => missed),
      restarts: sum(({ restarts }) => restarts),
    };
  }

  /** Takes the entries of a commit that is durable, and returns at once. */
  enqueue(entries: readonly PlacedEntry[]): void {
    for (const { entry, hash, parts } of entries) {
      const type = FOLLOWED_EVENTS.find((name) => name === entry.event_type);
      if (type === undefined) continue;
      const orgId = entry.org_id!;
      // An erased operator is forgotten even if the queue is full.
      if (type !== "SUBJECT_ERASED" && this.#queue.length >= this.#bounds.queue) {
        this.#organizationOf(orgId).missed += 1;
        continue;
      }
      const textOf = (wanted: string) => parts.find(({ name }) => name === wanted)?.text;
      this.#queue.push({
        type,
        orgId,
        subject: entry.subject!,
        entryId: entry.id,
        entryHash: hash,
        input: textOf("input"),
        result: textOf("result"),
      });
    }
    if (this.#queue.length > 0) this.#running ??= this.#run();
  }

  /** Waits until the taken entries are processed. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Drops the entries that still wait. */
  async close(): Promise<void> {
    this.#queue.length = 0;
    await this.#running;
  }

  /** The comparisons of an organization's operators, by pseudonym. */
  operatorsOf(
    orgId: string,
  ): ReadonlyMap<string, { readonly tally: Tally; readonly newest: Comparison | null }> {
    return this.#organizationOf(orgId).operators;
  }

  /** Counts of an organization's failed and missed entries, and of restarts from the recorded state. */
  gapsOf(orgId: string): { readonly failed: number; readonly missed: number; readonly restarts: number } {
    const { failed, missed, restarts } = this.#organizationOf(orgId);
    return { failed, missed, restarts };
  }

  /** Forgets all about an operator. */
  forget(orgId: string, subject: string): void {
    const { operators } = this.#organizationOf(orgId);
    const operator = operators.get(subject);
    if (operator === undefined) return;
    operators.delete(subject);
    this.#operators -= 1;
    for (const entryId of operator.weights.keys()) this.#weightOwners.delete(entryId);
  }

  async #run(): Promise<void> {
    await nextTurn();
    while (this.#queue.length > 0) {
      this.#queue.splice(0, SLICE).forEach((waiting) => this.#process(waiting));
      await nextTurn();
    }
    this.#running = null;
  }

  /** Processes one entry. Never throws: a failure of the candidate is logged and counted. */
  #process(waiting: QueuedEntry): void {
    const { type, orgId, subject } = waiting;
    if (type === "SUBJECT_ERASED") return this.forget(orgId, subject);
    const organization = this.#organizationOf(orgId);
    const operator = this.#operatorOf(organization, subject);
    if (operator === null) {
      organization.missed += 1;
      return;
    }
    try {
      const state = type === "SCORE_COMPUTED"
        ? this.#score(waiting, organization, operator)
        : this.#label(waiting, organization, operator);
      operator.place = { entryHash: hex(waiting.entryHash), state };
    } catch (error) {
      operator.place = null;
      organization.failed += 1;
      this.#logFailure(error);
    }
  }

  /** @returns the candidate's state after the score, as JSON. */
  #score(
    { entryId, input, result }: QueuedEntry,
    organization: ShadowOrganization,
    operator: ShadowOperator,
  ): string {
    const recorded: ScoreInput = JSON.parse(input!);
    const scored = computeScore(this.candidate.document, {
      ...recorded,
      state: stateBefore(organization, operator, recorded),
    });
    const comparison = { inUse: figuresOf(JSON.parse(result!)), candidate: figuresOf(scored.result) };
    // A result that is no JSON value, for example a score that is not a number, is refused, as on the write
    // path.
    canonicalJson(scored.result);
    const state = canonicalJson(scored.state);
    const difference = differenceOf(comparison);
    operator.tally = tallied(operator.tally, difference);
    operator.newest = comparison;
    if (
      recorded.interaction.outcome_correct === null && recorded.interaction.scenario_type !== "error_injected"
    ) {
      this.#keepWeights(entryId, operator, scored.weights);
    }
    this.#options.onCompared?.({ difference, ...directionsOf(comparison) });
    return state;
  }

  /**
   * A late label counts with the weights that the candidate gave the interaction. If the candidate did not
   * score it, the recorded weights count, as they would after a change of models.
   * @returns the candidate's state after the label, as JSON.
   */
  #label({ input }: QueuedEntry, organization: ShadowOrganization, operator: ShadowOperator): string {
    const recorded: LabelInput = JSON.parse(input!);
    const after = computeLabel(this.candidate.document, {
      ...recorded,
      weights: operator.weights.get(recorded.ref_id) ?? recorded.weights,
      state: stateBefore(organization, operator, recorded)!,
    });
    return canonicalJson(after);
  }

  #keepWeights(entryId: string, operator: ShadowOperator, weights: EventWeights): void {
    operator.weights.set(entryId, weights);
    this.#weightOwners.set(entryId, operator);
    if (this.#weightOwners.size <= this.#bounds.weights) return;
    const [oldest, owner] = this.#weightOwners.entries().next().value!;
    owner.weights.delete(oldest);
    this.#weightOwners.delete(oldest);
  }

  #organizationOf(orgId: string): ShadowOrganization {
    const known = this.#organizations.get(orgId);
    if (known !== undefined) return known;
    const organization = { operators: new Map(), failed: 0, missed: 0, restarts: 0 };
    this.#organizations.set(orgId, organization);
    return organization;
  }

  /**
   * The operator; null if the bound on followed operators is reached. Dropping one for each new one would
   * leave figures of nobody.
   */
  #operatorOf({ operators }: ShadowOrganization, subject: string): ShadowOperator | null {
    const known = operators.get(subject);
    if (known !== undefined) return known;
    if (this.#operators >= this.#bounds.operators) return null;
    const operator: ShadowOperator = { place: null, weights: new Map(), tally: EMPTY_TALLY, newest: null };
    operators.set(subject, operator);
    this.#operators += 1;
    return operator;
  }

  #logFailure(error: unknown): void {
    const now = this.#options.monotonic();
    if (now - this.#loggedAt < FAILURE_LOGGED_MS) return;
    this.#loggedAt = now;
    this.#options.log.error("the candidate model failed on an interaction; real scores go on without it", {
      failed: this.counts.failed,
      ...errorFields(error),
    });
  }
}

/**
 * The candidate's state if it has followed the operator without a gap. Else the recorded state of the model
 * in use: at first, after a failure, after a missed entry, and after an entry of another process.
 */
function stateBefore(
  organization: ShadowOrganization,
  operator: ShadowOperator,
  { prior, state }: Pick<ScoreInput, "prior" | "state">,
): OperatorState | null {
  if (operator.place === null) return state;
  if (operator.place.entryHash === prior?.entry_hash) return JSON.parse(operator.place.state);
  organization.restarts += 1;
  return state;
}

/** Runs a candidate model beside the one in use; null if there is none. */
export interface Shadowing {
  readonly shadow: Shadow | null;
}

/** Differences of the candidate for an organization since this process started; null if no candidate runs. */
export async function shadowReport(
  { database, model, shadow }: Pick<Reading, "database"> & Scoring & Shadowing,
  { orgId }: OrganizationCaller,
) {
  if (shadow === null) return { shadow: null };
  const subjects = [...shadow.operatorsOf(orgId).keys()];
  const names = new Map(
    (await database.read(subjectsOfPseudonymsQuery(orgId, subjects))).map((
      row,
    ) => [row.pseudonym, row.operator_id]),
  );
  // Operators that another process erased are left out and forgotten.
  for (const subject of subjects) if (!names.has(subject)) shadow.forget(orgId, subject);
  const operators = [...shadow.operatorsOf(orgId)].flatMap(([subject, { tally, newest }]) => {
    const operatorId = names.get(subject);
    return newest === null || operatorId === undefined ? [] : [{ operatorId, tally, newest }];
  });
  const directions = operators.map(({ newest }) => directionsOf(newest));
  const distance = ({ newest }: { readonly newest: Comparison }) => Math.abs(differenceOf(newest));
  return {
    shadow: {
      model: { version: model.document.version, sha256: model.sha256 },
      candidate: { version: shadow.candidate.document.version, sha256: shadow.candidate.sha256 },
      since: new Date(shadow.since).toISOString(),
      interactions: {
        compared: operators.reduce((sum, { tally }) => sum + tally.count, 0),
        ...shadow.gapsOf(orgId),
      },
      difference: differenceFigures(operators.map(({ tally }) => tally)),
      operators: {
        compared: operators.length,
        band: countDirections(directions.map(({ band }) => band)),
        compliance_status: countDirections(directions.map(({ status }) => status)),
      },
      most_different: operators
        .toSorted((first, second) =>
          distance(second) - distance(first) || (first.operatorId < second.operatorId ? -1 : 1)
        )
        .slice(0, SHADOW_REPORTED_OPERATORS)
        .map(({ operatorId, tally, newest }) => ({
          operator_id: operatorId,
          interactions: tally.count,
          difference: differenceOf(newest),
          model: shown(newest.inUse),
          candidate: shown(newest.candidate),
        })),
    },
  };
}

function shown({ jis, band, status }: Comparison["inUse"]) {
  return { jis, band, compliance_status: status };
}
