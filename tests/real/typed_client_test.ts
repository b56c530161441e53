/** A client typed by the published document, made by a third party's generator. */
import assert from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const ROOT = `${import.meta.dirname}/../..`;
const LOCK = `${ROOT}/tests/deno.lock`;

async function deno(args: readonly string[], cwd = ROOT): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

Deno.test("a client typed by openapi-typescript compiles under strict and scores", async () => {
  const place = await Deno.makeTempDir({ prefix: "jiss-client-" });
  const { code, stdout } = await runProgram(["openapi"]);
  assert.equal(code, 0);
  await Deno.writeTextFile(`${place}/openapi.json`, stdout);
  await deno([
    "run",
    "-A",
    "--quiet",
    `--lock=${LOCK}`,
    "npm:openapi-typescript@7.13.0",
    // A field with a default may be left out of a request.
    "--default-non-nullable=false",
    `${place}/openapi.json`,
    "-o",
    `${place}/schema.ts`,
  ]);
  await Deno.copyFile(`${import.meta.dirname}/typed_client/client.ts`, `${place}/client.ts`);
  const { compilerOptions, scopes } = project;
  const imports = { "openapi-fetch": scopes["./tests/"]["openapi-fetch"] };
  // The project's configuration sets strict.
  await Deno.copyFile(LOCK, `${place}/deno.lock`);
  await Deno.writeTextFile(`${place}/deno.json`, JSON.stringify({ compilerOptions, imports }));
  await deno(["check", "--quiet", `${place}/client.ts`], place);

  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const printed = await deno([
    "run",
    "--quiet",
    "--allow-net",
    `${place}/client.ts`,
    service.url,
    key,
  ], place);
  const { jis, band, tier, hash } = JSON.parse(printed);
  assert.deepEqual([jis, band, tier], [48, "at_risk", "tier_2"]);
  assert.match(hash, /^[0-9a-f]{64}$/);
  await service.stop();
  await deployment.remove();
  await Deno.remove(place, { recursive: true });
});
