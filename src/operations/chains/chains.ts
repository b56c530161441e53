/** Starts chains: the first entry of a chain binds it to its origin, its key and its retention. */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import { formatEpoch } from "../../evidence/chain_name.ts";
import { formatVerifierKey } from "../../evidence/note.ts";
import { loadHeads, type StoredHead } from "../../store/chains.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { originOf } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";

/**
 * The data of a genesis entry. Its random bytes are drawn once, when it is drafted, also if a commit is
 * planned anew.
 */
export interface GenesisOptions {
  /** The chain of epoch 1. */
  readonly family: string;
  readonly orgId: string | null;
  /** Days for which entries are kept; null if they are kept for good. */
  readonly retentionDays: number | null;
  readonly now: number;
  /** Present if the chain goes on from an earlier epoch. */
  readonly restored?: {
    /** Epoch of the new chain, from 2. */
    readonly epoch: number;
    readonly firstPosition: number;
    readonly eventType: string;
    /** Further members of its first entry's detail. */
    readonly detail: Record<string, unknown>;
  };
}

export interface Genesis {
  /** Opens the chain in a unit of work, unless it is open. */
  open(unit: UnitOfWork): void;
}

export type GenesisDependencies =
  & Pick<Proving, "crypto" | "signing" | "logName" | "installation">
  & Pick<Writing, "world">;

export function draftGenesis(
  dependencies: GenesisDependencies,
  { family, orgId, retentionDays, now, restored }: GenesisOptions,
): Genesis {
  const { crypto, world, installation } = dependencies;
  const epoch = restored?.epoch ?? 1;
  const chain = formatEpoch(family, epoch);
  const origin = originOf(dependencies, chain);
  const { signers: [signer], ordinal } = dependencies.signing.current();
  const draft = eventDraft(world, {
    type: restored?.eventType ?? "CHAIN_GENESIS",
    caller: { actor: "system", orgId, prefix: null },
    now,
    detail: {
      deployment: installation.deploymentId,
      origin,
      retention_days: retentionDays,
      vkey: formatVerifierKey(crypto, { name: origin, publicKey: signer!.publicKey }),
      ...restored?.detail,
    },
  });
  return {
    open(unit) {
      // If a restore lost an organization, its chains still exist: they go on, since new ones would be a
      // fork.
      if (restored === undefined && unit.head(family) !== null) return;
      unit.openChain({
        chain,
        family,
        origin,
        epoch,
        firstPosition: restored?.firstPosition ?? 0,
        keyOrdinal: ordinal,
      });
      unit.append(family, draft);
    },
  };
}

/**
 * The newest chain of a family.
 * @throws {AlteredError} if there is none: every organization has both of its own.
 */
export async function headOf(
  { database }: Pick<Reading, "database">,
  family: string,
): Promise<StoredHead> {
  const [head] = await loadHeads(database, [family]);
  if (head === undefined) throw new AlteredError(family, `${family} is not in the database`);
  return head;
}
