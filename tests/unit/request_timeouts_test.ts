/** The time for which a server that does not answer is waited for. */
import assert from "node:assert/strict";
import { fetchWithTimeouts } from "../../src/store/request_timeouts.ts";

const ADDRESS = "http://server.example";
const FULL = { requestMs: 400, silentMs: 40 };

type Answering = (resource: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

/** Answers after the given number of milliseconds; never if it is null. */
function answeringAfter(next: () => number | null): Answering {
  return (_, init) =>
    new Promise((resolve, reject) => {
      const delay = next();
      init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
      if (delay !== null) setTimeout(() => resolve(new Response("answer")), delay);
    });
}

interface Outcome {
  readonly isAnswered: boolean;
  /** True if the time had passed by a timer that was set at the request. */
  readonly isAfter: boolean;
}

async function outcomeOf(send: typeof fetch, milliseconds = 0): Promise<Outcome> {
  let isAfter = false;
  const timer = setTimeout(() => isAfter = true, milliseconds);
  try {
    await (await send(ADDRESS)).text();
    return { isAnswered: true, isAfter };
  } catch (error) {
    assert.equal((error as Error).name, "TimeoutError");
    return { isAnswered: false, isAfter };
  } finally {
    clearTimeout(timer);
  }
}

const isAnswered = async (send: typeof fetch) => (await outcomeOf(send)).isAnswered;

const settled = () => new Promise((resolve) => setTimeout(resolve, FULL.requestMs + 50));

Deno.test("a server that became silent is waited for less, until an answer comes", async () => {
  const delays = [null, null, null, 0, 100, null];
  const send = fetchWithTimeouts(answeringAfter(() => delays.shift()!), FULL);
  const between = (FULL.requestMs + FULL.silentMs) / 2;
  assert.deepEqual(await outcomeOf(send, between), { isAnswered: false, isAfter: true });
  for (let time = 0; time < 2; time += 1) {
    assert.deepEqual(await outcomeOf(send, between), { isAnswered: false, isAfter: false });
  }
  assert.ok(await isAnswered(send), "it answers");
  assert.ok(await isAnswered(send), "it has its full time again");
  assert.deepEqual(await outcomeOf(send, between), { isAnswered: false, isAfter: true });
  await settled();
});

Deno.test("an answer after the short time gives a server its full time again", async () => {
  const delays = [null, 120, 120];
  const send = fetchWithTimeouts(answeringAfter(() => delays.shift()!), FULL);
  assert.ok(!await isAnswered(send));
  assert.ok(!await isAnswered(send));
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.ok(await isAnswered(send));
  await settled();
});

Deno.test("a connection that is refused or breaks does not shorten the time for the next answer", async () => {
  let isBroken = true;
  const slow = answeringAfter(() => 100);
  const send = fetchWithTimeouts((resource, init) => {
    if (isBroken) return Promise.reject(new TypeError("connection refused"));
    return slow(resource, init);
  }, FULL);
  await assert.rejects(send(ADDRESS), TypeError);
  isBroken = false;
  assert.ok(await isAnswered(send));
  await settled();
});
