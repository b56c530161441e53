/**
 * The API fuzzer: fast-check draws requests from the OpenAPI document that the running program serves, for
 * every operation in it; the clients keep what later requests need. Each answer is checked against the
 * document; the program's memory must not grow, it must log what it does, and leave every chain whole.
 *
 * A finding names the seed and the path with which it can be sent again alone, and shrunk: `task soak
 * fuzz_api --seed=S --path=P`.
 */
import fc from "fast-check";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { ApiDocument, type Received } from "../fuzzing/api_document.ts";
import { casesOf, OF_AUTHENTICATORS, OF_OLD_ORGANIZATIONS } from "../fuzzing/api_cases.ts";
import { Lane, type Sent, type Target } from "../fuzzing/api_lane.ts";
import { type RouteRow, RouteTable, seldom } from "../fuzzing/route_table.ts";
import { type Growth, ProcessSize } from "../fuzzing/process_size.ts";
import { verifyDatabase } from "../oracle.ts";
import {
  changeRows,
  createOrganization,
  type Deployment,
  freshDeployment,
  type RunningService,
  startService,
  withDatabaseOf,
} from "../program.ts";
import { certificate, openReceiver } from "../receiver.ts";
import { query } from "../../src/store/database.ts";

const LANES = 8;
const ALERTS = 8;
const FINDINGS_SHOWN = 20;
/** The largest share of answers that came from no handler. */
const MOST_REFUSED = 0.05;
/**
 * The ratio of the late heap to the early one: it may settle higher; a small leak with each request goes far
 * beyond.
 */
const MOST_GROWTH = 1.5;
/** A heap below it may grow in a short run: on a busy machine V8 has not yet collected what is free. */
const UNCOLLECTED_MIB = 512;
const MOST_WAL_MIB = 64;

export interface Finding {
  readonly seed: number;
  readonly path: string;
  readonly what: string;
  readonly request: string;
  readonly answer: string;
}

export interface ApiFuzzFigures {
  readonly seed: number;
  readonly requests: number;
  /** Counts of answers by class and, for errors, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The share of answers with 401 and 429, from 0 to 1. */
  readonly refused: number;
  readonly findings: readonly Finding[];
  readonly findings_in_all: number;
  /** Answers that the log should have a line for and has not, and lines that it should never have. */
  readonly log: readonly string[];
  /** Measured over a whole run; null for one case alone. */
  readonly growth: Growth | null;
  readonly chains: number;
  readonly table: readonly RouteRow[];
}

export interface ApiFuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** A finding of one case, by seed and path. */
  readonly path?: string;
}

/**
 * Sends `cases` cases, or one alone. @throws if the one finds something, with the smallest case that does.
 */
export async function fuzzApi({ requests, seed, path }: ApiFuzzOptions): Promise<ApiFuzzFigures> {
  const deployment = await freshDeployment();
  const receiver = await openReceiver();
  let service: RunningService | null = null;
  try {
    service = await started(deployment);
    const run = new Run(deployment, service);
    const target = await run.target(`${receiver.url}/hook`);
    if (path === undefined) await run.all(target, { requests, seed });
    else await run.alone(target, { seed, path });
    return await run.figures(seed);
  } finally {
    await service?.stop().catch(() => {});
    await receiver.close();
    await deployment.remove();
  }
}

