/**
 * A deployment with a random life: its own operations are called in an order that follows from a seed, over
 * days and weeks of a clock that is moved by hand.
 *
 * Nothing that happens to it is an attack. With a directory its database is a file, so that it can be
 * restarted, backed up, and restored.
 */
import assert from "node:assert/strict";
import { CLOCK_RULES } from "../src/operations/installation/clock_watch.ts";
import { equalBytes, type Signer } from "../src/evidence/crypto.ts";
import { signerFromPem } from "../src/evidence/node_crypto.ts";
import { anchorChains } from "../src/operations/chains/anchoring.ts";
import { directCall } from "../src/operations/organizations/organization_change.ts";
import { rotateByHand } from "../src/operations/organizations/organization_states.ts";
import { acknowledgeRestore, compareWithLock } from "../src/operations/restoring/restores.ts";
import { pruneChains } from "../src/operations/chains/retention.ts";
import { finishRotation, retireKey } from "../src/operations/shared/signing.ts";
import {
  type ArchetypeName,
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
  type Operator,
} from "../src/simulation/archetypes.ts";
import { type Random, seeded } from "../src/simulation/random.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  type HarnessOptions,
  openHarness,
  pemOf,
  type RequestOptions,
  SIGNING_KEY_PEM,
} from "./harness.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;

const DOMAINS = ["general", "financial", "healthcare", "legal"] as const;
const ENVIRONMENT = { ...DEFAULT_ENVIRONMENT, highStakesShare: 0.1, criticalShare: 0.05 };
/** The number for each organization. */
const OPERATORS = 5;
const ORGANIZATIONS = [1, 2] as const;
const BATCH = 24;
/** Days that scores and decisions, and the audit log, are kept; undefined: for good. */
const EVIDENCE_RETENTION = [undefined, 3, 7, 20] as const;
const AUDIT_RETENTION = [4, 15, 90] as const;

interface Organization {
  readonly id: string;
  readonly key: string;
  /** Sessions whose outcome may still become known. */
  readonly open: readonly string[];
}

/** The state of the test that is restored together with a copy of the database. */
interface Backup {
  readonly organizations: ReadonlyMap<string, Organization>;
  readonly signers: readonly Signer[];
}

export interface RandomDeploymentOptions {
  readonly seed: string;
  /** The directory of its files; null: in memory. */
  readonly directory: string | null;
  /** Called with the service's answers. */
  readonly onAnswer: (answer: Answer) => void;
}

export class RandomDeployment {
  readonly #options: RandomDeploymentOptions;
  readonly #random: Random;
  readonly #operators: readonly Operator[];
  /** Organizations. */
  readonly #most: number;
  #harness: Harness;
  #started: HarnessOptions;
  #organizations: ReadonlyMap<string, Organization> = new Map();
  /** The key in use, then during an overlap the one before it. */
  #signers: readonly Signer[];
  #keys: readonly Signer[];
  #backup: Backup | null = null;
  #names = 0;

  private constructor(options: RandomDeploymentOptions, harness: Harness, started: HarnessOptions) {
    this.#options = options;
    this.#random = seeded(options.seed);
    this.#harness = harness;
    this.#started = started;
    this.#signers = started.signers!;
    this.#keys = this.#signers;
    this.#most = this.#random.pick(ORGANIZATIONS);
    const archetypes = Object.keys(ARCHETYPES) as ArchetypeName[];
    this.#operators = Array.from(
      { length: OPERATORS },
      () => drawOperator(this.#random.pick(archetypes), this.#random),
    );
  }

