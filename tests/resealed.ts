/**
 * Rows that a test has put in place past the service, made such as the service itself would have left them: figures follow
 * from states, every row carries its seal, and the heads hold their sets.
 */
import type { Dependencies } from "../src/operations/dependencies.ts";
import { isEvidenceChain } from "../src/operations/dependencies.ts";
import { movedTo } from "../src/operations/score.ts";
import { newestHeads, placeOfHead, updateHeld } from "../src/store/chains.ts";
import { query, type Statement } from "../src/store/database.ts";
import { interactions, operators, organizations, webhooks } from "../src/store/records.ts";
import { sealed, type SealedRow, setOf } from "../src/store/seals.ts";

/** Seals the operators, interactions, organizations and webhooks that there are, as they stand. */
export async function resealed({ database, seals }: Pick<Dependencies, "database" | "seals">): Promise<void> {
  const [operatorRows, interactionRows, organizationRows, webhookRows] = await database.snapshot([
    query.selectFrom("operator").selectAll().compile(),
    query.selectFrom("interaction").selectAll().compile(),
    query.selectFrom("organization").selectAll().compile(),
    query.selectFrom("webhook").selectAll().compile(),
  ]);
  const operatorsNow = operatorRows.map((row) =>
    sealed(seals, operators, {
      ...row,
      ...movedTo(JSON.parse(row.state), { entry: { seq: row.prior_seq }, hash: row.prior_hash }),
    })
  );
  const organizationsNow = organizationRows.map(({ active: _, ...row }) => sealed(seals, organizations, row));
  const webhooksNow = webhookRows.map((row) => sealed(seals, webhooks, row));
  const statements: Statement[] = [
    ...operatorsNow.map(({ row }) => operators.save!(row)),
    ...interactionRows.map((row) => {
      const { seal } = sealed(seals, interactions, row).row;
      return query.updateTable("interaction").set({ seal }).where("org_id", "=", row.org_id)
        .where("session_id", "=", row.session_id).compile();
    }),
    ...organizationsNow.map(({ row: { org_id, seal } }) =>
      query.updateTable("organization").set({ seal }).where("org_id", "=", org_id).compile()
    ),
    ...webhooksNow.map(({ row: { webhook_id, seal } }) =>
      query.updateTable("webhook").set({ seal }).where("webhook_id", "=", webhook_id).compile()
    ),
  ];
  for (const head of (await newestHeads(database)).values()) {
    const orgId = head.family.split("/")[1];
    const own = (rows: readonly SealedRow<{ readonly org_id: string }>[]) =>
      rows.filter(({ row }) => row.org_id === orgId).map(({ share }) => share);
    const held = isEvidenceChain(head.family)
      ? own(operatorsNow)
      : [...own(organizationsNow), ...own(webhooksNow)];
    statements.push(
      updateHeld({ ...head, held: seals.closeSet(placeOfHead(head), setOf(held)) }),
    );
  }
  await database.batch(statements);
}
