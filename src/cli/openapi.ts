/** `jiss openapi`: prints the OpenAPI 3.1 document on standard output. */
import { openApiDocument } from "../http/openapi.ts";
import { readListener } from "../config/config.ts";
import { EXIT, type Shell } from "./shell.ts";
import { reportProblems } from "./run_service.ts";

export function openapi(shell: Shell): number {
  const { baseUrl, host, port, tls } = reportProblems(() => readListener(shell.readEnvironment()));
  const url = baseUrl ?? `${tls ? "https" : "http"}://${host}:${port}`;
  console.log(JSON.stringify(openApiDocument(url), null, 2));
  return EXIT.ok;
}
