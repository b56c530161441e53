/**
 * One client of the fuzzed service, which sends case after case: it fills in names, keeps track of what
 * exists, replaces what a case destroyed, and checks each answer. Its requests follow one another; other
 * lanes run beside it.
 */
import { gunzipSync } from "node:zlib";
import { orNull } from "../../src/evidence/or_null.ts";
import { CASE_SET_EXAMPLE } from "../../src/exercises/example.ts";
import { cookieIn } from "../examples.ts";
import { lookAt } from "./api_answers.ts";
import { bytesOf, type Case } from "./api_cases.ts";
import type { ApiDocument, Operation, Received } from "./api_document.ts";
import { emptyState, LESSONS, type Organization, type State } from "./api_state.ts";

/** Shared by the lanes. */
export interface Target {
  readonly url: string;
  readonly document: ApiDocument;
  /** Keys by scope. */
  readonly masterKeys: Readonly<Record<string, string>>;
  /** The URL to which webhooks may be sent. */
  readonly receiver: string;
  readonly alerts: readonly string[];
  /** Called with each answer; null: there was none in time. */
  readonly observe: (sent: Sent, received: Received | null, problems: readonly string[]) => void;
}

/** A request, as it went. */
export interface Sent {
  /** The operation that the request matches; null: none. */
  readonly operation: Operation | null;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Whether the request is valid by the document, as far as the document says. */
  readonly isWellFormed: boolean;
  /** Whether it was made to be accepted. */
  readonly isTidy: boolean;
}

interface Asked {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Exercises can be recommended to an operator with this many. */
const MATURE_INTERACTIONS = 60;
/** In every sixth case the advice is wrong: without known cases of wrong advice no score becomes final. */
const CASES_PER_WRONG_ADVICE = 6;
/** After this many cases a new organization is used, so that reads of all its data do not grow for ever. */
const CASES_OF_AN_ORGANIZATION = 400;
const WEBHOOKS_AT_MOST = 9;
/** Eight lanes may wait for hashes of passwords at once, on a machine with other work. */
const TIMEOUT_MS = 30_000;
/** Enough telemetry, and a sound outcome, to have a mature operator's score committed at once. */
const INTERACTION = {
  time_to_decision_ms: 9000,
  decision: "accepted",
  outcome_correct: true,
  hover_events: 5,
  scroll_depth: 0.8,
  alternative_views_checked: 1,
};
/** A machine that has other work to do may let a first delivery wait. */
const DELIVERY_MS = 60_000;
/** The service admits ten attempts to sign in as one user in a quarter of an hour. */
const ATTEMPTS_OF_A_USER = 9;
const SECRET = "a-secret-of-the-receiver";
/** Operations that replace or revoke the caller's key. */
const VICTIMS: ReadonlySet<string> = new Set(["postKeyRotation", "postKeyRevocation"]);
/** Operations that answer a repeated request as before. */
const REPEATABLE: ReadonlySet<string> = new Set(["postBatch", "postAssessment"]);

export class Lane {
  #state: State | null = null;
  #cases = 0;
  #names = 0;
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(private readonly target: Target, private readonly name: string) {
    this.#operations = new Map(target.document.operations.map((one) => [one.id, one]));
  }

