/** Starting chains: every chain's first entry binds it to its origin, its key and its retention. */
import { formatVerifierKey } from "../evidence/note.ts";
import type { UnitOfWork } from "../store/unit_of_work.ts";
import { type Dependencies, eventDraft, originOf } from "./dependencies.ts";

/** What a genesis entry needs to be drafted: randomness is drawn here, once, whatever the retries. */
export interface GenesisOptions {
  readonly chain: string;
  readonly orgId: string | null;
  /** null: entries are kept. */
  readonly retentionDays: number | null;
  readonly now: number;
}

export interface Genesis {
  /** Opens the chain in a unit of work. */
  open(unit: UnitOfWork): void;
}

export function draftGenesis(
  dependencies: Pick<Dependencies, "crypto" | "signers" | "world" | "logName" | "installation">,
  { chain, orgId, retentionDays, now }: GenesisOptions,
): Genesis {
  const { crypto, signers, world, installation } = dependencies;
  const origin = originOf(dependencies, chain);
  const [signer] = signers();
  const draft = eventDraft(world, {
    type: "CHAIN_GENESIS",
    caller: { actor: "system", orgId, prefix: null },
    now,
    detail: {
      deployment: installation.deploymentId,
      origin,
      retention_days: retentionDays,
      vkey: formatVerifierKey(crypto, { name: origin, publicKey: signer!.publicKey }),
    },
  });
  return {
    open(unit) {
      unit.openChain(chain, origin);
      unit.append(chain, draft);
    },
  };
}
