/**
 * Anchoring: the system chain records the checkpoints of all other chains, so that one kept checkpoint of the
 * system chain pins every chain of the deployment. Source: evidence design, section 4.
 */
import { hex } from "../../evidence/crypto.ts";
import { rootOf } from "../../evidence/merkle.ts";
import { raiseAnchoredSize } from "../../store/chain_rows.ts";
import { readGrownChains } from "../../store/chains.ts";
import { findUnsignedHeads, unsignedHeadError } from "../../store/signed_head.ts";
import { eventDraft } from "../shared/drafts.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/** Most checkpoints in one entry. */
const CHECKPOINTS_IN_ENTRY = 500;

/**
 * Anchors every chain that has grown since it was anchored last; writes nothing if none has. A chain that
 * does not end as it was signed is left out, and an alert is raised: an entry of the system chain is signed
 * for good.
 */
export async function anchorChains(dependencies: Watching, now: number): Promise<void> {
  const { database, writer, crypto, world } = dependencies;
  for (;;) {
    const found = await readGrownChains(database, { except: SYSTEM_CHAIN, limit: CHECKPOINTS_IN_ENTRY });
    const unsigned = new Set(await findUnsignedHeads(dependencies, found));
    for (const head of unsigned) {
      await raiseTampering(dependencies, tamperingOf(unsignedHeadError(head)), now);
    }
    const grown = found.filter((head) => !unsigned.has(head));
    if (grown.length === 0) return;
    const draft = eventDraft(world, {
      type: "ORG_CHECKPOINTS",
      caller: { actor: "system", orgId: null, prefix: null },
      now,
      detail: {
        checkpoints: grown.map(({ origin, frontier: { size, peaks } }) => ({
          origin,
          size,
          root: hex(rootOf(crypto, peaks)),
        })),
      },
    });
    await writer.submit({
      needs: [],
      chains: [SYSTEM_CHAIN],
      plan(unit) {
        unit.append(SYSTEM_CHAIN, draft);
        for (const { chain, frontier: { size } } of grown) {
          unit.execute(raiseAnchoredSize(chain, size));
        }
        return () => undefined;
      },
    });
    if (found.length < CHECKPOINTS_IN_ENTRY) return;
  }
}
