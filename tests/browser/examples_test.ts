/** The examples of the reference, sent one after another from the top of the page to its bottom. */
import assert from "node:assert/strict";
import { withDemo } from "./demo_service.ts";
import { groupsOf, type OpenApi, type Operation } from "../../src/web/reference/document.ts";
import { draftOf, exampleNames, requestOf } from "../../src/web/reference/draft.ts";

/** Their bodies hold an email address with a password, or the token of a link, that only the service's user has. */
const OF_USERS: ReadonlySet<string> = new Set([
  "postSignIn",
  "postLink",
  "postLinkUse",
  "postLinkPasskeyOptions",
  "postPasskeySignIn",
]);

/**
 * Operations that need a master key or a user's session, or an id that only the service can give: the page leaves
 * the field empty.
 */
function cannot({ operationId, security, path }: Operation): boolean {
  return (security.length > 0 && !("organizationKey" in security[0]!)) || OF_USERS.has(operationId) ||
    /\{(?:id|report_id|delivery_id|probe_id|run_id|case_id|sha256|token|key_id|alert_id|user_id)\}/.test(
        path,
      ) &&
      operationId !== "getReplay";
}

Deno.test("every example of the reference succeeds on a fresh service, in the order of the page", () =>
  withDemo(async ({ service, key: first }) => {
    let key = first;
    const document: OpenApi = await (await fetch(`${service.url}/openapi.json`)).json();
    const operations = groupsOf(document).flatMap((group) => group.operations).filter((operation) =>
      operation.method !== "OPTIONS" && !cannot(operation)
    );
    // After it the key works no longer.
    const last = operations.filter(({ operationId }) => operationId === "postKeyRevocation");
    const sent: string[] = [];
    for (const operation of [...operations.filter((one) => !last.includes(one)), ...last]) {
      for (const example of exampleNames(operation)) {
        const { method, path, headers, text } = requestOf(operation, draftOf(operation, example, "fresh"));
        const answer = await fetch(service.url + path, {
          method: method!,
          headers: {
            ...headers,
            ...(operation.security.length > 0 ? { "X-API-Key": key } : {}),
            ...(text === undefined ? {} : { "Content-Type": "application/json" }),
          },
          ...(text === undefined ? {} : { body: text }),
        });
        const said = await answer.text();
        const what = `${operation.operationId}, ${example}: ${answer.status} ${said.slice(0, 300)}`;
        sent.push(operation.operationId);
        if (operation.operationId === "postWebhook") {
          // Its host does not resolve, as its description says.
          assert.match(
            operation.description!,
            /A host that does not resolve gets 422/,
          );
          assert.equal(answer.status, 422, what);
          continue;
        }
        assert.ok(answer.ok, what);
        // The score of a reviewer with a long record is committed from the start.
        const replayed = operation.operationId === "postCommit" && example === "Without a label"
          ? "true"
          : null;
        assert.equal(
          answer.headers.get("Idempotency-Replayed"),
          replayed,
          `${operation.operationId}, ${example}`,
        );
        if (operation.operationId === "postKeyRotation") key = JSON.parse(said).new_api_key;
      }
    }
    assert.ok(sent.length > 40, String(sent.length));
    for (const name of ["postCommit", "getReplay", "getAssessment"]) assert.ok(sent.includes(name), name);
  }, { JISS_RATE_LIMIT_IP: "1000" }));
