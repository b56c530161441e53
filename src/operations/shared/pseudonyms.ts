/** Translates between operators' ids and their pseudonyms, for callers who may see only the latter. */
import { subjects } from "../../store/records.ts";
import { subjectsOfPseudonymsQuery } from "../../store/subjects.ts";
import type { Reading } from "./capabilities.ts";
import { readSealed, requireSealed } from "./sealed_reads.ts";

type Needs = Pick<Reading, "database" | "seals">;

/** The operator who has a pseudonym now; null if nobody has it. @throws {AlteredRows} */
export async function operatorOf(
  dependencies: Needs,
  orgId: string,
  pseudonym: string,
): Promise<string | null> {
  return (await operatorsOf(dependencies, orgId, [pseudonym])).get(pseudonym) ?? null;
}

/** By pseudonym, the operator who has it now. @throws {AlteredRows} */
export async function operatorsOf(
  dependencies: Needs,
  orgId: string,
  pseudonyms: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await dependencies.database.read(subjectsOfPseudonymsQuery(orgId, pseudonyms));
  requireSealed(dependencies, subjects, rows);
  return new Map(rows.map(({ operator_id, pseudonym }) => [pseudonym, operator_id]));
}

/** By operator, the pseudonym; without operators about whom nothing is stored. @throws {AlteredRows} */
export async function pseudonymsOf(
  dependencies: Needs,
  orgId: string,
  operatorIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const rows = await readSealed(dependencies, subjects, [...operatorIds].map((id) => [orgId, id] as const));
  return new Map(rows.map(({ operator_id, pseudonym }) => [operator_id, pseudonym]));
}
