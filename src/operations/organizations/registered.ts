/**
 * Checks an organization's row and its webhooks' rows against the set that the head of its audit log holds.
 * So a replaced key does not work again if its old row is put back with its seal.
 */
import { equalBytes } from "../../evidence/crypto.ts";
import type { StoredHead } from "../../store/chains.ts";
import { organizationQuery, type StoredOrganization } from "../../store/organizations.ts";
import { organizations, type WebhookRow, webhooks } from "../../store/records.ts";
import type { Sealed } from "../../store/seals.ts";
import { webhooksQuery } from "../../store/webhooks.ts";
import type { Reading } from "../shared/capabilities.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { requireSealed, requireWholeSet, snapshotWithHead } from "../shared/sealed_reads.ts";

/** Remembers the registered rows of organizations that were found whole. */
export interface Remembering {
  readonly registered: RegisteredRows;
}

/** Remembers the rows that were found whole: while the head holds the same set, they need no second check. */
export class RegisteredRows {
  readonly #known = new Map<string, { readonly held: Uint8Array; readonly seals: ReadonlySet<string> }>();

  /** True if a row of this seal was found whole under the set that the head holds. */
  has(orgId: string, { held, seal }: Sealed & Pick<StoredHead, "held">): boolean {
    const known = this.#known.get(orgId);
    return known !== undefined && held !== null && seal != null && equalBytes(known.held, held) &&
      known.seals.has(seal.toHex());
  }

  remember(
    orgId: string,
    { held, rows }: { readonly held: Uint8Array; readonly rows: readonly Sealed[] },
  ): void {
    if (this.#known.size >= REMEMBERED_ORGANIZATIONS) this.#known.clear();
    this.#known.set(orgId, { held, seals: new Set(rows.map(({ seal }) => seal!.toHex())) });
  }
}

/** Most organizations that are remembered, at some hundred bytes each. */
const REMEMBERED_ORGANIZATIONS = 10_000;

export interface Registered {
  /** Absent if there is no organization of this id. */
  readonly organization: StoredOrganization | undefined;
  /** Oldest first. */
  readonly webhooks: readonly WebhookRow[];
}

/**
 * An organization's row and its webhooks' rows: all of them, and no old one.
 * @throws {AlteredRows}; {ServiceError} SERVICE_UNAVAILABLE if the database is behind what was issued.
 */
export async function readRegistered(
  dependencies: Reading & Remembering,
  orgId: string,
): Promise<Registered> {
  const { head, found: [[organization], destinations] } = await snapshotWithHead(
    dependencies,
    adminChain(orgId),
    [organizationQuery(orgId), webhooksQuery(orgId)] as const,
    { mayBePutBack: true },
  );
  const own = organization === undefined ? [] : [organization];
  const shares = [
    ...requireSealed(dependencies, organizations, own),
    ...requireSealed(dependencies, webhooks, destinations),
  ];
  requireWholeSet(dependencies, head, shares);
  dependencies.registered.remember(orgId, { held: head.held!, rows: [...own, ...destinations] });
  return { organization, webhooks: destinations };
}

/**
 * True if a row is one that the organization has registered now.
 * @param row the row, with the set that the head of the audit log held when it was read.
 * @throws as {@link readRegistered}.
 */
export async function isRegistered(
  dependencies: Reading & Remembering,
  row: Sealed & Pick<StoredHead, "held"> & { readonly org_id: string },
): Promise<boolean> {
  const { org_id: orgId, seal } = row;
  if (dependencies.registered.has(orgId, row)) return true;
  const { organization, webhooks } = await readRegistered(dependencies, orgId);
  return [organization, ...webhooks].some((current) =>
    current?.seal != null && equalBytes(current.seal, seal!)
  );
}
