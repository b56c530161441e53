/** Jumps of the clock, and how the service reacts. Source: evidence design, section 4, clock. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  CLOCK_RULES,
  type ClockAnomaly,
  type ClockRule,
  ClockWatch,
} from "../../src/operations/installation/clock_watch.ts";
import { createLog } from "../../src/observability/log.ts";
import { openLock } from "../../src/store/lock.ts";
import type { StoredClock } from "../../src/store/issued.ts";

const START = Date.parse("2026-11-20T09:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface Options {
  readonly kept?: StoredClock;
  readonly lastEntryAt?: number;
  readonly rule?: ClockRule;
}

/** A watch over a clock of the test: `pass` lets time pass, `set` sets the wall clock. */
function machine({ kept, lastEntryAt, rule = CLOCK_RULES.service }: Options = {}) {
  const lock = openLock({
    path: ":memory:",
    onTrouble(error) {
      throw error;
    },
  });
  if (kept !== undefined) lock.recordClock(kept);
  const time = { wall: START, monotonic: 0 };
  const anomalies: ClockAnomaly[] = [];
  const events: string[] = [];
  let fails = false;
  const watch = new ClockWatch({
    clock: { now: () => time.wall, monotonic: () => time.monotonic },
    lock,
    log: createLog({
      format: "json",
      clock: () => time.wall,
      write: (line) => events.push(JSON.parse(line).msg),
    }),
    rule,
    lastEntryAt: lastEntryAt ?? null,
  });
  return {
    lock,
    anomalies,
    events,
    watch,
    pass(milliseconds: number) {
      time.wall += milliseconds;
      time.monotonic += milliseconds;
    },
    set(milliseconds: number) {
      time.wall += milliseconds;
    },
    failRecording(value: boolean) {
      fails = value;
    },
    look: () =>
      watch.check({
        record(anomaly) {
          if (fails) return Promise.reject(new Error("away"));
          anomalies.push(anomaly);
          return Promise.resolve();
        },
        resume() {
          events.push("resumed");
          return Promise.resolve();
        },
      }),
  };
}

/** The instants of anomalies since the start, and how each was noticed. */
const summary = (anomalies: readonly ClockAnomaly[]) =>
  anomalies.map(({ expectedAt, clockAt, noticed }) => [expectedAt - START, clockAt - START, noticed]);

Deno.test("time that passes is not a jump, nor is a small difference; small differences add up", async () => {
  const { watch, pass, set, look, anomalies } = machine();
  await look();
  for (let step = 0; step < 10; step += 1) {
    pass(40 * DAY);
    assert.equal(watch.isRefused, false);
    await look();
  }
  set(5 * MINUTE);
  await look();
  assert.deepEqual(anomalies, []);
  set(1);
  await look();
  assert.deepEqual(summary(anomalies), [[400 * DAY, 400 * DAY + 5 * MINUTE + 1, "while_running"]]);
  await look();
  assert.equal(anomalies.length, 1);
});

Deno.test("a jump of up to a day either way is recorded once and served, and so is a larger one back", async () => {
  for (const jump of [DAY, -DAY, HOUR, -400 * DAY, -6 * MINUTE]) {
    const { watch, pass, set, look, anomalies } = machine();
    await look();
    pass(10 * SECOND);
    set(jump);
    assert.doesNotThrow(() => watch.require());
    await look();
    pass(10 * SECOND);
    await look();
    assert.deepEqual(summary(anomalies), [[10 * SECOND, 10 * SECOND + jump, "while_running"]]);
  }
});