/** Requirements that a whole run does not meet. @param leastOk - successful answers that each route needs. */
export function apiFuzzFaults(figures: ApiFuzzFigures, leastOk: number): readonly string[] {
  const { findings, findings_in_all, log, refused, growth, table, chains } = figures;
  const { resident_mib, descriptors, wal_mib } = growth!;
  const checks: readonly (readonly [holds: boolean, fault: string])[] = [
    [findings_in_all === 0, `${findings_in_all} findings: ${JSON.stringify(findings, null, 1)}`],
    [log.length === 0, `the log: ${log.join("\n")}`],
    [refused < MOST_REFUSED, `${refused} of the answers were 401 or 429`],
    [
      resident_mib.ratio <= MOST_GROWTH || resident_mib.late <= UNCOLLECTED_MIB,
      `memory grew: ${JSON.stringify(resident_mib)}`,
    ],
    [descriptors.ratio <= MOST_GROWTH, `descriptors grew: ${JSON.stringify(descriptors)}`],
    [wal_mib <= MOST_WAL_MIB, `the write-ahead log grew to ${wal_mib} MiB`],
    [chains > LANES, `${chains} chains were verified`],
  ];
  return [
    ...checks.filter(([holds]) => !holds).map(([, fault]) => fault),
    ...seldom(table.filter(({ id }) => !OF_AUTHENTICATORS.has(id) && !OF_OLD_ORGANIZATIONS.has(id)), leastOk)
      .map(({ route, ok }) => `${route} was answered well ${ok} times only`),
  ];
}

async function started({ directory, env }: Deployment): Promise<RunningService> {
  const authority = `${directory}/authority.pem`;
  await Deno.writeTextFile(authority, (await certificate()).authority);
  return await startService(["serve"], {
    env: {
      ...env,
      JISS_ADMIN_DASHBOARD: "on",
      // Passkeys need a host with a name.
      JISS_BASE_URL: "http://jiss.localhost",
      JISS_EXTRA_CA_FILE: authority,
      JISS_WEBHOOK_ALLOW: "127.0.0.0/8",
      JISS_WEBHOOK_TIMEOUT_MS: "2000",
    },
  });
}

class Run {
  readonly #findings: Finding[] = [];
  #found = 0;
  readonly #statuses: Record<string, number> = {};
  /** Request → status, for each that was answered. */
  readonly #answered = new Map<string, number>();
  #table: RouteTable | null = null;
  #growth: Growth | null = null;
  #sent = 0;

  constructor(private readonly deployment: Deployment, private readonly service: RunningService) {}

  async target(receiver: string): Promise<Omit<Target, "observe">> {
    const { env } = this.deployment;
    const { body } = await this.service.send("/openapi.json");
    const document = new ApiDocument(body);
    this.#table = new RouteTable(document);
    await createOrganization(this.service, env, "alerted");
    const scopes = Object.keys(env).filter((name) => name.startsWith("MASTER_ADMIN_KEY_"));
    return {
      url: this.service.url,
      document,
      masterKeys: Object.fromEntries(
        scopes.map((name) => [name.slice("MASTER_ADMIN_KEY_".length), env[name]!]),
      ),
      receiver,
      alerts: await this.#alerts(),
    };
  }

