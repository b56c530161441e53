/**
 * The least memory that docs/operate/install.md names: in a container of that size the service survives the
 * heaviest bodies.
 */
import assert from "node:assert/strict";
import { BATCH_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES } from "../../src/domain/limits.ts";
import { memoryGroup, memoryGroupIsMissing } from "../cgroups.ts";
import { scoreRequest } from "../harness.ts";
import { SHAPES } from "../heavy_bodies.ts";
import { lateBodies, lateStreams } from "../late_bodies.ts";
import {
  createOrganization,
  environmentOf,
  freshDeployment,
  putBundle,
  type RunningService,
  watch,
} from "../program.ts";

const ROOT = `${import.meta.dirname}/../..`;
const AT_ONCE = 60;
const MIB = 1_048_576;

/** The page's figure; the launcher, the image and the manifests have to agree with it. */
async function statedBytes(): Promise<number> {
  const page = await Deno.readTextFile(`${ROOT}/docs/operate/install.md`);
  const [, mebibytes] = /at least (\d[\d,]*) MiB of memory/.exec(page) ?? [];
  assert.ok(mebibytes !== undefined, "docs/operate/install.md states the least memory");
  return Number(mebibytes.replaceAll(",", "")) * MIB;
}

/** A valid batch with an additional member that the service ignores, as large as allowed. */
function batchWith(junk: string, name: string): string {
  const interactions = Array.from({ length: 100 }, (_, index) => ({
    session_id: `${name}-${index}`,
    time_to_decision_ms: 5_000,
    decision: "accepted",
  }));
  const batch = JSON.stringify({ operator_id: "operator-1", domain: "general", interactions });
  return `${batch.slice(0, -1)},"note":${junk}}`;
}
const BATCH_BYTES = 12_000;

/** How many answers have each status. */
async function statuses(answers: readonly Promise<Response>[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const response of await Promise.all(answers)) {
    await response.body?.cancel();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  }
  return counts;
}

/**
 * The service in a control group with the least memory, as the launcher starts it, with the keys of two
 * organizations.
 */
async function withLeastMemory(use: (world: World) => Promise<void>): Promise<void> {
  const limit = await statedBytes();
  const group = memoryGroup(limit)!;
  const deployment = await freshDeployment();
  const place = await Deno.makeTempDir({ prefix: "jiss-memory-" });
  await putBundle(`${place}/jiss.js`);
  await Deno.copyFile(`${ROOT}/docs/operate/deploy/jiss`, `${place}/jiss`);
  await Deno.chmod(`${place}/jiss`, 0o755);
  await Deno.symlink(Deno.execPath(), `${place}/deno`);
  const service = await watch(
    new Deno.Command("sh", {
      args: ["-c", group.enter, "sh", `${place}/jiss`, "serve"],
      clearEnv: true,
      env: environmentOf({ ...deployment.env, JISS_PORT: "0", JISS_LOG: "json" }),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  const keys = [
    await createOrganization(service, deployment.env, "acme"),
    await createOrganization(service, deployment.env, "other"),
  ] as const;
  const post = (path: string, body: string, key?: string) =>
    fetch(service.url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { "X-API-Key": key }) },
      body,
    });
  await use({ service, keys, post });

  const { status } = await service.send("/v1/score", { key: keys[0], body: scoreRequest() });
  assert.equal(status, 200);
  assert.equal(await service.stop(), 0);
  const peak = group.peak();
  assert.ok(peak < limit, `${peak / MIB} MiB`);
  if (Deno.env.has("JISS_TEST_FIGURES")) console.log(`at most ${Math.round(peak / MIB)} MiB`);
  await group.remove();
  await Deno.remove(place, { recursive: true });
  await deployment.remove();
}

interface World {
  readonly service: RunningService;
  readonly keys: readonly [string, string];
  post(path: string, body: string, key?: string): Promise<Response>;
}

/**
 * 60 simultaneous batches of two organizations, of this shape: together they count for more than the service
 * holds at once.
 */
