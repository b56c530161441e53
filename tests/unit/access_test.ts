/** Roles, scopes and kinds of access, and the table of all calls in docs/understand/security.md. */
import assert from "node:assert/strict";
import { ACCESS, type Access, grantedTo, isGranted, ROLES, SCOPES } from "../../src/domain/access.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { accessTable, tableOfPage } from "../access_table.ts";

Deno.test("the page on security has the table of all calls that the catalogue gives", async () => {
  assert.equal(await tableOfPage(), accessTable(), "write it anew: deno run -A tests/access_table.ts");
});

Deno.test("every kind of access is that of a call, and an own key has each", () => {
  const used = new Set(ROUTES.flatMap(({ auth }) => auth.kind === "key" ? [auth.access] : []));
  assert.deepEqual([...used].sort(), Object.keys(ACCESS).sort());
  for (const access of used) assert.ok(isGranted(null, access));
});

Deno.test("a viewer and an auditor change nothing that an organization has", () => {
  // A replay, a recommendation and a report are reads, whatever their methods.
  const reads = new Set(["postMaintenance"]);
  for (const { method, auth, operationId } of ROUTES) {
    if (auth.kind !== "key" || method === "GET" || reads.has(operationId)) continue;
    for (const role of ["viewer", "auditor"] as const) {
      assert.equal(isGranted({ kind: "role", role }, auth.access), false, `${role} ${operationId}`);
    }
  }
});

Deno.test("an admin may do what any other person may do", () => {
  for (const access of Object.keys(ACCESS) as Access[]) {
    const others = ROLES.filter((role) => isGranted({ kind: "role", role }, access));
    assert.equal(isGranted({ kind: "role", role: "admin" }, access), others.length > 0, access);
  }
});

Deno.test("scopes add up, and no scope reaches what has none", () => {
  for (const access of Object.keys(ACCESS) as Access[]) {
    assert.equal(
      isGranted({ kind: "scopes", scopes: SCOPES }, access),
      ACCESS[access].scope !== null,
      access,
    );
    assert.equal(isGranted({ kind: "scopes", scopes: [] }, access), false, access);
  }
});

Deno.test("who may call is said in words", () => {
  assert.equal(grantedTo("own"), "the organization's own key");
  assert.equal(grantedTo("score"), "the organization's own key or a named key with the scope score");
  assert.equal(grantedTo("administer"), "the organization's own key, or a person who is an admin");
  assert.equal(
    grantedTo("export"),
    "the organization's own key or a named key with the scope export, or a person who is an auditor or an admin",
  );
});