  /** Alerts need weeks of use; these are planted. */
  async #alerts(): Promise<readonly string[]> {
    const rows = Array.from({ length: ALERTS }, (_, index) => ({
      alert_id: `alert-${index}`,
      org_id: "alerted",
      severity: "HIGH",
      kind: "USAGE_ANOMALY",
      day: index,
      detail: "{}",
      created_at: 0,
      acknowledged: 0,
      acknowledged_at: null,
    }));
    await changeRows(
      this.deployment.env.JISS_DATA_DIR!,
      ...rows.map((row) => query.insertInto("alert").values(row).compile()),
    );
    return rows.map(({ alert_id }) => alert_id);
  }

  async all(
    target: Omit<Target, "observe">,
    { requests, seed }: Pick<ApiFuzzOptions, "requests" | "seed">,
  ): Promise<void> {
    const size = new ProcessSize(this.service.pid, {
      wal: `${this.deployment.env.JISS_DATA_DIR}/jiss.db-wal`,
      isWarm: () => this.#sent > requests / 4,
    });
    const cases = casesOf(target.document);
    const lanes = Array.from({ length: LANES }, async (_, index) => {
      const at = { seed: seed + index, path: -1 };
      const lane = new Lane({
        ...target,
        observe: (sent, received, problems) => this.#observe(sent, received, { problems, ...at }),
      }, `lane-${index}`);
      const property = fc.asyncProperty(cases, async (one) => {
        at.path += 1;
        // The requests that lanes make for themselves count, too.
        if (this.#sent < requests) await lane.run(one);
      });
      await fc.assert(property, { seed: at.seed, numRuns: Math.ceil(requests / LANES) });
      await lane.finish();
    });
    // A lane that cannot continue does not stop the others.
    const ended = await Promise.allSettled(lanes);
    this.#growth = size.stop();
    const broken = ended.find(({ status }) => status === "rejected");
    if (broken !== undefined) throw (broken as PromiseRejectedResult).reason;
  }

  async alone(
    target: Omit<Target, "observe">,
    { seed, path }: { readonly seed: number; readonly path: string },
  ): Promise<void> {
    let problems: string[] = [];
    const lane = new Lane({
      ...target,
      observe: (sent, received, more) => {
        this.#observe(sent, received, { problems: more, seed, path: Number(path.split(":")[0]) });
        if (more.length > 0) problems = [...more, requestText(sent), answerText(received)];
      },
    }, "alone");
    const property = fc.asyncProperty(casesOf(target.document), async (one) => {
      problems = [];
      await lane.run(one);
      if (problems.length > 0) throw new Error(problems.join("\n"));
    });
    await fc.assert(property, { seed, path, numRuns: 1 });
  }

  #observe(
    sent: Sent,
    received: Received | null,
    { problems, seed, path }: {
      readonly problems: readonly string[];
      readonly seed: number;
      readonly path: number;
    },
  ): void {
    this.#sent += 1;
    if (received !== null) {
      const { status, headers } = received;
      const name = status < 400 ? "2xx" : String(status);
      this.#statuses[name] = (this.#statuses[name] ?? 0) + 1;
      this.#table!.count(sent.operation, status);
      this.#answered.set(headers.get("X-Request-Id") ?? "", status);
    }
    for (const what of problems) {
      this.#found += 1;
      if (this.#findings.length >= FINDINGS_SHOWN) continue;
      const finding = { seed, path: String(path), what, request: requestText(sent) };
      this.#findings.push({ ...finding, answer: answerText(received) });
    }
  }

  async figures(seed: number): Promise<ApiFuzzFigures> {
    await this.service.stop();
    const data = this.deployment.env.JISS_DATA_DIR!;
    const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
    const chains = await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
    const refused = (this.#statuses[401] ?? 0) + (this.#statuses[429] ?? 0);
    return {
      seed,
      requests: this.#sent,
      statuses: this.#statuses,
      refused: refused / this.#sent,
      findings: this.#findings,
      findings_in_all: this.#found,
      log: this.#logProblems(),
      growth: this.#growth,
      chains: chains.length,
      table: this.#table!.rows,
    };
  }

  /** Each answer has its line, and no line reports an unexpected failure. */
  #logProblems(): readonly string[] {
    const lines = this.service.log();
    const logged = new Set(
      lines.filter(({ msg }) => msg === "request").map(({ request_id, status }) => `${request_id} ${status}`),
    );
    const unlogged = [...this.#answered].filter(([id, status]) => !logged.has(`${id} ${status}`));
    const alarming = lines.filter(({ level }) => level === "error");
    const errors = this.service.errors();
    return [
      ...unlogged.slice(0, FINDINGS_SHOWN).map(([id, status]) => `no line of ${id}, ${status}`),
      ...alarming.slice(0, FINDINGS_SHOWN).map((line) => JSON.stringify(line)),
      ...(errors === "" ? [] : [`on standard error: ${errors.slice(0, 1000)}`]),
    ];
  }
}

function requestText({ method, target, headers, body }: Sent): string {
  const { "X-API-Key": _key, ...shown } = headers;
  return `${method} ${target} ${JSON.stringify(shown)} ${
    body === null ? "" : new TextDecoder().decode(body).slice(0, 2000)
  }`;
}

function answerText(received: Received | null): string {
  return received === null ? "none" : `${received.status} ${received.text.slice(0, 1000)}`;
}
