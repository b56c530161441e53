/** A webhook receiver of the tests: a real HTTPS server on loopback, with a certificate of an authority of its own. */
import { createHmac } from "node:crypto";

export interface Certified {
  /** PEM; `authority` is what a client must trust. */
  readonly authority: string;
  readonly cert: string;
  readonly key: string;
}

/** Whether openssl, which makes certificates, is missing. */
export function opensslIsMissing(): boolean {
  try {
    return !new Deno.Command("openssl", { args: ["version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

let made: Promise<Certified> | null = null;

/** A certificate for `localhost`, `receiver.test` and 127.0.0.1, made once for each run. @throws without openssl. */
export function certificate(): Promise<Certified> {
  made ??= makeCertificate("DNS:localhost,DNS:receiver.test,IP:127.0.0.1,IP:::1");
  return made;
}

/**
 * @param names as a subject alternative name of openssl. @param days until it expires; -1: it has expired.
 */
export async function makeCertificate(names: string, days = 2): Promise<Certified> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-receiver-" });
  const path = (name: string) => `${directory}/${name}`;
  const openssl = async (...args: string[]) => {
    const { success, stderr } = await new Deno.Command("openssl", {
      args,
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(`openssl ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  };
  const newKey = (name: string) =>
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", path(name));
  try {
    await newKey("ca.key");
    await openssl(
      ...["req", "-x509", "-new", "-key", path("ca.key"), "-days", "2", "-out", path("ca.pem")],
      ...["-subj", "/CN=JISS tests", "-addext", "basicConstraints=critical,CA:TRUE"],
    );
    await newKey("key.pem");
    await openssl(
      ...["req", "-new", "-key", path("key.pem"), "-subj", "/CN=receiver", "-out", path("request.pem")],
    );
    await Deno.writeTextFile(path("names"), `subjectAltName=${names}\nbasicConstraints=CA:FALSE\n`);
    await openssl(
      ...["x509", "-req", "-in", path("request.pem"), "-CA", path("ca.pem"), "-CAkey", path("ca.key")],
      ...["-CAcreateserial", "-days", `${days}`, "-extfile", path("names"), "-out", path("cert.pem")],
    );
    const [authority, cert, key] = await Promise.all(
      ["ca.pem", "cert.pem", "key.pem"].map((name) => Deno.readTextFile(path(name))),
    );
    return { authority: authority!, cert: cert!, key: key! };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** A request that arrived, and whether the receiver found its signature valid. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
  // deno-lint-ignore no-explicit-any -- whatever was sent
  readonly body: any;
}

export type Reaction = (arrival: Arrival, count: number) => Response | Promise<Response>;

export interface Receiver {
  /** The URL at 127.0.0.1, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  /** Answers like this from now on. */
  react(reaction: Reaction): void;
  close(): Promise<void>;
}

const TAKEN: Reaction = () => new Response(null, { status: 204 });

/** Starts a receiver; by default it answers 204. */
export async function openReceiver(reaction: Reaction = TAKEN, own?: Certified): Promise<Receiver> {
  const { cert, key } = own ?? await certificate();
  const arrivals: Arrival[] = [];
  let react = reaction;
  const aborted = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen() {}, signal: aborted.signal },
    async (request) => {
      const text = await request.text();
      const { pathname, search } = new URL(request.url);
      const arrival = {
        method: request.method,
        path: `${pathname}${search}`,
        headers: request.headers,
        text,
        at: Date.now(),
        body: text === "" ? null : JSON.parse(text),
      };
      arrivals.push(arrival);
      return await react(arrival, arrivals.length);
    },
  );
  return {
    url: `https://127.0.0.1:${server.addr.port}`,
    port: server.addr.port,
    arrivals,
    react(next) {
      react = next;
    },
    async close() {
      aborted.abort();
      await server.finished;
    },
  };
}

/** Whether a delivery is signed as the specification says, at most 300 s from `now`, epoch milliseconds. */
export function isSigned({ headers, text }: Arrival, signingSecret: string, now = Date.now()): boolean {
  const timestamp = headers.get("X-SERVICE-Timestamp") ?? "";
  if (!/^[0-9]+$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > 300) return false;
  const signature = createHmac("sha256", signingSecret).update(`${timestamp}.${text}`).digest("hex");
  return headers.get("X-SERVICE-Signature") === `sha256=${signature}`;
}
