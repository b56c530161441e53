/** `jiss healthcheck`: checks whether the local service answers, for containers without a shell. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { readListener } from "../config/config.ts";
import { reportProblems } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

const TIMEOUT_MS = 5_000;
/** Loopback addresses to ask instead of the addresses that mean every interface. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export async function healthcheck(shell: Shell): Promise<number> {
  const { host, port, tls } = reportProblems(() => readListener(shell.readEnvironment()));
  if (port === 0) {
    throw new CommandFailure(
      "JISS_PORT is 0, so the service picked a port: set JISS_PORT to the port in the log",
      EXIT.configuration,
    );
  }
  const answer = await requestHealth({ host: LOOPBACK[host] ?? host, port, tls });
  if (answer !== null) throw new CommandFailure(`not healthy: ${answer}`, EXIT.failure);
  return EXIT.ok;
}

/** null if the service answers `ok`, else the problem. */
function requestHealth(
  { host, port, tls }: { readonly host: string; readonly port: number; readonly tls: boolean },
): Promise<string | null> {
  return new Promise((resolve) => {
    // The certificate is not checked: the service is on this machine, and only its answer matters. With an
    // empty list of authorities Deno does not read NODE_EXTRA_CA_CERTS, which the release may not read.
    const options = { host, port, path: "/", timeout: TIMEOUT_MS, rejectUnauthorized: false, ca: [] };
    const request = (tls ? requestHttps : requestHttp)(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(problemOf(response.statusCode, text)));
      response.on("error", (error) => resolve(error.message));
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.on("error", (error) => resolve(error.message));
    request.end();
  });
}

function problemOf(status: number | undefined, text: string): string | null {
  try {
    if (status === 200 && JSON.parse(text).status === "ok") return null;
  } catch {
    // Something else answers on this port.
  }
  return `GET / returned ${status} without status ok`;
}
