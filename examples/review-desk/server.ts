/**
 * A small loan-review application that uses JISS, with sealed probes among its live cases; Deno alone, no package.
 * server.py beside it does the same in Python. README.md says how to run it and what to copy.
 *
 * It keeps everything in memory. In your application the open cases, the ledger and the outbox are tables of your
 * database, and a decision and its job are one transaction.
 */

/** A loan application and the AI's recommendation, as library.json holds it. 0 recommends to refuse. */
interface Content {
  readonly id: string;
  readonly stakes: "standard" | "high_stakes";
  readonly purpose: string;
  readonly asked: number;
  readonly months: number;
  readonly income: number;
  readonly housing: number;
  readonly other: number;
  readonly employment: string;
  readonly statement: readonly string[];
  readonly bureau: string;
  readonly recommended: number;
  readonly reason: string;
}

/** A case whose truth is known: an amount `from` … `to` is right, and so is the recommendation if it is one of them. */
interface ProbeContent extends Content {
  readonly truth: { readonly ai_correct: boolean; readonly from: number; readonly to: number };
}

/** The answer of JISS if a probe is due. */
interface Drawn {
  readonly probe_id: string;
  readonly session_id: string;
  readonly ticket: string;
  readonly do_not_execute: true;
}

/** One case on somebody's desk. The browser gets the name and the content, and nothing else of it. */
interface Item {
  readonly name: string;
  readonly reviewer: string;
  readonly content: Content;
  /** All amounts are this share of the library's, so that cases differ and ratios stay. */
  readonly percent: number;
  /** The JISS session of this review, for good: it makes repeated calls safe. */
  readonly session: string;
  /** Null for a live case. */
  readonly probe: Drawn | null;
  /** The decision and the amount, once there is one. */
  decided: string | null;
}

interface Decision {
  readonly decision: string;
  readonly amount: number | null;
}

/** One decision that took effect. */
interface LedgerLine extends Decision {
  readonly case: string;
  readonly session_id: string;
  readonly reviewer: string;
  labelled: boolean;
}

interface Job {
  readonly method: string;
  readonly path: string;
  /** Written once, and sent as it is each time: a changed body under the same session is a 409. */
  readonly body: string;
  readonly isProbe: boolean;
}

const DOMAIN = "financial";
const SEALING = "/v1/probes";
const DECISIONS = ["accepted", "modified", "rejected", "escalated"];
const PERCENTS = [90, 95, 100, 105, 110, 115];
const LARGEST_AMOUNT = 1_000_000;
const BODY_BYTES = 10_000;
/** Every case that the browser gets has this size, so that a size tells nothing. */
const CASE_BYTES = 2048;
/** No case comes sooner: a draw that gives a probe is written to disk, and takes some milliseconds longer than others. */
const CASE_AFTER_MS = 100;
/** A draw has so many attempts of so many milliseconds: nobody waits longer than that for a case. */
const DRAW_ATTEMPTS = 2;
const DRAW_TIMEOUT_MS = 1500;
const SEND_TIMEOUT_MS = 5000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
const WEBHOOK_TOLERANCE_SECONDS = 300;
const WEBHOOK_BYTES = 1_048_576;
const EVENTS_KEPT = 50;

const read = (name: string) => Deno.readTextFile(new URL(name, import.meta.url));
const pick = <Value>(values: readonly Value[]) => values[Math.floor(Math.random() * values.length)]!;
const wait = (milliseconds: number) => new Promise((next) => setTimeout(next, milliseconds));
const hexOf = (bytes: Uint8Array) => bytes.toHex();

/**
 * The only way to the ledger. Whatever follows from a decision (a payment, a letter, a statistic of somebody's work)
 * follows from a line of the ledger, so a probe has no effect as long as this function refuses it. It looks at what
 * JISS said at the draw, not at what a caller says: a caller that mixes up a probe and a case must fail here, loudly.
 */
export function execute(ledger: LedgerLine[], item: Item, { decision, amount }: Decision): void {
  if (item.probe !== null) throw new Error("a probe was about to be executed: do_not_execute");
  const { name, session, reviewer } = item;
  ledger.push({ case: name, session_id: session, reviewer, decision, amount, labelled: false });
}

// ---- JISS ---------------------------------------------------------------------------------------------------

