/**
 * The receivers of docs/integrate/webhooks.md, taken from the page and run unchanged, against the whole
 * program: they accept what it delivers, and do not process what is altered, stale or repeated. The same for
 * the npm library of Standard Webhooks.
 */
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { scoreRequest } from "../harness.ts";
import { until } from "../program.ts";
import { certificate, openReceiver } from "../receiver.ts";
import {
  deliveriesOf,
  eventually,
  register,
  score,
  type WebhookProgram,
  withProgram,
} from "../webhook_program.ts";

const PAGE = `${import.meta.dirname}/../../docs/integrate/webhooks.md`;

// ---- the languages ----------------------------------------------------------------------------------------

interface Language {
  readonly name: string;
  /** The language of its code block on the page. */
  readonly fence: string;
  readonly file: string;
  /** Commands that the machine must have, each with arguments that do nothing. */
  readonly needs: readonly (readonly [command: string, ...args: readonly string[]])[];
  /** A command that builds it, in the file's directory. */
  readonly build?: readonly string[];
  readonly run: readonly [command: string, ...args: string[]];
}

const OPENSSL = ["openssl", "version"] as const;

const LANGUAGES: readonly Language[] = [
  {
    name: "TypeScript",
    fence: "ts",
    file: "receiver.ts",
    needs: [OPENSSL],
    run: [
      Deno.execPath(),
      "run",
      "--quiet",
      "--no-config",
      "--check",
      "--allow-env",
      "--allow-net",
      "--allow-read",
      "receiver.ts",
    ],
  },
  {
    name: "Python",
    fence: "python",
    file: "receiver.py",
    needs: [["python3", "--version"], OPENSSL],
    run: ["python3", "receiver.py"],
  },
  {
    name: "Go",
    fence: "go",
    file: "receiver.go",
    needs: [["go", "version"], OPENSSL],
    build: ["go", "build", "-o", "receiver", "receiver.go"],
    run: ["./receiver"],
  },
];