async function sendHeavy({ post, keys }: World, shape: string): Promise<Readonly<Record<string, number>>> {
  const junk = SHAPES[shape]!(BATCH_BODY_LIMIT_BYTES - BATCH_BYTES);
  return await statuses(
    Array.from(
      { length: AT_ONCE },
      (_, index) =>
        post("/v1/score/batch", batchWith(junk, `${shape.replaceAll(/\W/g, "")}-${index}`), keys[index % 2]!),
    ),
  );
}

/** The shapes that need most memory: for containers, for names, for one dictionary, and for text. */
const HEAVIEST = [
  "deep arrays",
  "objects, each with a name of its own",
  "one object of many objects",
  "one long string with a Greek letter",
];
/** Sent beside late bodies: the shape with the most containers. */
const HEAVY = "deep arrays";

Deno.test({
  name:
    "with the stated least memory, 60 bodies at once of any shape are answered or refused with 503, and the service survives [needs a cgroup for memory]",
  ignore: await memoryGroupIsMissing(),
  fn: () =>
    withLeastMemory(async (world) => {
      for (const shape of HEAVIEST) {
        const counts = await sendHeavy(world, shape);
        assert.deepEqual(Object.keys(counts), ["200", "503"], `${shape}: ${JSON.stringify(counts)}`);
      }
      // The public demo needs no key.
      const junk = SHAPES["deep arrays"]!(BODY_LIMIT_BYTES - 1_000);
      const demo = await statuses(
        Array.from(
          { length: AT_ONCE },
          () => world.post("/assessments", `{"sessionId":"demo-2026-000001","records":${junk}}`),
        ),
      );
      assert.ok(
        Object.keys(demo).every((status) => ["422", "503"].includes(status)),
        JSON.stringify(demo),
      );
    }),
});

/**
 * Connections of each kind without a key, and those of one organization: together nearly as many as are
 * allowed.
 */
const LATE = 1_100;
const LATE_OF_ONE = 600;
/** Connections of HTTP/2, and requests on each. */
const SESSIONS = 100;
const STREAMS = 100;

Deno.test({
  name:
    "with the stated least memory, as many late bodies as allowed and heavy ones beside them are answered or refused with 503, and the service survives [needs a cgroup for memory]",
  ignore: await memoryGroupIsMissing(),
  fn: () =>
    withLeastMemory(async (world) => {
      const { service: { url }, keys } = world;
      const late = [
        ...await lateBodies(url, { count: LATE, declared: 65_536, sent: 65_535 }),
        ...await lateBodies(url, { count: LATE, declared: 1_000_000, sent: 7 }),
        ...await lateBodies(url, { count: LATE, declared: 16_384, sent: 7 }),
        // They leave room for the heavy bodies, which need most.
        ...await lateBodies(url, { count: LATE_OF_ONE, declared: 16_384, sent: 16_383, key: keys[0] }),
      ];
      const sessions = await lateStreams(url, { sessions: SESSIONS, streams: STREAMS });
      const one = await fetch(url);
      assert.equal(one.status, 200);
      await one.body!.cancel();
      const counts = await sendHeavy(world, HEAVY);
      assert.deepEqual(Object.keys(counts), ["200", "503"], JSON.stringify(counts));
      for (const connection of [...late, ...sessions]) connection.close();
      // The memory that they held is free again.
      while ((await world.post("/assessments", "{}")).status === 503) {
        await new Promise((next) => setTimeout(next, 50));
      }
    }),
});

Deno.test("the launcher, the image, Compose and Kubernetes grant the stated least memory, and half of it to the heap", async () => {
  const stated = await statedBytes() / MIB;
  const text = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);
  for (const path of ["docs/operate/deploy/jiss", "Dockerfile"]) {
    const [, heap] = /DENO_V8_FLAGS=[^\n]*--max-old-space-size=(\d+)/.exec(await text(path))!;
    assert.equal(Number(heap), stated / 2, path);
  }
  assert.ok((await text("docs/operate/deploy/compose.yaml")).includes(`mem_limit: ${stated / 1_024}g\n`));
  assert.match(
    await text("docs/operate/deploy/kubernetes.yaml"),
    new RegExp(`limits:\\n(?: +#.*\\n)* +memory: ${stated / 1_024}Gi\\n`),
  );
});
