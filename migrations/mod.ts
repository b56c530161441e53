/** Every schema step in order. A step is frozen once it is released; a change is a new step. */
import type { Migration } from "../src/store/migrate.ts";
import { initial } from "./0001_initial.ts";
import { surface } from "./0002_surface.ts";
import { evidence } from "./0003_evidence.ts";
import { administration } from "./0004_administration.ts";
import { processes } from "./0005_processes.ts";
import { webhooks } from "./0006_webhooks.ts";
import { deliveries } from "./0007_deliveries.ts";
import { departures } from "./0008_departures.ts";
import { days } from "./0009_days.ts";
import { seals } from "./0010_seals.ts";
import { keyedCalls } from "./0011_keyed_calls.ts";
import { erasedSubjects } from "./0012_erased_subjects.ts";
import { verdicts } from "./0013_verdicts.ts";
import { probes } from "./0014_probes.ts";
import { users } from "./0015_users.ts";
import { userEntries } from "./0016_user_entries.ts";
import { cases } from "./0017_cases.ts";
import { teams } from "./0018_teams.ts";

export const MIGRATIONS: readonly Migration[] = [
  initial,
  surface,
  evidence,
  administration,
  processes,
  webhooks,
  deliveries,
  departures,
  days,
  seals,
  keyedCalls,
  erasedSubjects,
  verdicts,
  probes,
  users,
  userEntries,
  cases,
  teams,
];

/**
 * SHA-256 of the schema that these steps make in an empty database, in hex. A start compares it with its database:
 * making that schema anew would take longer than most of a start. `tests/unit/schema_check_test.ts` holds it.
 */
export const SCHEMA_SHA256 = "64e66c0c16b7c9e95fa725aa32ffab437985b44018c4ee07d9266f32b5e8bfcc";
