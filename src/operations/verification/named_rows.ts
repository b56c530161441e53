/**
 * Checks the rows that name an operator and stand for no single entry: none was altered, none names an
 * operator who was erased, and none was put back.
 */
import { adminChain, organizationOf } from "../../evidence/chain_name.ts";
import { readKeyedCalls } from "../../store/keyed_calls.ts";
import { keyedCalls, scoreBatches, subjects } from "../../store/records.ts";
import { readBatches } from "../../store/score_batches.ts";
import { type Sealed, type SealedKind, shareOf } from "../../store/seals.ts";
import { hasNamelessOperator, readErased, readSubjects } from "../../store/subjects.ts";
import type { RowReading, SealedRowFinding } from "./sealed_row_finding.ts";

/** Findings about these rows: the first one of each kind. */
export async function* namedRowFindings(
  { database, seals }: RowReading,
  family: string,
  rest: () => Promise<void>,
): AsyncGenerator<SealedRowFinding> {
  const orgId = organizationOf(family)!;
  const erased = await readErased(database, [family, adminChain(orgId)]);
  const altered = <Row extends Sealed>(kind: SealedKind<Row>, row: Row) =>
    shareOf(seals, kind, row) === null ? `a row of ${kind.name} was altered` : null;
  const checks = [
    firstFault(readSubjects(database, orgId), rest, (row) =>
      altered(subjects, row) ??
        // An operator who comes back after an erasure gets a new pseudonym.
        (erased.has(row.pseudonym) ? "a row of subject was put back after its erasure" : null)),
    firstFault(readBatches(database, orgId), rest, (row) =>
      altered(scoreBatches, row) ??
        (row.scored === row.operator_id ? null : "a row of score_batch was put back")),
    firstFault(readKeyedCalls(database, orgId), rest, (row) =>
      altered(keyedCalls, row) ??
        (row.operator_id === null || row.is_known === 1 ? null : "a row of keyed_call was put back")),
  ];
  for (const check of checks) {
    const detail = await check();
    if (detail !== null) yield { chain: family, seq: null, detail };
  }
  if (await hasNamelessOperator(database, orgId)) {
    yield { chain: family, seq: null, detail: "a row of subject is missing" };
  }
}

/** A check of rows that ends at the first fault and returns its detail; null if there is none. */
function firstFault<Row>(
  pages: AsyncGenerator<readonly Row[]>,
  rest: () => Promise<void>,
  faultOf: (row: Row) => string | null,
): () => Promise<string | null> {
  return async () => {
    for await (const page of pages) {
      const found = page.map(faultOf).find((detail) => detail !== null);
      if (found !== undefined) return found;
      await rest();
    }
    return null;
  };
}
