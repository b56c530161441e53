/**
 * The reference's model of the OpenAPI document, before anything is drawn: groups, requests, commands, words.
 */
import assert from "node:assert/strict";
import { openApiDocument } from "../../src/http/openapi.ts";
import { groupsOf, matches, type OpenApi, type Operation } from "../../src/web/reference/document.ts";
import {
  curlOf,
  draftOf,
  effectOf,
  exampleNames,
  problemsOf,
  requestOf,
} from "../../src/web/reference/draft.ts";
import { limitsInWords, typeInWords } from "../../src/web/reference/schema_words.ts";

const GROUPS = groupsOf(openApiDocument("http://jiss.test") as unknown as OpenApi);
const OPERATIONS = GROUPS.flatMap(({ operations }) => operations);

function operation(operationId: string): Operation {
  return OPERATIONS.find((one) => one.operationId === operationId)!;
}

Deno.test("grave operations are every removal, every change with a master key, and the end of one's own key", () => {
  const idsOf = (effect: string) =>
    OPERATIONS.filter((one) => one.method !== "OPTIONS" && effectOf(one) === effect).map((one) =>
      one.operationId
    );
  assert.deepEqual(idsOf("grave"), [
    "deleteOperator",
    "postKeyRotation",
    "postKeyRevocation",
    "deleteKey",
    "deleteWebhook",
    "deleteUser",
    "deleteUserSessions",
    "deleteUserSession",
    "deleteSessions",
    "deleteSession",
    "deletePasskey",
    "postOrganization",
    "postBillingSuspension",
    "postBillingRotation",
    "postSuspension",
    "postReactivation",
    "postForcedRotation",
    "postForcedRevocation",
    "postAcknowledgement",
  ]);
  assert.deepEqual(idsOf("writes"), [
    "postScore",
    "postBatch",
    "postCommit",
    "postDecision",
    "postProbe",
    "postProbeBatch",
    "postProbeDraw",
    "putProbePolicy",
    "postProbeRecall",
    "postExercise",
    "postExerciseDecision",
    "postCaseSet",
    "postUnmask",
    "postTeams",
    "postCase",
    "postCaseEvent",
    "postPageLink",
    "postContest",
    "postAuditAppend",
    "postKey",
    "postOwnAcknowledgement",
    "postWebhook",
    "postWebhookTest",
    "postRedelivery",
    "postUser",
    "putUser",
    "postUserLink",
    "postSignIn",
    "postLink",
    "postLinkUse",
    "postSignOut",
    "postPassword",
    "postPasskeySignInOptions",
    "postPasskeySignIn",
    "postLinkPasskeyOptions",
    "postPasskeyOptions",
    "postPasskey",
    "postAssessment",
  ]);
});

Deno.test("the first example of an operation can be sent, or names what must still be filled in", () => {
  const unfinished = OPERATIONS.filter(({ method }) => method !== "OPTIONS").filter((one) =>
    Object.keys(problemsOf(one, draftOf(one, exampleNames(one)[0]!, "fresh"))).length > 0
  );
  // These need values that only a running service can give.
  assert.deepEqual(unfinished.map(({ operationId }) => operationId), [
    "postProbeRecall",
    "getExercise",
    "getExercisePage",
    "postExerciseDecision",
    "getCaseSet",
    "getCase",
    "postCaseEvent",
    "getOwnPage",
    "getOwnCopy",
    "postContest",
    "getStoredReport",
    "deleteKey",
    "postOwnAcknowledgement",
    "deleteWebhook",
    "postWebhookTest",
    "getDeliveries",
    "postRedelivery",
    "putUser",
    "deleteUser",
    "postUserLink",
    "getUserSessions",
    "deleteUserSessions",
    "deleteUserSession",
    "deleteSession",
    "deletePasskey",
    "postAcknowledgement",
  ]);
  assert.deepEqual(exampleNames(operation("getOperators")), [
    "",
    "The at-risk operators with the lowest JIS, with sparklines",
    "The operators on whom more evidence is needed",
    "Those whose name has a part, the last active first",
  ]);
});

Deno.test("a request has its path and query escaped, and leaves out empty values", () => {
  const draft = {
    values: { "path-operator_id": "a/b ?", "query-days": "7", "query-format": "" },
    body: null,
  };
  assert.deepEqual(requestOf(operation("getSparkline"), draft), {
    method: "GET",
    path: "/v1/operator/a%2Fb%20%3F/sparkline?days=7",
    headers: {},
  });
});

Deno.test("a command quotes for the shell, and has the key in a variable", () => {
  const draft = { values: {}, body: `{"operator_id":"o'neill"}` };
  assert.equal(
    curlOf(operation("postMaintenance"), draft, "http://jiss.test"),
    `curl -sX POST 'http://jiss.test/v1/maintenance/recommend' \\
  -H "X-API-Key: $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"operator_id":"o'\\''neill"}'`,
  );
});

Deno.test("a filter needs each of its words, at any place", () => {
  assert.ok(matches(operation("deleteOperator"), "Erase reviewer"));
  assert.ok(matches(operation("deleteOperator"), "delete /v1/operator"));
  assert.ok(!matches(operation("deleteOperator"), "erase webhook"));
});

Deno.test("types and limits read as words", () => {
  assert.equal(typeInWords({ anyOf: [{ type: "string" }, { type: "null" }] }), "string or null");
  assert.equal(
    typeInWords({ type: "array", items: { $ref: "#/components/schemas/Finding" } }),
    "array of Finding",
  );
  assert.equal(typeInWords({ enum: ["a", "b"] }), '"a" | "b"');
  assert.equal(typeInWords({ type: "string", format: "date-time" }), "string, date-time");
  assert.equal(typeInWords({}), "any JSON");
  assert.deepEqual(limitsInWords({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), ["at least 0"]);
  assert.deepEqual(limitsInWords({ minLength: 8, maxLength: 8 }), ["exactly 8 characters"]);
  assert.deepEqual(limitsInWords({ minimum: 0, maximum: 1, default: 0 }), ["0 to 1", "default `0`"]);
});
