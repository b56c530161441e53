/**
 * Compares all rows beside a chain with it, which no single read can do: none is missing, none was put back,
 * and each has its entry. A read checks only the rows of its own answer; this checks the others.
 */
import type { RowReading, SealedRowFinding } from "./sealed_row_finding.ts";
import { isEvidenceChain, organizationOf } from "../../evidence/chain_name.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { placeOfHead } from "../../store/chains.ts";
import { organizationQuery, originsQuery } from "../../store/organizations.ts";
import { readHeld } from "../../store/record_rows.ts";
import { setOf, shareOf } from "../../store/seals.ts";
import { namedRowFindings } from "./named_rows.ts";
import { recordFindings } from "./record_findings.ts";

/**
 * Findings about the rows of a family of chains; they hold if its entries are those that were recorded.
 * @param rest called between pages of a hundred rows, so that other work gets its turn.
 */
export async function* sealedRowFindings(
  dependencies: RowReading,
  family: string,
  rest: () => Promise<void>,
): AsyncGenerator<SealedRowFinding> {
  yield* setFindings(dependencies, family);
  yield* originFindings(dependencies, family);
  if (!isEvidenceChain(family)) return;
  yield* recordFindings(dependencies, family, rest);
  yield* namedRowFindings(dependencies, family, rest);
}

async function* setFindings(
  { database, seals }: RowReading,
  family: string,
): AsyncGenerator<SealedRowFinding> {
  const { head, kinds, rows } = await readHeld(database, family);
  const held = head.held && seals.openSet(placeOfHead(head), head.held);
  const shares = rows.map(([kind, row]) => shareOf(seals, kind, row));
  const altered = rows[shares.indexOf(null)];
  const { chain } = head;
  if (altered !== undefined) {
    yield { chain, seq: null, detail: `a row of ${altered[0].name} was altered` };
  } else if (held === null) {
    yield { chain, seq: null, detail: "what the chain's head says of its rows was altered" };
  } else if (!equalBytes(held, setOf(shares as readonly Uint8Array[]))) {
    const names = kinds.map(({ name }) => name).join(" or ");
    yield { chain, seq: null, detail: `a row of ${names} is missing, or an old one was put back` };
  }
}

/** Allowed origins are looked up in a table of their own, which must agree with the organization's row. */
async function* originFindings({ database }: RowReading, family: string): AsyncGenerator<SealedRowFinding> {
  const orgId = organizationOf(family);
  if (orgId === null || isEvidenceChain(family)) return;
  const [origins, [organization]] = await database.snapshot([
    originsQuery(orgId),
    organizationQuery(orgId),
  ]);
  const listed = organization?.allowed_origins.split(" ").filter((origin) => origin !== "").sort() ?? [];
  if (origins.map(({ origin }) => origin).join(" ") === listed.join(" ")) return;
  yield { chain: family, seq: null, detail: "rows of organization_origin were altered" };
}