interface Jiss {
  readonly url: string;
  readonly key: string;
}

async function call(
  { url, key }: Jiss,
  { method, path, body }: Pick<Job, "method" | "path" | "body">,
  timeoutMs: number,
): Promise<Response> {
  return await fetch(url + path, {
    method,
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    ...(body === "" ? {} : { body }),
    redirect: "manual", // the key goes nowhere else
    signal: AbortSignal.timeout(timeoutMs),
  });
}

/** Whether a repeated call may succeed. */
const isPassing = (status: number) => status === 429 || status >= 500;

/** Calls that wait for JISS, in their order. The reviewer does not wait for them. */
class Outbox {
  readonly waiting: Job[] = [];
  /** JISS refused these for good: a person must look at them. */
  readonly setAside: { readonly path: string; readonly status: number }[] = [];
  #isSending = false;

  constructor(readonly jiss: Jiss) {}

  add(method: string, path: string, body: unknown, { isProbe = false } = {}): void {
    this.waiting.push({ method, path, body: body === null ? "" : JSON.stringify(body), isProbe });
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    let waitMs = FIRST_WAIT_MS;
    while (this.waiting.length > 0) {
      const job = this.waiting[0]!;
      const answer = await this.#attempt(job);
      if (answer === null || isPassing(answer.status)) {
        // Not now, or nobody knows whether it arrived: the same again. JISS counts a session once.
        const retryAfterMs = Number(answer?.headers.get("Retry-After") ?? 0) * 1000 || 0;
        await wait(Math.min(retryAfterMs + waitMs * (0.5 + Math.random() / 2), LONGEST_WAIT_MS));
        waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
        continue;
      }
      waitMs = FIRST_WAIT_MS;
      this.waiting.shift();
      this.#settle(job, answer.status);
    }
    this.#isSending = false;
  }

  async #attempt(job: Job): Promise<Response | null> {
    try {
      const answer = await call(this.jiss, job, SEND_TIMEOUT_MS);
      // A real application keeps the answer as it came: it is evidence.
      await answer.body?.cancel();
      return answer;
    } catch {
      return null;
    }
  }

  #settle({ path, isProbe }: Job, status: number): void {
    if (status < 300) return;
    // The probe was recalled, or its time was over: JISS has recorded that, and the decision is discarded.
    if (isProbe && status === 409) return;
    // An earlier start has sealed it.
    if (path === SEALING && status === 409) return;
    this.setAside.push({ path, status });
    // Neither key nor body: a probe's body holds its ticket.
    console.error(`JISS refused ${path} with ${status}: set aside`);
  }
}

// ---- the desk -----------------------------------------------------------------------------------------------

interface Library {
  readonly cases: readonly Content[];
  readonly probes: readonly ProbeContent[];
}

class Desk {
  readonly ledger: LedgerLine[] = [];
  readonly #items = new Map<string, Item>();
  /** The case on each reviewer's screen. */
  readonly #open = new Map<string, Item>();
  /** The live case of each reviewer that comes after the probe on the screen. */
  readonly #held = new Map<string, Item>();
  /** The next case of a reviewer, while JISS is asked: two windows of one reviewer show the same case. */
  readonly #asking = new Map<string, Promise<Item>>();
  /** Sessions of the probes that were shown. */
  readonly #shown = new Set<string>();
  #labels = 0;

  constructor(readonly library: Library, readonly outbox: Outbox) {}

  /** The case that a reviewer decides next. The same until it is decided. */
  next(reviewer: string): Promise<Item> {
    const open = this.#open.get(reviewer);
    if (open !== undefined) return Promise.resolve(open);
    const asking = this.#asking.get(reviewer) ??
      this.#findNext(reviewer).finally(() => this.#asking.delete(reviewer));
    this.#asking.set(reviewer, asking);
    return asking;
  }