  /** Sends a case, after the requests that it needs to reach its handler. */
  async run(one: Case): Promise<void> {
    if (this.#cases++ % CASES_OF_AN_ORGANIZATION === 0) await this.#settle();
    await this.#prepare(one.id);
    const sent = this.#requestOf(one);
    const received = await this.#send(sent);
    if (one.again && received !== null && received.status < 300) await this.#repeat(sent);
  }

  /** A score of each organization replays, and its chains verify. */
  async finish(): Promise<void> {
    if (this.#state === null) return;
    await this.#ask("getReplay", { path: { id: this.#oneOf([...this.#state.sessions.keys()]) } });
    await this.#ask("getChainVerification");
    await this.#ask("getAdminChainVerification");
  }

  async #repeat(sent: Sent): Promise<void> {
    // The key may be gone, or what was to be removed.
    const received = await this.#send({ ...sent, isTidy: false });
    if (received === null || sent.operation === null || !REPEATABLE.has(sent.operation.id)) return;
    const isSame = received.status < 300 && received.headers.get("Idempotency-Replayed") === "true";
    if (!isSame) this.target.observe(sent, received, ["repeated, it is not answered as before"]);
  }

  get #here(): State {
    if (this.#state === null) throw new Error("nothing was sent yet");
    return this.#state;
  }

  // ---- what has to be there ------------------------------------------------------------------------------

  /** An organization with something of every kind. */
  async #settle(): Promise<void> {
    await this.finish();
    const main = await this.#organization();
    this.#state = emptyState(main, this.#state?.victim ?? await this.#organization());
    const operator_id = await this.#grow();
    await this.#ask("postWebhook", { body: { url: this.target.receiver, secret: SECRET } });
    await this.#ask("postScore", { body: this.#scoreOf(operator_id) });
    await this.#ask("postDecision", {
      body: { decision_id: this.#fresh(), operator_id, domain: "financial", ...INTERACTION },
    });
    await this.#ask("getReport", { query: { period_start: "2026-01-01", period_end: "2030-01-01" } });
    await this.#ask("postAssessment", { body: { sessionId: this.#fresh(), records: [INTERACTION] } });
    const until = performance.now() + DELIVERY_MS;
    while (this.#here.deliveries.length === 0) {
      if (performance.now() > until) throw new Error("no webhook was delivered to the fuzzer's receiver");
      await new Promise((next) => setTimeout(next, 10));
      await this.#ask("getDeliveries", { path: { id: this.#here.primary } });
    }
  }

