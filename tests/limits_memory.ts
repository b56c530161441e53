/**
 * The memory of a limiter after a million addresses within a minute, and a minute later: in a process of its
 * own, because the leftovers of others would be measured too.
 */
import { memoryWindow } from "./harness.ts";

const ADDRESSES = 1_000_000;
const collectGarbage = (globalThis as unknown as { gc(): void }).gc;

/** Buffers are freed in the background, after the collection that found them. */
async function held(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

function addressOf(index: number): string {
  return `${10 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}.7`;
}

const window = memoryWindow(1);
const { rss } = Deno.memoryUsage();
const before = await held();
for (let index = 0; index < ADDRESSES; index += 1) window.admit(addressOf(index), index * 0.05);
const resident = Deno.memoryUsage().rss - rss;
const full = await held() - before;
let [admitted, limited] = [0, 0];
for (let index = 0; index < ADDRESSES; index += 1) {
  if (window.admit(addressOf(index), 59_999).admitted) admitted += 1;
  else limited += 1;
}
const subjects = [window.subjects];
window.forget(60_000 + ADDRESSES * 0.05);
subjects.push(window.subjects);
const idle = await held() - before;
console.log(JSON.stringify({ full, idle, resident, subjects, admitted, limited }));
