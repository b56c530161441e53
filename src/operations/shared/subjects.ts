/**
 * Pseudonyms: entries name an operator by one. It is linked to the operator's id in one row and nowhere else.
 */
import { ServiceError } from "../../domain/errors.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { operators, subjects } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import type { World } from "../../domain/world.ts";

const PSEUDONYM_BYTES = 16;

/** Draws a pseudonym, once for a job: a commit that is planned anew uses the same one. */
export function drawPseudonym(world: World): string {
  return hex(world.random(PSEUDONYM_BYTES));
}

/** The operator's pseudonym; the drawn one is stored and returned if the operator has none yet. */
export function pseudonymOf(
  unit: UnitOfWork,
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
  drawn: string,
): string {
  const known = unit.get(subjects, [orgId, operatorId]);
  if (known !== null) return known.pseudonym;
  requireNoOperator(unit, [orgId, operatorId]);
  unit.put(subjects, { org_id: orgId, operator_id: operatorId, pseudonym: drawn });
  return drawn;
}

/**
 * The pseudonym of an operator who has records.
 * @throws {AlteredRows} if the row of the pseudonym is gone.
 */
export function knownPseudonym(
  unit: UnitOfWork,
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
): string {
  const known = unit.get(subjects, [orgId, operatorId]);
  if (known === null) throw missingSubjectError(orgId);
  return known.pseudonym;
}

/**
 * Requires that an operator without a pseudonym is not known: every known operator has one.
 * @throws {AlteredRows} if the operator is known, so that the row of the pseudonym is gone.
 */
export function requireNoOperator(
  unit: UnitOfWork,
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
): void {
  if (unit.get(operators, [orgId, operatorId]) === null) return;
  throw missingSubjectError(orgId);
}

/** The error for a known operator whose pseudonym is in no row. */
export function missingSubjectError(orgId: string): AlteredRows {
  return new AlteredRows(evidenceChain(orgId), "a row of subject");
}

/** NOT_FOUND for an operator about whom nothing is stored. */
export function unknownSubject(operatorId: string): ServiceError {
  return new ServiceError(
    "NOT_FOUND",
    `Nothing is stored about operator_id ${operatorId}: check the operator_id; the operator may have been erased before.`,
  );
}