  /** A reviewer with enough cases for statements. */
  async #grow(): Promise<string> {
    const operator_id = this.#fresh();
    const interactions = Array.from({ length: MATURE_INTERACTIONS }, (_, index) => ({
      session_id: this.#fresh(),
      ...INTERACTION,
      // Rejected, and rightly so.
      decision: index % CASES_PER_WRONG_ADVICE === 0 ? "rejected" : "accepted",
      time_to_decision_ms: 4000 + 100 * index,
    }));
    this.#here.mature.push(operator_id);
    await this.#ask("postBatch", { body: { operator_id, domain: "financial", interactions } });
    return operator_id;
  }

  async #organization(): Promise<Organization> {
    const id = this.#fresh();
    const fields = { domain: "financial", tier: "standard", allowed_origins: "https://a.example" };
    const { text } = await this.#ask("postOrganization", { body: { org_id: id, name: id, ...fields } });
    return { id, key: JSON.parse(text).api_key, reasons: new Set() };
  }

  async #prepare(id: string): Promise<void> {
    const { sessions, mature, operators, webhooks } = this.#here;
    if (mature.length === 0) await this.#grow();
    if (sessions.size === 0) await this.#ask("postScore", { body: this.#scoreOf(this.#here.mature[0]!) });
    if (operators.length === 0) await this.#ask("postScore", { body: this.#scoreOf(this.#fresh()) });
    if (id === "postProbeRecall" && this.#here.probes.length === 0) {
      await this.#ask("postProbe", { body: { domain: "general", stakes: "standard", ai_correct: false } });
    }
    if (id === "putProbePolicy") {
      await this.#ask(id, { body: { enabled: false, rate: 0.01, highest_share: 0.02 } });
    }
    if (/Exercise|CaseSet/.test(id) && this.#here.sets.length === 0) {
      await this.#ask("postCaseSet", { body: { ...CASE_SET_EXAMPLE, domain: "general" } });
    }
    if (
      /^(?:getExercise|getExercisePage|postExerciseDecision)$/.test(id) && this.#here.exercises.size === 0
    ) {
      const body = {
        operator_id: this.#here.mature[0]!,
        exercise_id: "ex_error_detection_1",
        domain: "general",
      };
      await this.#ask("postExercise", { body });
    }
    if (/^(?:getCase|postCaseEvent)$/.test(id) && this.#here.cases.size === 0) {
      await this.#ask("postCase", { body: { operator_id: await this.#grow(), statement: "A case." } });
    }
    if (/^(?:getOwnPage|getOwnCopy|postContest)$/.test(id) && this.#here.pages.size === 0) {
      await this.#ask("postPageLink", { path: { operator_id: this.#here.mature[0]! }, body: {} });
    }
    await this.#prepareUsers(id);
    if (id === "deleteWebhook" && webhooks.length === 0) {
      await this.#ask("postWebhook", {
        body: { url: this.target.receiver, secret: SECRET, events: ["drs.escalation"] },
      });
    }
    if (id === "postWebhook" && webhooks.length >= WEBHOOKS_AT_MOST - 1) {
      await this.#ask("deleteWebhook", { path: { id: webhooks[0]! } });
    }
    await this.#prepareVictim(id);
  }

  /** Named keys, a user with a link, and one who is signed in, as far as an operation needs them. */
  async #prepareUsers(id: string): Promise<void> {
    const { keys, users } = this.#here;
    if (id === "deleteKey" && keys.length === 0) {
      await this.#ask("postKey", { body: { name: "of the fuzzer", scopes: ["read"] } });
    }
    const needsUser = /^(?:putUser|deleteUser|getUserSessions|deleteUserSessions|postUserLink)$/.test(id);
    const needsLink = /^postLink/.test(id) && this.#links.length === 0;
    if (needsLink || (needsUser && users.size === 0)) await this.#invite();
    const needsSession = this.#operations.get(id)!.key === "session" ||
      id === "postSignIn" || id === "deleteUserSession";
    if (!needsSession) return;
    const sendsPassword = id === "postSignIn" || id === "postPassword";
    if (sendsPassword && (this.#here.user?.attempts ?? 0) >= ATTEMPTS_OF_A_USER) this.#here.user = null;
    if (this.#here.user === null) {
      await this.#invite();
      await this.#ask("postLinkUse", {
        body: { token: this.#links.at(-1), password: "a password of the lane" },
      });
    }
    if (sendsPassword) this.#here.user!.attempts += 1;
  }

  async #invite(): Promise<void> {
    await this.#ask("postUser", { body: { email: "$address", name: "Of the fuzzer", role: "viewer" } });
  }

  /** Tokens of links that can be used. */
  get #links(): readonly string[] {
    return [...this.#here.users.values()].filter((token) => token !== null);
  }

  async #prepareVictim(id: string): Promise<void> {
    const { key, reasons } = this.#here.victim;
    const isActive = key !== null && reasons.size === 0;
    const isStopped = reasons.has("manual") || reasons.has("force");
    const needsActive = VICTIMS.has(id) || id === "postForcedRotation";
    if ((needsActive && !isActive) || (id === "postBillingRotation" && isStopped)) {
      this.#here.victim = await this.#organization();
    }
    const { victim } = this.#here;
    if (id !== "postReactivation" || victim.reasons.has("manual")) return;
    const call = this.#call();
    await this.#ask("postSuspension", {
      path: { org_id: victim.id },
      body: { confirm_org_id: victim.id, idempotency_key: call },
    }, call);
  }

  #scoreOf(operator_id: string): unknown {
    return { session_id: this.#fresh(), operator_id, domain: "financial", interaction: INTERACTION };
  }

  /** A request of the lane's own, which must succeed. */
  async #ask(id: string, asked: Partial<Asked> = {}, call = this.#call()): Promise<Received> {
    const { method, parameters } = this.#operations.get(id)!;
    const isNamed = parameters.some(({ name }) => name === "Idempotency-Key");
    const sent = this.#requestOf({
      id,
      isTidy: true,
      method,
      path: asked.path ?? {},
      query: Object.entries(asked.query ?? {}),
      headers: isNamed ? { "Idempotency-Key": call } : {},
      key: "right",
      body: asked.body,
      damages: [],
      again: false,
    });
    const received = await this.#send(sent);
    if (received === null || received.status >= 300) {
      throw new Error(`${id}, which the fuzzer itself needs: ${received?.status} ${received?.text}`);
    }
    return received;
  }

  // ---- a case as a request -------------------------------------------------------------------------------

  #requestOf({ id, method, elsewhere, isTidy, ...one }: Case): Sent {
    const { document } = this.target;
    const operation = this.#operations.get(id)!;
    const call = this.#call();
    const named = (text: string) => this.#valueOf(text, { id, call });
    const path = mapValues(one.path, named);
    const query = one.query.map(([name, value]) => [name, named(value)] as [string, string]);
    const body = one.body === undefined ? null : bytesOf(mapped(one.body, named), one.damages);
    const key = this.#keyOf(operation, one.key);
    const headers: Readonly<Record<string, string>> = {
      ...(body === null ? {} : { "Content-Type": "application/json" }),
      ...mapValues(one.headers, named),
      ...(key === null ? {} : { "X-API-Key": key }),
      ...this.#sessionOf(operation, one.key),
    };
    const filled = elsewhere ?? operation.path.replaceAll(
      /\{(\w+)\}/g,
      (_, name) => encodeURIComponent(path[name]!.toWellFormed()),
    );
    const search = new URLSearchParams(query).toString();
    const reached = document.operationAt(method, pathnameOf(filled));
    return {
      operation: reached,
      method,
      target: `${filled}${search && `?${search}`}`,
      isTidy,
      headers,
      body: method === "GET" || method === "HEAD" ? null : body,
      // A preflight is the same whatever its path names.
      isWellFormed: reached !== operation || method === "OPTIONS" ||
        isWellFormed(document, operation, { path, query, headers, body }),
    };
  }

  #keyOf({ key, id }: Operation, kind: Case["key"]): string | null {
    if (key === "none" || kind === "missing" || (key === "session" && kind !== "of another kind")) {
      return null;
    }
    if (kind === "wrong") return "jis_00000000000000000000000000";
    const caller = VICTIMS.has(id) ? this.#state?.victim : this.#state?.main;
    const own = caller?.key ?? "none";
    if (key === "session") return own;
    if (key === "organization") return kind === "right" ? own : this.target.masterKeys.ORG_CREATE!;
    return kind === "right" ? this.target.masterKeys[key.scope]! : own;
  }

  /** The headers of a page of the service, in a browser that has a cookie. */
  #sessionOf({ key }: Operation, kind: Case["key"]): Readonly<Record<string, string>> {
    if (key !== "session" || kind === "missing" || kind === "of another kind") return {};
    const Cookie = kind === "right" ? this.#here.user!.cookie : `jiss_session=${"0".repeat(43)}`;
    return { Cookie, Origin: this.target.url };
  }

  #valueOf(text: string, { id, call }: { readonly id: string; readonly call: string }): string {
    if (text === "$fresh") return this.#fresh();
    if (text === "$idempotency") return call;
    if (text === "$address") return `${this.#fresh()}@fuzz.example`;
    if (text === "$receiver") return this.target.receiver;
    if (text === "$alert") return this.#oneOf(this.target.alerts);
    return Object.hasOwn(NAMES, text) ? this.#oneOf(NAMES[text]!(this.#here, id)) : text;
  }

  /** One of the latest, in turn. */
  #oneOf(names: readonly string[]): string {
    const latest = names.slice(-8);
    return latest[this.#names++ % Math.max(1, latest.length)] ?? this.#fresh();
  }

  #fresh(): string {
    return `${this.name}-${this.#names++}`;
  }

  #call(): string {
    return `call-${this.#fresh()}`;
  }

  // ---- what comes back -----------------------------------------------------------------------------------

  async #send(sent: Sent): Promise<Received | null> {
    const { document, url, observe } = this.target;
    let received: Received;
    try {
      const response = await fetch(url + sent.target, {
        method: sent.method,
        headers: sent.headers,
        body: sent.body as Uint8Array<ArrayBuffer> | null,
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      received = { status: response.status, headers: response.headers, text: await textOf(response) };
    } catch (error) {
      observe(sent, null, [`no answer: ${error}`]);
      return null;
    }
    observe(sent, received, lookAt(document, sent, received));
    if (received.status < 300) this.#learn(sent, received);
    return received;
  }

  #learn({ operation, target, body }: Sent, { headers, text }: Received): void {
    const learn = LESSONS[operation?.id ?? ""];
    if (learn === undefined || this.#state === null || headers.get("Content-Type") !== "application/json") {
      return;
    }
    learn(this.#state, {
      path: parametersIn(operation!.path, pathnameOf(target)),
      body: JSON.parse(text),
      cookie: cookieIn(headers),
      // A call that takes no body ignores one, even if it is no JSON.
      sent: body === null ? null : orNull(() => JSON.parse(new TextDecoder().decode(body))),
    });
  }
}

