/**
 * Clients that third-party generators make from the published document: they are complete, they compile, and
 * they score. Each generator's release and dependencies are pinned beside its caller in generated_clients/.
 */
import assert from "node:assert/strict";
import { ROUTES } from "../../src/http/routes.ts";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const CALLERS = `${import.meta.dirname}/generated_clients`;
/** .ci/run makes it from generated_clients/python/requirements.txt. */
const PYTHON_TOOLS = `${import.meta.dirname}/../../dist/tools/openapi-python-client/bin`;

interface Command {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function run(command: string, args: readonly string[], { cwd, env = {} }: Command): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, env }).output();
  const said = new TextDecoder().decode(stdout);
  assert.ok(success, `${command} ${args.join(" ")}: ${said}${new TextDecoder().decode(stderr)}`);
  return said;
}

function isMissing(command: string, args: readonly string[], cwd: string): boolean {
  try {
    return !new Deno.Command(command, { args: [...args], cwd, stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

/** A directory with the document, and a service with an organization; the directory is removed afterwards. */
async function withService(
  use: (world: { place: string; url: string; key: string }) => Promise<void>,
): Promise<void> {
  const place = await Deno.makeTempDir({ prefix: "jiss-client-" });
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  try {
    const { code, stdout } = await runProgram(["openapi"]);
    assert.equal(code, 0);
    await Deno.writeTextFile(`${place}/openapi.json`, stdout);
    const key = await createOrganization(service, deployment.env);
    await use({ place, url: service.url, key });
  } finally {
    await service.stop();
    await deployment.remove();
    await Deno.remove(place, { recursive: true });
  }
}

/** The generator's name for an operation's module. */
function snakeCase(operationId: string): string {
  return operationId.replace(/([A-Z]|\d+)/g, (part) => `_${part.toLowerCase()}`);
}

Deno.test({
  name:
    "openapi-python-client generates a client without a warning that has every operation and scores [needs openapi-python-client]",
  ignore: isMissing(`${PYTHON_TOOLS}/openapi-python-client`, ["--version"], CALLERS),
  fn: () =>
    withService(async ({ place, url, key }) => {
      // It formats its output with a tool that is installed beside it.
      const env = { PATH: `${PYTHON_TOOLS}:${Deno.env.get("PATH")}`, PYTHONDONTWRITEBYTECODE: "1" };
      const config = `${CALLERS}/python/generator.yaml`;
      await run(`${PYTHON_TOOLS}/openapi-python-client`, [
        "generate",
        ...["--path", "openapi.json", "--output-path", "jiss_client", "--meta", "none"],
        ...["--config", config, "--fail-on-warning"],
      ], { cwd: place, env });
      await Deno.copyFile(`${CALLERS}/python/client.py`, `${place}/client.py`);
      const answers = JSON.parse(
        await run(`${PYTHON_TOOLS}/python`, ["client.py", url, key], { cwd: place, env }),
      );

      const { operations, hash, flat, interactions, days, findings, bundle, ...rest } = answers;
      const modules = new Set((operations as string[]).map((name) => name.split(".").at(-1)));
      assert.deepEqual(ROUTES.filter(({ operationId }) => !modules.has(snakeCase(operationId))), []);
      assert.match(hash, /^[0-9a-f]{64}$/);
      assert.match(flat, /^[0-9A-Z]{26}$/);
      assert.equal(interactions, 4);
      assert.ok(days.length > 0 && findings > 0 && bundle > 10);
      assert.deepEqual(rest, {
        jis: 48,
        band: "at_risk",
        tier: "tier_2",
        frozen: "incident_frozen",
        batch: ["python-2", "python-3"],
        committed: true,
        routing: "must_review",
        replay: ["score", true],
        refused: "NOT_FOUND",
      });
    }),
});

Deno.test({
  name:
    "oapi-codegen generates a client with every operation and event that compiles and scores [needs Go 1.25]",
  ignore: isMissing("go", ["version"], `${CALLERS}/go`),
  fn: () =>
    withService(async ({ place, url, key }) => {
      for (const file of ["go.mod", "go.sum", "main.go", "generator.yaml"]) {
        await Deno.copyFile(`${CALLERS}/go/${file}`, `${place}/${file}`);
      }
      await Deno.mkdir(`${place}/jiss`);
      const options = { cwd: place, env: { GOFLAGS: "-mod=readonly -buildvcs=false" } };
      await run("go", ["tool", "oapi-codegen", "-config", "generator.yaml", "openapi.json"], options);
      const client = await Deno.readTextFile(`${place}/jiss/client.go`);
      for (const { operationId } of ROUTES) {
        const method = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}WithResponse`;
        assert.ok(client.includes(`func (c *ClientWithResponses) ${method}(`), method);
      }
      // A score has more digits than 32 bits hold.
      assert.doesNotMatch(client, /\bfloat32\b/);
      assert.match(client, /^type WebhookEvent struct/m);
      await run("go", ["vet", "./..."], options);
      const answers = JSON.parse(await run("go", ["run", ".", url, key], options));

      const { hash, findings, bundle, ...rest } = answers;
      assert.match(hash, /^[0-9a-f]{64}$/);
      assert.ok(findings > 0 && bundle > 10);
      assert.deepEqual(rest, {
        jis: 48,
        band: "at_risk",
        tier: "tier_2",
        batch: ["go-2", "go-3"],
        committed: true,
        routing: "must_review",
        interactions: 3,
        refused: "NOT_FOUND",
      });
    }),
});