  async #findNext(reviewer: string): Promise<Item> {
    // Your queue of applications. This one never ends: it takes one of twelve, with other amounts.
    const live = this.#held.get(reviewer) ?? this.#newItem(reviewer, pick(this.library.cases), null);
    this.#held.set(reviewer, live);
    // Before each case, also before one that comes after a probe: so both wait for JISS.
    const item = await this.#probeBefore(live) ?? live;
    if (item === live) this.#held.delete(reviewer);
    this.#items.set(item.name, item);
    this.#open.set(reviewer, item);
    return item;
  }

  #newItem(reviewer: string, content: Content, probe: Drawn | null): Item {
    return {
      // Names of both kinds have one form, and say nothing of the order in which they were made.
      name: hexOf(crypto.getRandomValues(new Uint8Array(5))),
      reviewer,
      content,
      percent: pick(PERCENTS),
      session: probe?.session_id ?? `desk-${crypto.randomUUID()}`,
      probe,
      decided: null,
    };
  }

  async #probeBefore(live: Item): Promise<Item | null> {
    const drawn = await this.#draw(live);
    // It was decided, and its score still waits in the outbox: JISS says the same probe until it has the score.
    if (drawn === null || this.#shown.has(drawn.session_id)) return null;
    this.#shown.add(drawn.session_id);
    const content = this.library.probes.find(({ id }) => `desk-${id}` === drawn.probe_id);
    if (content === undefined) {
      // Somebody sealed it for another application: it cannot be shown here, so it must not get lost.
      this.outbox.add("POST", `/v1/probes/${drawn.probe_id}/recall`, null);
      return null;
    }
    return this.#newItem(live.reviewer, content, drawn);
  }

  /** Asks whether a probe is due before a live case. */
  async #draw({ reviewer, session, content: { stakes } }: Item): Promise<Drawn | null> {
    const body = JSON.stringify({ operator_id: reviewer, session_id: session, domain: DOMAIN, stakes });
    const request = { method: "POST", path: "/v1/probes/draw", body };
    for (let attempt = 0; attempt < DRAW_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await wait(FIRST_WAIT_MS);
      try {
        const answer = await call(this.outbox.jiss, request, DRAW_TIMEOUT_MS);
        const text = await answer.text();
        if (answer.ok) return JSON.parse(text).probe;
        // A limit of requests (429) lasts longer than anybody should wait.
        if (answer.status < 500) break;
      } catch {
        // Refused, cut, or too slow: once more.
      }
    }
    // No answer means no probe: work goes on without JISS. It does not go unnoticed. Once the day's seed is open,
    // `jiss verify` computes which of the scored cases should have been drawn for, and counts those that were not
    // (PROBE_LEFT_OUT). If JISS drew one and only its answer was lost, nobody decides that probe: PROBE_LOST.
    console.error("no answer to a draw: the case is shown without one");
    return null;
  }

  /** Takes a decision. @returns the status to answer with. */
  decide(reviewer: string, sent: Sent): number {
    const item = this.#items.get(sent.case);
    if (item === undefined || item.reviewer !== reviewer) return 404;
    const { decision, amount, measurement } = sent;
    const decided = `${decision} ${amount}`;
    if (item.decided !== null) return item.decided === decided ? 200 : 409;
    const recommended = scaled(item.content.recommended, item.percent);
    if (amount === recommended) return 400;
    const interaction = {
      ...measurement,
      decision,
      scenario_type: item.content.stakes,
      ...(amount === null ? {} : {
        modification_extent: Math.abs(amount - recommended) / Math.max(amount, recommended),
      }),
      ...truthOf(item, amount),
    };
    if (item.probe === null) execute(this.ledger, item, { decision, amount });
    this.outbox.add("POST", "/v1/score", {
      session_id: item.session,
      operator_id: reviewer,
      domain: DOMAIN,
      interaction,
    }, { isProbe: item.probe !== null });
    item.decided = decided;
    this.#open.delete(reviewer);
    return 200;
  }

  /** Invents what became of every third decision of the ledger that has no label yet. @returns how many got one. */
  nextMonth(): number {
    const unknown = this.ledger.filter(({ labelled, decision }) => !labelled && decision !== "escalated");
    const known = unknown.filter((_, index) => index % 3 === 0);
    for (const line of known) {
      line.labelled = true;
      this.#labels += 1;
      const ai_correct = this.#labels % 4 !== 0;
      // A change turned out well; a rejection is right if the AI was wrong.
      const outcome_correct = line.decision === "modified" || (line.decision === "accepted") === ai_correct;
      this.outbox.add("POST", `/v1/score/${line.session_id}/commit`, { outcome_correct, ai_correct });
    }
    return known.length;
  }
}