Deno.test("a jump of more than a day is refused at once, until the clock is right again", async () => {
  const { watch, lock, pass, set, look, anomalies, events } = machine();
  await look();
  set(DAY + 1);
  assert.throws(() => watch.require(), /clock has jumped too far ahead/);
  await look();
  pass(3 * HOUR);
  await look();
  assert.equal(watch.isRefused, true);
  assert.deepEqual(lock.clock(), { at: START, isRefused: true });
  set(-DAY);
  // The clock is right again, but the service must first complete what the start left out.
  assert.equal(watch.isRefused, true);
  await look();
  assert.equal(watch.isRefused, false);
  assert.equal(lock.clock()!.isRefused, false);
  assert.deepEqual(anomalies, []);
  assert.deepEqual(events, [
    "this machine's clock has jumped too far ahead: nothing is recorded",
    "resumed",
    "this machine's clock is accepted again: entries are recorded",
  ]);
});

Deno.test("a clock that another process accepted is believed, and no other kept value is", async () => {
  const { watch, lock, pass, set, look, anomalies } = machine();
  await look();
  set(3 * DAY);
  assert.equal(watch.isRefused, true);
  // Written by a second service that has not noticed the jump yet.
  lock.recordClock({ at: START, isRefused: false });
  await look();
  assert.equal(watch.isRefused, true);
  lock.recordClock({ at: START + 3 * DAY, isRefused: false });
  pass(400);
  await look();
  assert.equal(watch.isRefused, false);
  assert.deepEqual(anomalies, [], "the process that accepted it has recorded it");
  set(2 * DAY);
  assert.equal(watch.isRefused, true);
});

Deno.test("a clock that was far behind may return to where it was, and no further", async () => {
  const { watch, pass, set, look, anomalies } = machine();
  await look();
  set(-40 * DAY);
  await look();
  pass(HOUR);
  set(40 * DAY);
  assert.equal(watch.isRefused, false);
  await look();
  assert.deepEqual(summary(anomalies), [
    [0, -40 * DAY, "while_running"],
    [HOUR - 40 * DAY, HOUR, "while_running"],
  ]);
  set(-40 * DAY);
  await look();
  set(41 * DAY + 1);
  assert.equal(watch.isRefused, true);

  const restarted = machine({ kept: { at: START - 40 * DAY, isRefused: true }, lastEntryAt: START - HOUR });
  assert.equal(restarted.watch.isRefused, false);
});

Deno.test("at a start a difference of 400 days is served and recorded, more is refused; afterwards the limit is a day", async () => {
  const off = machine({ kept: { at: START - 400 * DAY, isRefused: false } });
  assert.equal(off.watch.isRefused, false);
  await off.look();
  assert.deepEqual(summary(off.anomalies), [[-400 * DAY, 0, "at_start"]]);
  off.set(2 * DAY);
  assert.equal(off.watch.isRefused, true);

  const mad = machine({ kept: { at: START - 400 * DAY - 1, isRefused: false } });
  assert.equal(mad.watch.isRefused, true);
  await mad.look();
  assert.deepEqual([mad.anomalies, mad.watch.isRefused], [[], true]);
  mad.set(-300 * DAY);
  await mad.look();
  assert.equal(mad.watch.isRefused, false);
  assert.deepEqual(summary(mad.anomalies), [[-400 * DAY - 1, -300 * DAY, "at_start"]]);
});

Deno.test("a restart within five minutes is no anomaly; an earlier clock is", async () => {
  const { look, anomalies } = machine({ kept: { at: START - 5 * MINUTE, isRefused: false } });
  await look();
  assert.deepEqual(anomalies, []);
  const behind = machine({ kept: { at: START + 6 * MINUTE, isRefused: false } });
  await behind.look();
  assert.deepEqual(summary(behind.anomalies), [[6 * MINUTE, 0, "at_start"]]);
});

Deno.test("a restart does not accept a clock that was refused", async () => {
  const { watch, look, set } = machine({ kept: { at: START - 2 * DAY, isRefused: true } });
  assert.equal(watch.isRefused, true);
  set(-2 * DAY);
  await look();
  assert.equal(watch.isRefused, false);
});