/** The path as the client sends it: without `..`. */
export function pathnameOf(target: string): string {
  return new URL(`http://service${target}`).pathname;
}

const NAMES: Readonly<Record<string, (state: State, id: string) => readonly string[]>> = {
  "$session": ({ sessions }) => [...sessions.keys()],
  "$decision": ({ decisions }) => [...decisions.keys()],
  "$operator": ({ operators }) => operators,
  "$mature": ({ mature }) => mature,
  "$org": ({ main, victim }, id) => [id === "getUsage" ? main.id : victim.id],
  "$report": ({ reports }) => reports,
  "$webhook": ({ primary, webhooks }, id) => id === "deleteWebhook" ? webhooks : [primary],
  "$delivery": ({ deliveries }) => deliveries,
  "$assessment": ({ assessments }) => assessments,
  "$probe": ({ probes }) => probes,
  "$run": ({ exercises }) => [...exercises.values()].map(({ run }) => run),
  "$case": ({ cases }) => [...cases.keys()],
  "$without-case": ({ operators, cases }) => {
    const taken = new Set(cases.values());
    return operators.filter((operator) => !taken.has(operator));
  },
  "$token": ({ exercises }) => [...exercises.keys()],
  "$page": ({ pages }) => [...pages.keys()],
  "$set": ({ sets }) => sets,
  "$key": ({ keys }) => keys,
  "$user": ({ users }) => [...users.keys()],
  "$link": ({ users }) => [...users.values()].filter((token) => token !== null).slice(-1),
  "$main": ({ main }) => [main.id],
  "$email": ({ user }) => user === null ? [] : [user.email],
  "$password": ({ user }) => user === null ? [] : [user.password],
  "$signed-in": ({ user }) => user === null ? [] : [user.id],
  "$own-session": ({ user }) => user === null ? [] : [user.session],
  "$cursor": ({ cursors }, id) => [cursors.get(id) ?? "1"],
};

