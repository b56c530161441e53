/** `jiss healthcheck`: whether the local service answers, for containers without a shell. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { readListener } from "../config/config.ts";
import { reportProblems } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

const TIMEOUT_MS = 5_000;
/** Addresses that mean every interface: the service is asked on loopback. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export async function healthcheck(shell: Shell): Promise<number> {
  const { host, port, tls } = reportProblems(() => readListener(shell.readEnvironment()));
  if (port === 0) {
    throw new CommandFailure(
      "JISS_PORT is 0, so the port was picked at start: set it to the one that the log told",
      EXIT.configuration,
    );
  }
  const answer = await ask({ host: LOOPBACK[host] ?? host, port, tls });
  if (answer !== null) throw new CommandFailure(`not healthy: ${answer}`, EXIT.failure);
  return EXIT.ok;
}

/** null where the service says `ok`, else what is wrong. */
function ask(
  { host, port, tls }: { readonly host: string; readonly port: number; readonly tls: boolean },
): Promise<string | null> {
  return new Promise((resolve) => {
    // Whether the process answers is asked, not whose certificate it shows: it is this machine's own. With authorities of
    // its own, none, Deno does not ask for those that NODE_EXTRA_CA_CERTS names, which the release may not.
    const options = { host, port, path: "/", timeout: TIMEOUT_MS, rejectUnauthorized: false, ca: [] };
    const request = (tls ? requestHttps : requestHttp)(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(judge(response.statusCode, text)));
      response.on("error", (error) => resolve(error.message));
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.on("error", (error) => resolve(error.message));
    request.end();
  });
}

function judge(status: number | undefined, text: string): string | null {
  try {
    if (status === 200 && JSON.parse(text).status === "ok") return null;
  } catch {
    // Something else answers on this port.
  }
  return `GET / answered ${status}, not status ok`;
}