/** JISS cannot know by itself whether the changed amount of a probe is right, so this says it. */
function truthOf({ probe, content, percent }: Item, amount: number | null): Record<string, unknown> {
  if (probe === null) return {};
  const { from, to } = (content as ProbeContent).truth;
  const isRight = amount !== null && amount >= scaled(from, percent) && amount <= scaled(to, percent);
  return { probe_ticket: probe.ticket, ...(amount === null ? {} : { outcome_correct: isRight }) };
}

/** Amounts of the library are multiples of 20, so that this is exact. */
function scaled(amount: number, percent: number): number {
  return amount * percent / 100;
}

/** The browser's part of a case: no truth, no session, no ticket, no name of the library. */
function shownTo({ name, content, percent }: Item) {
  const amount = (value: number) => scaled(value, percent);
  const text = (line: string) =>
    line.replace(/\{(\d+)\}/g, (_, digits) => amount(Number(digits)).toLocaleString("en"));
  const { purpose, months, employment, reason } = content;
  return {
    case: name,
    content: {
      purpose,
      asked: amount(content.asked),
      months,
      income: amount(content.income),
      housing: amount(content.housing),
      other: amount(content.other),
      employment,
      statement: content.statement.map(text),
      bureau: text(content.bureau),
      recommended: amount(content.recommended),
      reason,
    },
  };
}

// ---- what the browser sends ---------------------------------------------------------------------------------

interface Sent extends Decision {
  readonly case: string;
  readonly measurement: Record<string, number | null>;
}

const isNumber = (value: unknown, most: number): value is number =>
  typeof value === "number" && value >= 0 && value <= most;
const isCount = (value: unknown, most: number) => isNumber(value, most) && Number.isInteger(value);

/** Checks a decision as any input. @returns null if something in it is wrong. */
function readDecision(sent: Record<string, unknown>): Sent | null {
  const { case: name, decision, amount = null } = sent;
  const measurement = readMeasurement(sent.measurement);
  if (typeof name !== "string" || measurement === null) return null;
  if (typeof decision !== "string" || !DECISIONS.includes(decision)) return null;
  if (decision === "modified" ? !isCount(amount, LARGEST_AMOUNT) : amount !== null) return null;
  return { case: name, decision, amount: amount as number | null, measurement };
}

/** The four figures of the collector; null is "not measured" and stays null. */
function readMeasurement(sent: unknown): Sent["measurement"] | null {
  if (typeof sent !== "object" || sent === null) return null;
  const figures = sent as Record<string, unknown>;
  const { hover_events = null, scroll_depth = null, alternative_views_checked = null } = figures;
  const { time_to_decision_ms } = figures;
  if (!isNumber(time_to_decision_ms, 86_400_000)) return null;
  if (hover_events !== null && !isCount(hover_events, 100_000)) return null;
  if (scroll_depth !== null && !isNumber(scroll_depth, 1)) return null;
  if (alternative_views_checked !== null && !isCount(alternative_views_checked, 100_000)) return null;
  return {
    time_to_decision_ms,
    hover_events,
    scroll_depth,
    alternative_views_checked,
  } as Sent["measurement"];
}

/** The JSON object that was sent; null if it is none. */
async function readObject(request: Request): Promise<Record<string, unknown> | null> {
  if (request.headers.get("Content-Type") !== "application/json") return null;
  if (!(Number(request.headers.get("Content-Length") ?? NaN) <= BODY_BYTES)) return null;
  try {
    const sent = JSON.parse(await request.text());
    return typeof sent === "object" && !Array.isArray(sent) ? sent : null;
  } catch {
    return null;
  }
}

/**
 * An answer in JSON. `bytes`: its size, made up with spaces. A proxy that compresses would undo that: `no-transform`.
 */
function answer(status: number, value: unknown, headers: Record<string, string> = {}, bytes = 0): Response {
  const text = new TextEncoder().encode(JSON.stringify(value));
  if (bytes > 0 && text.length > bytes) throw new Error("a case of the library is too long");
  const body = new Uint8Array(Math.max(bytes, text.length)).fill(0x20);
  body.set(text);
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store, no-transform",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    },
  });
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: "the request is not valid",
  401: "sign in first",
  404: "there is no such case or path",
  409: "the case was decided otherwise",
};
const refuse = (status: number) => answer(status, { error: REFUSALS[status] });