function mapValues<Value, Mapped>(record: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

/** The body as text. Whoever names the encodings in a request gets it as it was sent; else it is decompressed already. */
async function textOf(response: Response): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return new TextDecoder().decode(isCompressed ? gunzipSync(bytes) : bytes);
}

/** Every string in a value. */
function mapped(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, map));
  if (typeof value !== "object" || value === null) return value;
  return mapValues(value as Record<string, unknown>, (member) => mapped(member, map));
}

function parametersIn(template: string, pathname: string): Readonly<Record<string, string>> {
  const given = pathname.split("/");
  return Object.fromEntries(
    template.split("/").flatMap((part, index) =>
      part.startsWith("{") ? [[part.slice(1, -1), decodeURIComponent(given[index]!)]] : []
    ),
  );
}

interface Parts {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

/** Whether the document allows a request; anything that the document does not say counts as allowed. */
function isWellFormed(document: ApiDocument, operation: Operation, parts: Parts): boolean {
  return operation.parameters.every((parameter) => {
    const values = valuesIn(parts, parameter);
    if (values.length === 0) return !parameter.required;
    return values.length === 1 && document.takesText(parameter, values[0]!);
  }) && isBodyWellFormed(document, operation, parts.body);
}

function valuesIn({ path, query, headers }: Parts, { name, in: place }: Operation["parameters"][number]) {
  if (place === "path") return [path[name]!];
  if (place === "query") return query.filter(([given]) => given === name).map(([, value]) => value);
  // A value in the query goes before one in a header of the service; neither is refused for being empty.
  return headers[name] === undefined || name.startsWith("X-Service-") ? [] : [headers[name]];
}

function isBodyWellFormed(document: ApiDocument, operation: Operation, body: Uint8Array | null): boolean {
  if (operation.body === null) return true;
  if (body === null || body.length === 0) return !operation.body.required;
  try {
    return document.takesBody(operation, JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)));
  } catch {
    return false;
  }
}
