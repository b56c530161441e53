/**
 * `jiss doctor`: what an administrator gets wrong, and how to mend it. It reads the service's environment, its files
 * and its database, beside a running service, and writes nothing but what it is told to accept.
 */
import { CLOCK_RULES, toldReading } from "../operations/installation/clock_watch.ts";
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

/** A check needs tables perhaps that an altered database has no more: the others are told all the same. */
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

/** Records that this machine's clock is right, where the service refuses it; one that is running goes on within a second. */
export async function acceptClock(shell: Shell, { json }: DoctorOptions): Promise<number> {
  const accepted = await administer(shell, (service) => service.acceptClock(), {
    clockRule: CLOCK_RULES.acceptance,
  });
  const told = accepted === null ? null : toldReading(accepted);
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