/** The page, and the calls of its script. */
async function pageServer(desk: Desk, events: readonly unknown[]) {
  const html = (await read("page.html")).replace("{{JISS_URL}}", desk.outbox.jiss.url);
  const script = await read("review.js");
  const style = new TextEncoder().encode(/<style>(.*?)<\/style>/s.exec(html)![1]!);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", style)).toBase64();
  const policy = `default-src 'none'; script-src 'self' ${desk.outbox.jiss.url}; connect-src 'self'; ` +
    `img-src data:; style-src 'sha256-${digest}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`;
  const file = (type: string, text: string) =>
    new Response(text, {
      headers: {
        "Content-Type": `${type}; charset=utf-8`,
        "Content-Security-Policy": policy,
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
      },
    });
  /** Who is signed in. Yours is the login that you have: JISS must get the reviewer from the server's session. */
  const signedIn = new Map<string, string>();

  async function post(path: string, request: Request): Promise<Response> {
    const sent = await readObject(request);
    if (sent === null) return refuse(400);
    if (path === "/next-month") return answer(200, { labelled: desk.nextMonth() });
    if (path === "/api/sign-in") {
      const { reviewer } = sent;
      if (typeof reviewer !== "string" || !/^[a-z0-9-]{1,40}$/.test(reviewer)) return refuse(400);
      const token = hexOf(crypto.getRandomValues(new Uint8Array(16)));
      signedIn.set(token, reviewer);
      return answer(200, {}, { "Set-Cookie": `desk=${token}; HttpOnly; SameSite=Strict; Path=/` });
    }
    const token = /(?:^|; )desk=([0-9a-f]{32})(?:;|$)/.exec(request.headers.get("Cookie") ?? "")?.[1] ?? "";
    const reviewer = signedIn.get(token);
    if (reviewer === undefined) return refuse(401);
    if (path === "/api/next") {
      const [item] = await Promise.all([desk.next(reviewer), wait(CASE_AFTER_MS)]);
      return answer(200, shownTo(item), {}, CASE_BYTES);
    }
    if (path !== "/api/decisions") return refuse(404);
    const decision = readDecision(sent);
    if (decision === null) return refuse(400);
    const status = desk.decide(reviewer, decision);
    return status === 200 ? answer(200, { saved: true }) : refuse(status);
  }

  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method === "POST") return await post(pathname, request);
    if (request.method !== "GET") return refuse(404);
    const { waiting, setAside } = desk.outbox;
    switch (pathname) {
      case "/":
        return file("text/html", html);
      case "/review.js":
        return file("text/javascript", script);
      // The back office's. Reviewers must not see these: what the ledger does not hold was a probe.
      case "/ledger":
        return answer(200, { decisions: desk.ledger });
      case "/events":
        return answer(200, { events });
      case "/outbox":
        return answer(200, { waiting: waiting.length, set_aside: setAside });
      default:
        return refuse(404);
    }
  };
}

// ---- webhooks -----------------------------------------------------------------------------------------------

