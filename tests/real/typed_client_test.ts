/** A client typed by the published document, made by a third party's generator. */
import assert from "node:assert/strict";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const ROOT = `${import.meta.dirname}/../..`;

async function deno(args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd: ROOT })
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
    "npm:openapi-typescript@7.13.0",
    // A field with a default may be left out of a request.
    "--default-non-nullable=false",
    `${place}/openapi.json`,
    "-o",
    `${place}/schema.ts`,
  ]);
  await Deno.copyFile(`${import.meta.dirname}/typed_client/client.ts`, `${place}/client.ts`);
  // The project's configuration sets strict.
  await deno(["check", "--quiet", "--config", `${ROOT}/deno.json`, `${place}/client.ts`]);

  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const printed = await deno([
    "run",
    "--quiet",
    "--allow-net",
    "--config",
    `${ROOT}/deno.json`,
    `${place}/client.ts`,
    service.url,
    key,
  ]);
  const { jis, band, tier, hash } = JSON.parse(printed);
  assert.deepEqual([jis, band, tier], [65, "adequate", "tier_2"]);
  assert.match(hash, /^[0-9a-f]{64}$/);
  await service.stop();
  await deployment.remove();
  await Deno.remove(place, { recursive: true });
});
