/**
 * `jiss doctor`: finds mistakes of the setup, and says how to mend them. It reads the environment, the files
 * and the database of the service, also while that runs. It writes only if it is told to accept the clock.
 */
import { CLOCK_RULES, formatReading } from "../operations/installation/clock_watch.ts";
import { administer } from "./administration.ts";
import type { Check, CheckInput, Finding } from "./doctor/check.ts";
import { CHECKS } from "./doctor/checks.ts";
import { printableLine } from "./printable.ts";
import { loadConfig } from "./run_service.ts";
import { EXIT, type Shell } from "./shell.ts";
import { withStored } from "./stored.ts";
import { columns } from "./table.ts";

export interface DoctorOptions {
  readonly json: boolean;
}

interface NamedFinding extends Finding {
  readonly check: string;
}

export async function doctor(shell: Shell, { json }: DoctorOptions): Promise<number> {
  const config = loadConfig(shell.readEnvironment());
  const findings = await withStored(shell, config, async (database) => {
    const schemaTrouble = await shell.schemaTroubleOf(database);
    const input = { config, database, schemaTrouble, now: shell.clock.now() };
    const named: NamedFinding[] = [];
    for (const [name, check] of Object.entries(CHECKS)) {
      named.push({ check: name, ...await runCheck(check, input) });
    }
    return named;
  });
  const wrong = findings.filter(({ state }) => state === "wrong").length;
  console.log(json ? JSON.stringify({ checks: findings, wrong }) : tableOf(findings));
  return wrong === 0 ? EXIT.ok : EXIT.failure;
}

/** Runs a check. If it fails and the schema was altered, this becomes a note: the other checks still run. */
async function runCheck(check: Check, input: CheckInput): Promise<Finding> {
  try {
    return await check(input);
  } catch (error) {
    if (input.schemaTrouble === null) throw error;
    return {
      state: "note",
      what: "this check cannot run in a database with another schema",
      mend: "see schema",
    };
  }
}

/** If the service refuses the clock, records that it is right. A running service goes on within a second. */
export async function acceptClock(shell: Shell, { json }: DoctorOptions): Promise<number> {
  const accepted = await administer(shell, (service) => service.acceptClock(), {
    clockRule: CLOCK_RULES.acceptance,
  });
  const reading = accepted === null ? null : formatReading(accepted);
  if (json) console.log(JSON.stringify({ accepted: reading }));
  else if (reading === null) {
    console.log("This machine's clock is not refused, so nothing was recorded.");
  } else {
    console.log(
      `The clock was accepted at ${reading.clock_at}; the expected time was ${reading.expected_at}. The system chain records this.`,
    );
  }
  return EXIT.ok;
}

function tableOf(findings: readonly NamedFinding[]): string {
  return columns(
    findings.map(({ state, check, what, mend }) => [
      state,
      check,
      printableLine(mend === null ? what : `${what}. To mend: ${mend}`),
    ]),
  );
}