  /** Installs it, with one organization. */
  static async open(options: RandomDeploymentOptions): Promise<RandomDeployment> {
    const { seed, directory } = options;
    const random = seeded(`${seed}/options`);
    const started: HarnessOptions = {
      ...(directory === null ? {} : { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` }),
      run: 0,
      startsAt: EPOCH,
      evidenceRetentionDays: random.pick(EVIDENCE_RETENTION),
      auditRetentionDays: random.pick(AUDIT_RETENTION),
      signers: [signerFromPem(SIGNING_KEY_PEM)],
    };
    const deployment = new RandomDeployment(options, await openHarness(started), started);
    await deployment.#addOrganization();
    return deployment;
  }

  get harness(): Harness {
    return this.#harness;
  }

  /** Every key that ever signed, oldest first. */
  get keys(): readonly Signer[] {
    return this.#keys;
  }

  /** Makes one thing happen, a while after the last. */
  async step(): Promise<void> {
    this.#harness.clock.advance(Math.round(this.#random.uniform(SECOND, 30 * MINUTE)));
    const weights = STEPS.map(([weight]) => weight);
    const [, run] = this.#random.pick(STEPS, weights);
    await run(this);
  }

  /** Verifies the database, and closes it. */
  async close(): Promise<void> {
    await this.#harness.close();
  }

  // ---- what an organization asks for ----------------------------------------------------------------------------

  async score(query = ""): Promise<void> {
    await this.#ask(this.#pickOrganization(), `/v1/score${query}`, { body: this.#scoreBody() });
  }

  /** Scores several organizations and operators, possibly in one commit. */
  async scoresAtOnce(): Promise<void> {
    const asked = Array.from(
      { length: this.#whole(2, 6) },
      () => [this.#pickOrganization(), this.#scoreBody()] as const,
    );
    await Promise.all(asked.map(([orgId, body]) => this.#ask(orgId, "/v1/score", { body })));
  }

  async batch(): Promise<void> {
    const index = this.#whole(0, OPERATORS);
    const interactions = Array.from(
      { length: this.#whole(1, BATCH) },
      () => ({ session_id: this.#name("item"), ...this.#interaction(index) }),
    );
    const body = { operator_id: `operator-${index}`, domain: this.#random.pick(DOMAINS), interactions };
    await this.#ask(this.#pickOrganization(), "/v1/score/batch", { body });
  }

  async decide(): Promise<void> {
    const index = this.#whole(0, OPERATORS);
    const body = {
      decision_id: this.#name("decision"),
      operator_id: `operator-${index}`,
      domain: this.#random.pick(DOMAINS),
      ...this.#interaction(index),
      stakes: this.#random.pick([null, "low", "high"]),
    };
    await this.#ask(this.#pickOrganization(), "/v1/decision/score", { body });
  }

  /** Commits one of the scores without an outcome, possibly with its outcome. */
  async commit(): Promise<void> {
    const { id, open } = this.#organizations.get(this.#pickOrganization())!;
    if (open.length === 0) return;
    const session = this.#random.pick(open);
    const body = this.#random.pick([{}, { outcome_correct: true }, { outcome_correct: false }]);
    // The score may have been erased, removed, lost with a restore, or labelled otherwise.
    const others = [404, 409, 410];
    await this.#ask(id, `/v1/score/${session}/commit`, { body }, others);
    if (this.#random.bernoulli(0.5)) this.#setOpen(id, open.filter((name) => name !== session));
  }

  async append(): Promise<void> {
    const body = { event_type: "POLICY_CHANGED", payload: { policy: this.#name("policy"), eyes: 4 } };
    await this.#ask(this.#pickOrganization(), "/v1/audit/append", { body }, [201]);
  }

  /** Some of its cases are decided. */
  async exercise(): Promise<void> {
    const { key } = this.#organizations.get(this.#pickOrganization())!;
    const body = {
      operator_id: `operator-${this.#whole(0, OPERATORS)}`,
      exercise_id: "ex_deferral_resistance_1",
      domain: this.#random.pick(DOMAINS),
      language: this.#random.pick(["en", "de"]),
    };
    const set = await this.#harness.send("/v1/exercises", { key, body });
    assert.equal(set.status, 201, set.text);
    this.#options.onAnswer(set);
    const path = new URL(set.body.link, "http://loopback.invalid").pathname;
    for (let number = 1; number <= this.#whole(0, 4); number += 1) {
      const decision = {
        number,
        choice: 0,
        first_choice: 1,
        advised: true,
        time_to_decision_ms: 1000 * number,
      };
      const telemetry = { hover_events: null, scroll_depth: 1, alternative_views_checked: 0 };
      const answer = await this.#harness.send(`${path}/decisions`, { body: { ...decision, ...telemetry } });
      assert.equal(answer.status, 200, answer.text);
    }
  }

  async report(): Promise<void> {
    const now = this.#harness.clock.now();
    const [start, end] = [now - 2 * DAY, now + DAY].map((at) => new Date(at).toISOString().slice(0, 10));
    const path = `/v1/compliance/report?period_start=${start}&period_end=${end}`;
    await this.#ask(this.#pickOrganization(), path, {});
  }

  async erase(): Promise<void> {
    const path = `/v1/operator/operator-${this.#whole(0, OPERATORS)}`;
    await this.#ask(this.#pickOrganization(), path, { method: "DELETE" }, [404]);
  }

  async inform(): Promise<void> {
    const path = `/v1/operator/operator-${this.#whole(0, OPERATORS)}/export`;
    await this.#ask(this.#pickOrganization(), path, {}, [404]);
  }

  // ---- what administrators and time do --------------------------------------------------------------------------

  async addOrganization(): Promise<void> {
    if (this.#organizations.size < this.#most) await this.#addOrganization();
  }

  async rotateApiKey(): Promise<void> {
    const { dependencies, clock } = this.#harness;
    const own = this.#organizations.get(this.#pickOrganization())!;
    const call = directCall(own.id, { now: clock.now(), requestId: "" });
    const { body } = await rotateByHand(dependencies, { actor: "admin-worker" }, call);
    this.#setOrganization({ ...own, key: String(body.new_api_key) });
  }

  async anchor(): Promise<void> {
    await anchorChains(this.#harness.dependencies, this.#harness.clock.now());
  }

  async letDaysPass(): Promise<void> {
    this.#harness.clock.advance(this.#whole(1, 6) * DAY);
    if (this.#random.bernoulli(0.8)) await this.prune();
  }

  async prune(): Promise<void> {
    await pruneChains(this.#harness.dependencies, this.#harness.clock.now());
  }

  /**
   * Sets the clock back, as when another machine's time is corrected: entries continue at the last one's
   * time.
   */
  stepClockBack(): void {
    this.#harness.clock.advance(-this.#whole(1, 5) * SECOND);
  }

  async rotateSigningKey(): Promise<void> {
    const [current, old] = this.#signers;
    if (old !== undefined) return await this.#dropOldKey();
    const next = signerFromPem(pemOf(`${this.#options.seed} key ${this.#keys.length + 1}`));
    this.#keys = [...this.#keys, next];
    this.#signers = [next, current!];
    await this.#harness.rotateSigningKey(next);
  }

  async #dropOldKey(): Promise<void> {
    const { dependencies, clock } = this.#harness;
    const { signing } = dependencies;
    await signing.reload();
    await retireKey(dependencies, {
      current: await signing.refresh(),
      known: signing.known,
      now: clock.now(),
    });
    await signing.reload();
    this.#signers = this.#signers.slice(0, 1);
  }

  // ---- what needs files -----------------------------------------------------------------------------------------

  /** Restarts, possibly with another retention. */
  async restart(): Promise<void> {
    if (this.#options.directory === null) return;
    await this.#harness.close();
    const { evidenceRetentionDays, auditRetentionDays } = this.#started;
    await this.#start({
      evidenceRetentionDays: this.#random.pick([evidenceRetentionDays, ...EVIDENCE_RETENTION]),
      auditRetentionDays: this.#random.pick([auditRetentionDays!, ...AUDIT_RETENTION]),
    });
  }

  async backUp(): Promise<void> {
    const { directory } = this.#options;
    if (directory === null) return;
    await this.#harness.close();
    await Deno.copyFile(`${directory}/jiss.db`, `${directory}/backup.db`);
    this.#backup = { organizations: this.#organizations, signers: this.#signers };
    await this.#start({});
  }

  /** Restores the last backup. */
  async restore(): Promise<void> {
    const [{ directory }, backup] = [this.#options, this.#backup];
    if (directory === null || backup === null) return;
    await this.#harness.close();
    await Deno.copyFile(`${directory}/backup.db`, `${directory}/jiss.db`);
    this.#organizations = backup.organizations;
    this.#signers = this.#random.pick(this.#signersThatFit(backup));
    // The command records no clock, and takes in a key itself; a service would do both with its first write.
    await this.#start({ clockRule: CLOCK_RULES.command });
    const { dependencies, clock } = this.#harness;
    // Nothing is lost if nothing was written since the backup was made.
    if ((await compareWithLock(dependencies)).length > 0) {
      const now = clock.now();
      await acknowledgeRestore(dependencies, { reason: "the disk failed", now });
      await finishRotation({ ...dependencies, now });
    }
    await this.#harness.close();
    await this.#start({ clockRule: CLOCK_RULES.service });
  }

  /** The key files of the backup's time, or today's if they still hold the key that signed last then. */
  #signersThatFit({ signers }: Backup): readonly (readonly Signer[])[] {
    const isHeld = this.#signers.some(({ publicKey }) => equalBytes(publicKey, signers[0]!.publicKey));
    return isHeld ? [signers, this.#signers] : [signers];
  }

  async #start(changes: HarnessOptions): Promise<void> {
    this.#started = {
      ...this.#started,
      ...changes,
      run: this.#started.run! + 1,
      startsAt: this.#harness.clock.now() + MINUTE,
      signers: this.#signers,
    };
    this.#harness = await openHarness(this.#started);
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  async #ask(
    orgId: string,
    path: string,
    request: RequestOptions,
    others: readonly number[] = [],
  ): Promise<void> {
    const answer = await this.#harness.send(path, { key: this.#organizations.get(orgId)!.key, ...request });
    assert.ok([200, ...others].includes(answer.status), `${path}: ${answer.text}`);
    this.#options.onAnswer(answer);
    if (answer.body?.provisional !== true || !path.startsWith("/v1/score")) return;
    this.#setOpen(orgId, [...this.#organizations.get(orgId)!.open, answer.body.session_id]);
  }

  #scoreBody(): Record<string, unknown> {
    const index = this.#whole(0, OPERATORS);
    return {
      session_id: this.#name("session"),
      operator_id: `operator-${index}`,
      domain: this.#random.pick(DOMAINS),
      interaction: this.#interaction(index),
    };
  }

  #interaction(index: number) {
    return drawInteraction(this.#operators[index]!, this.#names, ENVIRONMENT, this.#random);
  }

  /** A whole number from `low` to below `high`. */
  #whole(low: number, high: number): number {
    return Math.floor(this.#random.uniform(low, high));
  }

  #name(kind: string): string {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  #pickOrganization(): string {
    return this.#random.pick([...this.#organizations.keys()]);
  }

  async #addOrganization(): Promise<void> {
    // A name like an epoch's must not be taken for one.
    const id = this.#random.bernoulli(0.2) ? this.#name("e") : this.#name("org");
    this.#setOrganization({ id, key: await this.#harness.organization(id), open: [] });
  }

  #setOrganization(organization: Organization): void {
    this.#organizations = new Map([...this.#organizations, [organization.id, organization]]);
  }