function isMissing([command, ...args]: readonly [string, ...(readonly string[])]): boolean {
  try {
    return !new Deno.Command(command, { args: [...args], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

/** The code of the page whose first line names the file. */
async function codeOf({ fence, file }: Language): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, language, code]) =>
    language === fence && /^(?:\/\/|#) (\S+)\n/.exec(code!)?.[1] === file
  );
  assert.equal(blocks.length, 1, `${file} stands once in docs/integrate/webhooks.md`);
  return blocks[0]![2]!;
}

// ---- a receiver of the page, running ----------------------------------------------------------------------

interface RunningReceiver {
  /** The URL without a trailing slash. */
  readonly url: string;
  /** The events that it processed so far, in order: event and id of the delivery. */
  processed(): readonly (readonly [event: string, deliveryId: string])[];
  /** Sets the secret with which it verifies from now on. */
  setSecret(signingSecret: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the page's receiver in a directory of its own. @throws if it ends before it listens. */
async function runReceiver(language: Language, directory: string): Promise<RunningReceiver> {
  const { cert, key } = await certificate();
  const secretFile = `${directory}/signing-secret`;
  await Deno.writeTextFile(`${directory}/${language.file}`, await codeOf(language));
  await Deno.writeTextFile(`${directory}/cert.pem`, cert);
  await Deno.writeTextFile(`${directory}/key.pem`, key);
  if (language.build !== undefined) {
    const [command, ...args] = language.build;
    const { success, stderr } = await new Deno.Command(command!, { args, cwd: directory }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
  }
  const [command, ...args] = language.run;
  const child = new Deno.Command(command.startsWith("./") ? `${directory}/${command}` : command, {
    args,
    cwd: directory,
    env: { PORT: "0", CERT_FILE: "cert.pem", KEY_FILE: "key.pem", SECRET_FILE: secretFile },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  let errors = "";
  const listening = Promise.withResolvers<number>();
  const lines = () => output.split("\n").slice(0, -1);
  const drained = Promise.all([
    drain(child.stdout, (text) => {
      output += text;
      const [first] = lines();
      if (first !== undefined) listening.resolve(Number(/^listening on (\d+)$/.exec(first)?.[1]));
    }),
    drain(child.stderr, (text) => errors += text),
  ]);
  const ended = Promise.all([child.status, drained]);
  ended.then(() => listening.reject(new Error(`${language.file} ended before it listened: ${errors}`)));
  return {
    url: `https://127.0.0.1:${await listening.promise}`,
    processed: () => lines().slice(1).map((line) => line.split(" ") as [string, string]),
    setSecret: (signingSecret) => Deno.writeTextFile(secretFile, `${signingSecret}\n`),
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function drain(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
}

async function withReceiver(
  language: Language,
  test: (receiver: RunningReceiver) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-receiver-" });
  try {
    const receiver = await runReceiver(language, directory);
    try {
      await test(receiver);
    } finally {
      await receiver.stop();
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

// ---- the program ------------------------------------------------------------------------------------------

const SETTINGS = { JISS_WEBHOOK_BACKOFF_MS: "100,100", JISS_WEBHOOK_TIMEOUT_MS: "5000" };

/** A committed score, and a decision that needs a review. */
async function raiseEvents(program: WebhookProgram): Promise<void> {
  const { committed } = await score(program, "session-1");
  assert.equal(committed, true);
  const { interaction } = scoreRequest({}, { scenario_type: "critical" });
  const { body } = await program.service.send("/v1/decision/score", {
    key: program.key,
    body: { decision_id: "decision-1", operator_id: "operator-new", domain: "general", ...interaction },
  });
  assert.equal(body.routing_decision, "must_review", JSON.stringify(body));
}

/** Sends a ping; @returns its result. */
async function ping({ service, key }: WebhookProgram, id: string) {
  return (await service.send(`/v1/admin/webhook/${id}/test`, { key, method: "POST" })).body;
}

/** The log of deliveries once none waits, the newest first. */
async function settledLog(program: WebhookProgram, id: string) {
  const log = await eventually(() => deliveriesOf(program, id), ({ webhook }) => webhook.waiting === 0);
  return log.deliveries;
}

// ---- the test's own requests ------------------------------------------------------------------------------

const SECRET = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;

function signatureOf(signed: string, secret = SECRET): string {
  return `sha256=${createHmac("sha256", secret).update(signed).digest("hex")}`;
}

interface Forged {
  readonly id?: string;
  readonly body?: string;
  /** null: without the header. */
  readonly timestamp?: string | null;
  /** The signed text; by default what the rules say. */
  readonly signed?: string;
  readonly secret?: string;
  /** Headers that replace the right ones; null: without it. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

const secondsFromNow = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);
const bodyOf = (id: string) => JSON.stringify({ event: "ping", delivery_id: id, note: "a body – in UTF-8" });

type Post = (forged?: Forged) => Promise<number>;

/** Posts deliveries as the service would, except for what is forged; answers their status. */
async function withPost({ url }: RunningReceiver, test: (post: Post) => Promise<void>): Promise<void> {
  const client = Deno.createHttpClient({ caCerts: [(await certificate()).authority] });
  const post: Post = async (
    { id = randomUUID(), body = bodyOf(id), timestamp = secondsFromNow(0), signed, secret, headers = {} } =
      {},
  ) => {
    const all: Record<string, string | null> = {
      "Content-Type": "application/json",
      "User-Agent": "SERVICE-Webhook/1.3",
      "X-SERVICE-Signature": signatureOf(signed ?? `${timestamp}.${body}`, secret),
      "X-SERVICE-Timestamp": timestamp,
      "X-SERVICE-Idempotency-Key": id,
      ...headers,
    };
    const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== null);
    const response = await fetch(`${url}/jiss`, {
      method: "POST",
      headers: sent,
      body,
      client,
    });
    await response.body?.cancel();
    return response.status;
  };
  try {
    await test(post);
  } finally {
    client.close();
  }
}

/** Made anew for each use, as the time counts from when it is sent. */
function forgeries(): readonly (readonly [what: string, status: number, forged: Forged])[] {
  const id = randomUUID();
  const body = bodyOf(id);
  const now = secondsFromNow(0);
  const right = signatureOf(`${now}.${body}`);
  const signature = (value: string | null): Forged => ({
    id,
    body,
    timestamp: now,
    headers: { "X-SERVICE-Signature": value },
  });
  const timestamp = (value: string): Forged => ({ id, timestamp: value });
  return [
    ["a body with one letter changed", 401, {
      id,
      body: body.replace("a body", "A body"),
      signed: `${now}.${body}`,
      timestamp: now,
    }],
    ["a body with a space after it", 401, { id, body: `${body} `, signed: `${now}.${body}`, timestamp: now }],
    ["the same JSON in another spelling", 401, {
      id,
      body: JSON.stringify(JSON.parse(body), null, 1),
      signed: `${now}.${body}`,
      timestamp: now,
    }],
    ["an empty body", 401, { id, body: "", signed: `${now}.${body}`, timestamp: now }],
    ["another timestamp than was signed", 401, {
      id,
      body,
      signed: `${now}.${body}`,
      timestamp: secondsFromNow(-5),
    }],
    ["a signature of the body alone, as before 2026-06-09", 401, { id, body, signed: body, timestamp: now }],
    ["another secret", 401, { id, secret: `whsec_${btoa("another")}` }],
    ["the secret without its prefix", 401, { id, secret: SECRET.slice("whsec_".length) }],
    [
      "a signature with its last digit changed",
      401,
      signature(right.slice(0, -1) + (right.endsWith("0") ? "1" : "0")),
    ],
    ["a signature cut short", 401, signature(right.slice(0, -2))],
    ["a longer signature", 401, signature(`${right}00`)],
    ["a signature without sha256=", 401, signature(right.slice("sha256=".length))],
    ["a signature that is not hexadecimal, and not ASCII", 401, signature(`sha256=${"é".repeat(64)}`)],
    ["an empty signature", 401, signature("")],
    ["no signature", 401, signature(null)],
    ["a timestamp 301 s old", 401, timestamp(secondsFromNow(-301))],
    ["a timestamp an hour old", 401, timestamp(secondsFromNow(-3600))],
    // The receiver's clock advances until it checks.
    ["a timestamp 330 s in the future", 401, timestamp(secondsFromNow(330))],
    ["a timestamp of the year 3000", 401, timestamp("32503680000")],
    ["a timestamp in milliseconds", 401, timestamp(String(Date.now()))],
    ["no timestamp, the body signed alone", 400, { id, body, timestamp: null, signed: body }],
    ["no timestamp, the body signed after a dot", 400, { id, body, timestamp: null, signed: `.${body}` }],
    ["an empty timestamp, signed as it is", 400, timestamp("")],
    ["an empty timestamp, the body signed alone", 400, { id, body, timestamp: "", signed: body }],
    ...["soon", "NaN", "-1", "1e9", "0x69000000", `${now}.0`, `+${now}`, `${now}s`, "²³"].map((value) =>
      [`the timestamp ${value}, signed as it is`, 400, timestamp(value)] as const
    ),
    ["no idempotency key", 400, { id, headers: { "X-SERVICE-Idempotency-Key": null } }],
    ["an empty idempotency key", 400, { id, headers: { "X-SERVICE-Idempotency-Key": "" } }],
    ["the idempotency key of another delivery", 400, {
      id,
      headers: { "X-SERVICE-Idempotency-Key": randomUUID() },
    }],
  ];
}

// ---- tests ------------------------------------------------------------------------------------------------

for (const language of LANGUAGES) {
  const { name, needs } = language;
  const needed = `[needs ${needs.map(([command]) => command).join(" and ")}]`;
  const ignore = needs.some(isMissing);

  Deno.test({
    name:
      `the ${name} receiver of docs/integrate/webhooks.md accepts scores, decisions and pings as they are delivered ${needed}`,
    ignore,
    fn: () =>
      withReceiver(language, (receiver) =>
        withProgram(SETTINGS, async (program) => {
          const { id, signing_secret } = await register(program, receiver);
          await receiver.setSecret(signing_secret);
          await raiseEvents(program);
          const log = await settledLog(program, id);
          const tested = await ping(program, id);
          assert.deepEqual([tested.delivered, tested.response_status, tested.error], [true, 204, null]);
          // deno-lint-ignore no-explicit-any -- an answer
          const logged = log.map(({ event, status, attempts }: any) => [
            event,
            status,
            // deno-lint-ignore no-explicit-any -- an answer
            attempts.map(({ response_status }: any) => response_status),
          ]);
          assert.deepEqual(logged.toSorted(), [
            ["drs.must_review", "delivered", [204]],
            ["score.committed", "delivered", [204]],
          ]);
          await until(() => receiver.processed().length === 3);
          const sent = [{ event: "ping", ...tested }, ...log].map((
            { event, delivery_id },
          ) => [event, delivery_id]);
          assert.deepEqual(receiver.processed().toSorted(), sent.toSorted());
        })),
  });

  Deno.test({
    name:
      `the ${name} receiver of docs/integrate/webhooks.md refuses what is altered, stale or incomplete ${needed}`,
    ignore,
    fn: () =>
      withReceiver(language, async (receiver) => {
        await receiver.setSecret(SECRET);
        await withPost(receiver, async (post) => {
          for (const index of forgeries().keys()) {
            const [what, status, forged] = forgeries()[index]!;
            assert.equal(await post(forged), status, what);
          }
          // Timestamps inside the tolerance are accepted, so the others were refused for their time.
          const [early, late] = [randomUUID(), randomUUID()];
          assert.equal(await post({ id: early, timestamp: secondsFromNow(-270) }), 204);
          assert.equal(await post({ id: late, timestamp: secondsFromNow(290) }), 204);
          await until(() => receiver.processed().length >= 2);
          assert.deepEqual(receiver.processed(), [["ping", early], ["ping", late]]);
        });
      }),
  });

  Deno.test({
    name:
      `the ${name} receiver of docs/integrate/webhooks.md processes a delivery once, and answers a repeat with 200 ${needed}`,
    ignore,
    fn: () =>
      withReceiver(language, async (receiver) => {
        await receiver.setSecret(SECRET);
        await withPost(receiver, async (post) => {
          const [first, second, last] = [randomUUID(), randomUUID(), randomUUID()];
          assert.equal(await post({ id: first }), 204);
          // A repeated attempt is signed anew.
          assert.equal(await post({ id: first }), 200);
          assert.equal(await post({ id: first, timestamp: secondsFromNow(-60) }), 200);
          assert.equal(await post({ id: first, secret: "another" }), 401);
          const atOnce = await Promise.all(Array.from({ length: 8 }, () => post({ id: second })));
          assert.deepEqual(atOnce.toSorted(), [200, 200, 200, 200, 200, 200, 200, 204]);
          assert.equal(await post({ id: last }), 204);
          await until(() => receiver.processed().some(([, id]) => id === last));
          assert.deepEqual(receiver.processed(), [["ping", first], ["ping", second], ["ping", last]]);
        });
      }),
  });
}

Deno.test({
  name:
    "the npm library of Standard Webhooks verifies deliveries with the signing secret as it is, and refuses altered ones [needs openssl]",
  ignore: isMissing(OPENSSL),
  fn: () =>
    withProgram(SETTINGS, async (program) => {
      const receiver = await openReceiver();
      try {
        const { id, signing_secret } = await register(program, receiver);
        await raiseEvents(program);
        await settledLog(program, id);
        await ping(program, id);
        const library = new Webhook(signing_secret);
        const events = receiver.arrivals.map(({ text, headers }) => {
          const sent = Object.fromEntries(headers);
          const verified = library.verify(text, sent) as {
            readonly event: string;
            readonly delivery_id: string;
          };
          assert.equal(verified.delivery_id, sent["webhook-id"]);
          const refused = (changed: Record<string, string>, body = text, verifier = library) =>
            assert.throws(() => verifier.verify(body, { ...sent, ...changed }), WebhookVerificationError);
          refused({}, text.replace("{", "{ "));
          refused({}, `${text} `);
          refused({ "webhook-id": randomUUID() });
          refused({ "webhook-timestamp": String(Number(sent["webhook-timestamp"]) + 1) });
          refused({ "webhook-timestamp": "" });
          refused({ "webhook-timestamp": "soon" });
          refused({ "webhook-signature": `v1,${btoa("0".repeat(32))}` });
          refused({ "webhook-signature": "" });
          refused({}, text, new Webhook(SECRET));
          // Signed correctly, but at another time.
          for (const seconds of [-301, 330]) {
            const at = secondsFromNow(seconds);
            const signature = library.sign(verified.delivery_id, new Date(Number(at) * 1000), text);
            refused({ "webhook-timestamp": at, "webhook-signature": signature });
          }
          return verified.event;
        });
        assert.deepEqual(events.toSorted(), ["drs.must_review", "ping", "score.committed"]);
      } finally {
        await receiver.close();
      }
    }),
});
