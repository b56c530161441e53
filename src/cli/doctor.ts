/**
 * `jiss doctor`: finds mistakes of the setup, and says how to mend them. It reads the environment, the files
 * and the database of the service, also while that runs. It writes only if it is told to accept the clock.
 */
import { CLOCK_RULES, formatReading } from "../operations/installation/clock_watch.ts";
import { administer } from "./administration.ts";
import type { Check, Examined, Finding } from "./doctor/check.ts";
import { CHECKS } from "./doctor/checks.ts";
import { printableLine } from "./printable.ts";
import { loadConfig } from "./run_service.ts";
import { EXIT, type Shell } from "./shell.ts";
import { withStored } from "./stored.ts";
import { columns } from "./table.ts";

export interface DoctorOptions {
  readonly json: boolean;
}

interface Told extends Finding {
  readonly check: string;
}

export async function doctor(shell: Shell, { json }: DoctorOptions): Promise<number> {
  const config = loadConfig(shell.readEnvironment());
  const findings = await withStored(shell, config, async (database) => {
    const schemaTrouble = await shell.schemaTroubleOf(database);
    const examined = { config, database, schemaTrouble, now: shell.clock.now() };
    const told: Told[] = [];
    for (const [check, look] of Object.entries(CHECKS)) {
      told.push({ check, ...await looked(look, examined) });
    }
    return told;
  });
  const wrong = findings.filter(({ state }) => state === "wrong").length;
  console.log(json ? JSON.stringify({ checks: findings, wrong }) : tableOf(findings));
  return wrong === 0 ? EXIT.ok : EXIT.failure;
}

/** Runs a check. If it fails and the schema was altered, this becomes a note: the other checks still run. */
async function looked(look: Check, examined: Examined): Promise<Finding> {
  try {
    return await look(examined);
  } catch (error) {
    if (examined.schemaTrouble === null) throw error;
    return {
      state: "note",
      what: "this cannot be looked at in a database of another schema",
      mend: "see schema",
    };
  }
}

/** If the service refuses the clock, records that it is right. A running service goes on within a second. */
export async function acceptClock(shell: Shell, { json }: DoctorOptions): Promise<number> {
  const accepted = await administer(shell, (service) => service.acceptClock(), {
    clockRule: CLOCK_RULES.acceptance,
  });
  const told = accepted === null ? null : formatReading(accepted);
  if (json) console.log(JSON.stringify({ accepted: told }));
  else if (told === null) {
    console.log("This machine's clock is not refused: there is nothing to accept, and nothing was recorded.");
  } else {
    console.log(
      `The clock is accepted as it is, ${told.clock_at}; it was expected to say ${told.expected_at}. The system chain says so.`,
    );
  }
  return EXIT.ok;
}

function tableOf(findings: readonly Told[]): string {
  return columns(
    findings.map(({ state, check, what, mend }) => [
      state,
      check,
      printableLine(mend === null ? what : `${what}. To mend: ${mend}`),
    ]),
  );
}