  #setOpen(orgId: string, open: readonly string[]): void {
    this.#setOrganization({ ...this.#organizations.get(orgId)!, open });
  }
}

/** Everything that can happen, and how often. */
const STEPS: readonly (readonly [weight: number, run: (deployment: RandomDeployment) => unknown])[] = [
  [24, (deployment) => deployment.score()],
  [6, (deployment) => deployment.score("?mode=lite")],
  [3, (deployment) => deployment.score("?mode_override=incident_frozen")],
  [2, (deployment) => deployment.score("?role_tier=tier_3")],
  [8, (deployment) => deployment.scoresAtOnce()],
  [6, (deployment) => deployment.batch()],
  [10, (deployment) => deployment.decide()],
  [14, (deployment) => deployment.commit()],
  [4, (deployment) => deployment.append()],
  [2, (deployment) => deployment.report()],
  [2, (deployment) => deployment.exercise()],
  [3, (deployment) => deployment.erase()],
  [1, (deployment) => deployment.inform()],
  [2, (deployment) => deployment.addOrganization()],
  [4, (deployment) => deployment.rotateApiKey()],
  [4, (deployment) => deployment.anchor()],
  [6, (deployment) => deployment.letDaysPass()],
  [1, (deployment) => deployment.stepClockBack()],
  [3, (deployment) => deployment.rotateSigningKey()],
  [1, (deployment) => deployment.restart()],
  [2, (deployment) => deployment.backUp()],
  [2, (deployment) => deployment.restore()],
];
