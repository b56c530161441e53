/** How long a server is waited for that does not answer. */
import assert from "node:assert/strict";
import { patientFetch } from "../../src/store/patience.ts";

const ADDRESS = "http://server.example";
const FULL = { requestMs: 400, silentMs: 40 };

type Answering = (resource: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

/** Answers after so many milliseconds; null: never. */
function answeringAfter(next: () => number | null): Answering {
  return (_, init) =>
    new Promise((resolve, reject) => {
      const delay = next();
      init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
      if (delay !== null) setTimeout(() => resolve(new Response("answer")), delay);
    });
}

/** Milliseconds until it is given up; null where it is answered. */
async function givenUpAfter(send: typeof fetch): Promise<number | null> {
  const started = performance.now();
  try {
    await (await send(ADDRESS)).text();
    return null;
  } catch (error) {
    assert.equal((error as Error).name, "TimeoutError");
    return performance.now() - started;
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve, FULL.requestMs + 50));

Deno.test("a server that went silent is waited for less, until an answer comes", async () => {
  const delays = [null, null, null, 0, 100, null];
  const send = patientFetch(answeringAfter(() => delays.shift()!), FULL);
  const first = await givenUpAfter(send);
  assert.ok(first !== null && first >= 390, String(first));
  for (let time = 0; time < 2; time += 1) {
    const again = await givenUpAfter(send);
    assert.ok(again !== null && again < 300, String(again));
  }
  assert.equal(await givenUpAfter(send), null, "it answers");
  assert.equal(await givenUpAfter(send), null, "it has all of its time again");
  const silentAgain = await givenUpAfter(send);
  assert.ok(silentAgain !== null && silentAgain >= 390, String(silentAgain));
  await settled();
});

Deno.test("a server that answers later than a silent one may has its full time again once it did", async () => {
  const delays = [null, 120, 120];
  const send = patientFetch(answeringAfter(() => delays.shift()!), FULL);
  assert.notEqual(await givenUpAfter(send), null);
  assert.notEqual(await givenUpAfter(send), null);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(await givenUpAfter(send), null);
  await settled();
});

Deno.test("a connection that is refused or breaks says nothing of how long the next answer takes", async () => {
  let isBroken = true;
  const slow = answeringAfter(() => 100);
  const send = patientFetch((resource, init) => {
    if (isBroken) return Promise.reject(new TypeError("connection refused"));
    return slow(resource, init);
  }, FULL);
  await assert.rejects(send(ADDRESS), TypeError);
  isBroken = false;
  assert.equal(await givenUpAfter(send), null);
  await settled();
});