Deno.test("without a kept instant only the newest entry counts, and time may have passed since", async () => {
  const idle = machine({ lastEntryAt: START - 300 * DAY });
  await idle.look();
  assert.deepEqual([idle.watch.isRefused, idle.anomalies], [false, []]);
  assert.equal(machine({ lastEntryAt: START - 401 * DAY }).watch.isRefused, true);
  const behind = machine({ lastEntryAt: START + HOUR });
  await behind.look();
  assert.deepEqual(summary(behind.anomalies), [[HOUR, 0, "at_start"]]);
  const first = machine();
  await first.look();
  assert.deepEqual([first.watch.isRefused, first.anomalies], [false, []]);
});

Deno.test("local testing never refuses; a command refuses, and keeps and records nothing", async () => {
  const local = machine({ rule: CLOCK_RULES.local, kept: { at: START - 500 * DAY, isRefused: true } });
  await local.look();
  local.set(1_000 * DAY);
  local.watch.require();
  await local.look();
  assert.deepEqual(summary(local.anomalies), [[-500 * DAY, 0, "at_start"], [
    0,
    1_000 * DAY,
    "while_running",
  ]]);

  const kept = { at: START - 2 * DAY, isRefused: true };
  const command = machine({ rule: CLOCK_RULES.command, kept });
  assert.equal(command.watch.isRefused, true);
  await command.look();
  command.watch.finish();
  assert.deepEqual([command.lock.clock(), command.anomalies], [kept, []]);

  const acceptance = machine({ rule: CLOCK_RULES.acceptance, kept });
  acceptance.watch.require();
  assert.equal(acceptance.watch.readingToAccept!.clockAt, START);
  const usual = machine({ rule: CLOCK_RULES.acceptance, kept: { ...kept, isRefused: false } });
  assert.equal(usual.watch.readingToAccept, null);
});

Deno.test("an anomaly that could not be recorded is recorded by the next look", async () => {
  const { look, set, pass, anomalies, failRecording, events } = machine();
  await look();
  set(HOUR);
  failRecording(true);
  await look();
  assert.deepEqual(events, ["an anomaly of the clock could not be recorded"]);
  failRecording(false);
  pass(SECOND);
  await look();
  assert.deepEqual(summary(anomalies), [[SECOND, HOUR + SECOND, "while_running"]]);
});

Deno.test("the clock's instant is kept every minute, and at the end", async () => {
  const { look, lock, pass, watch } = machine();
  await look();
  assert.deepEqual(lock.clock(), { at: START, isRefused: false });
  pass(59 * SECOND);
  await look();
  assert.equal(lock.clock()!.at, START);
  pass(SECOND);
  await look();
  assert.equal(lock.clock()!.at, START + MINUTE);
  pass(SECOND);
  watch.finish();
  assert.equal(lock.clock()!.at, START + MINUTE + SECOND);
});

Deno.test("with any jumps the clock is believed at most a day past the recorded, kept or accepted instant", async () => {
  const step = fc.record({
    pass: fc.integer({ min: 0, max: 3 * DAY }),
    set: fc.integer({ min: -4 * DAY, max: 4 * DAY }),
  });
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    const { watch, look, pass, set, anomalies } = machine();
    await look();
    let believed = 0;
    let furthest = 0;
    let wall = 0;
    for (const { pass: passed, set: jump } of steps) {
      pass(passed);
      set(jump);
      believed += passed;
      furthest += passed;
      wall += passed + jump;
      const before = anomalies.length;
      const isRefused = watch.isRefused;
      const isBeyond = () => wall - Math.max(believed, furthest) > DAY;
      if (isBeyond()) assert.equal(isRefused, true);
      await look();
      if (anomalies.length > before) believed = wall;
      furthest = Math.max(furthest, believed);
      assert.equal(watch.isRefused, isBeyond());
      assert.ok(watch.isRefused || Math.abs(wall - believed) <= 5 * MINUTE);
    }
  }));
});
