/** Pseudonyms: what an entry calls an operator, tied to the operator's id in one row and nowhere else. */
import { ServiceError } from "../domain/errors.ts";
import { hex } from "../evidence/crypto.ts";
import { subjects } from "../store/records.ts";
import type { UnitOfWork } from "../store/unit_of_work.ts";
import type { World } from "./dependencies.ts";

const PSEUDONYM_BYTES = 16;

/** Drawn once for a job: a commit that is planned anew uses the same. */
export function drawPseudonym(world: World): string {
  return hex(world.random(PSEUDONYM_BYTES));
}

/** The operator's pseudonym; the drawn one becomes it where the operator has none yet. */
export function pseudonymOf(
  unit: UnitOfWork,
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
  drawn: string,
): string {
  const known = unit.get(subjects, [orgId, operatorId]);
  if (known !== null) return known.pseudonym;
  unit.put(subjects, { org_id: orgId, operator_id: operatorId, pseudonym: drawn });
  return drawn;
}

/** NOT_FOUND, of an operator about whom nothing is held. */
export function unknownSubject(operatorId: string): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    `Nothing is stored about operator_id ${operatorId}: check the operator_id, or it was erased before.`,
  );
}