/** Registers the receiver anew: only a new registration tells the secret. @returns the secret. */
async function registerWebhook(jiss: Jiss, url: string): Promise<string> {
  const ask = async (method: string, path: string, body: unknown = null) => {
    const sent = {
      method,
      path: `/v1/admin/webhook/${path}`,
      body: body === null ? "" : JSON.stringify(body),
    };
    const answered = await call(jiss, sent, SEND_TIMEOUT_MS);
    const text = await answered.text();
    if (!answered.ok) throw new Error(`JISS refused the webhook with ${answered.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
  const { webhooks } = await ask("GET", "list");
  for (const { id, url: known } of webhooks) if (known === url) await ask("DELETE", id);
  const secret = hexOf(crypto.getRandomValues(new Uint8Array(16)));
  return (await ask("POST", "register", { url, secret })).signing_secret;
}

/** Takes deliveries of JISS, checks who sent them, and keeps the newest events. */
function receiver(secret: string, events: unknown[]) {
  const taken = new Set<string>();
  const encoder = new TextEncoder();
  const key = crypto.subtle.importKey(
    "raw",
    encoder.encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  return async (request: Request): Promise<Response> => {
    const body = new Uint8Array(await request.arrayBuffer());
    const timestamp = request.headers.get("X-SERVICE-Timestamp") ?? "";
    const id = request.headers.get("X-SERVICE-Idempotency-Key") ?? "";
    if (!/^[0-9]{1,15}$/.test(timestamp) || id === "" || body.length > WEBHOOK_BYTES) {
      return new Response(null, { status: 400 });
    }
    const isNow = Math.abs(Date.now() / 1000 - Number(timestamp)) <= WEBHOOK_TOLERANCE_SECONDS;
    const given = /^sha256=([0-9a-f]{64})$/.exec(request.headers.get("X-SERVICE-Signature") ?? "")?.[1];
    // `verify` compares in constant time.
    const isSigned = given !== undefined && isNow &&
      await crypto.subtle.verify(
        "HMAC",
        await key,
        Uint8Array.fromHex(given),
        new Uint8Array([...encoder.encode(`${timestamp}.`), ...body]),
      );
    if (!isSigned) return new Response(null, { status: 401 });
    const { event, delivery_id, session_id = null, operator_id = null, timestamp: at } = JSON.parse(
      new TextDecoder().decode(body),
    );
    if (delivery_id !== id) return new Response(null, { status: 400 });
    if (taken.has(id)) return new Response(null, { status: 200 });
    taken.add(id);
    events.unshift({ event, session_id, operator_id, timestamp: at });
    events.splice(EVENTS_KEPT);
    return new Response(null, { status: 204 });
  };
}

// ---- the start ----------------------------------------------------------------------------------------------

/** The values of the options of the command line. */
function optionsOf(args: readonly string[]): Readonly<Record<string, string>> {
  const options: Record<string, string> = {};
  for (let index = 0; index < args.length; index += 2) {
    const name = args[index]!;
    const value = args[index + 1];
    if (!["--programme", "--hook", "--cert", "--key"].includes(name) || value === undefined) {
      console.error("usage: server.ts [--programme RATE] [--hook URL --cert FILE --key FILE]");
      Deno.exit(2);
    }
    options[name.slice(2)] = value;
  }
  return options;
}

async function main(): Promise<void> {
  const options = optionsOf(Deno.args);
  const jiss = {
    url: new URL(Deno.env.get("DESK_JISS_URL") || "http://127.0.0.1:8080").origin,
    key: Deno.env.get("DESK_API_KEY") ?? "",
  };
  if (jiss.key === "") {
    console.error("DESK_API_KEY is missing: it is the key of your organization");
    Deno.exit(2);
  }
  const library: Library = JSON.parse(await read("library.json"));
  const outbox = new Outbox(jiss);
  const events: unknown[] = [];
  const desk = new Desk(library, outbox);

  // First of all, and from the outbox, so that the desk starts without JISS. A name that was sealed before is a 409, and stays as it is.
  for (const { id, stakes, truth: { ai_correct } } of library.probes) {
    outbox.add("POST", SEALING, {
      probe_id: `desk-${id}`,
      domain: DOMAIN,
      stakes,
      ai_correct,
      reference: `review-desk/${id}`,
    });
  }
  // Whether there is a programme is the organization's decision: the desk sets the policy only if it is told to.
  if (options.programme !== undefined) {
    const rate = Number(options.programme);
    const policy = {
      enabled: true,
      rate,
      highest_share: 0.1,
      minimum: 12,
      ticket_minutes: 240,
    };
    outbox.add("PUT", "/v1/probes/policy", policy);
  }

  if (options.hook !== undefined) {
    const { hostname, port } = new URL(options.hook);
    const [cert, key] = await Promise.all(
      [options.cert!, options.key!].map((path) => Deno.readTextFile(path)),
    );
    const handle = receiver(await registerWebhook(jiss, options.hook), events);
    Deno.serve({ hostname, port: Number(port || 443), cert: cert!, key: key!, onListen() {} }, handle);
  }
  Deno.serve({
    hostname: "127.0.0.1",
    port: Number(Deno.env.get("PORT") || 8090),
    onListen: ({ port }) => console.log(`review desk at http://127.0.0.1:${port}`),
  }, await pageServer(desk, events));
}

if (import.meta.main) await main();
