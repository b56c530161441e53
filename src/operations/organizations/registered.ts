/**
 * Checks the rows that an organization registered, its own one, webhooks, named keys, users and sessions, against the set
 * that the head of its audit log holds. So a replaced key or an ended session does not work again if its old row is put
 * back with its seal.
 */
import { equalBytes } from "../../evidence/crypto.ts";
import { headOf, type HeadRow, type StoredHead } from "../../store/chains.ts";
import { isBehind } from "../../store/lock.ts";
import { type NamedKeyRow, namedKeys, namedKeysQuery } from "../../store/named_keys.ts";
import { organizationQuery, type StoredOrganization } from "../../store/organizations.ts";
import { organizations, type WebhookRow, webhooks } from "../../store/records.ts";
import { type PasskeyRow, passkeys, passkeysQuery } from "../../store/passkeys.ts";
import { AlteredRows, type Sealed } from "../../store/seals.ts";
import {
  userAccounts,
  type UserRow,
  type UserSessionRow,
  userSessions,
  userSessionsQuery,
  usersQuery,
} from "../../store/users.ts";
import { webhooksQuery } from "../../store/webhooks.ts";
import type { Reading } from "../shared/capabilities.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { requireSealed, requireWholeSet, snapshotWithHead } from "../shared/sealed_reads.ts";

/** Remembers the registered rows of organizations that were found whole. */
export interface Remembering {
  readonly registered: RegisteredRows;
}

/** The rows that an organization has registered, found whole. */
interface WholeSet {
  /** The set in the form in which the head holds it. */
  readonly held: Uint8Array;
  /** The head that holds it. */
  readonly head: StoredHead;
  /** Absent if there is no organization of this id. */
  readonly organization: StoredOrganization | undefined;
  /** Of all rows, in hexadecimal. */
  readonly seals: ReadonlySet<string>;
}

/** Remembers the rows that were found whole: while the head holds the same set, they need no second check. */
export class RegisteredRows {
  readonly #known = new Map<string, WholeSet>();

  /** The set of an organization, if it was found whole and the head still holds it; null otherwise. */
  find(orgId: string, held: Uint8Array | null): WholeSet | null {
    const known = this.#known.get(orgId);
    return known !== undefined && held !== null && equalBytes(known.held, held) ? known : null;
  }

  remember(orgId: string, whole: WholeSet): void {
    if (this.#known.size >= REMEMBERED_ORGANIZATIONS) this.#known.clear();
    this.#known.set(orgId, whole);
  }
}

/** Most organizations that are remembered, at some kilobytes each. */
const REMEMBERED_ORGANIZATIONS = 10_000;

export interface Registered {
  /** Absent if there is no organization of this id. */
  readonly organization: StoredOrganization | undefined;
  /** Oldest first, as the others. */
  readonly webhooks: readonly WebhookRow[];
  readonly keys: readonly NamedKeyRow[];
  readonly users: readonly UserRow[];
  readonly passkeys: readonly PasskeyRow[];
  readonly sessions: readonly UserSessionRow[];
}

/**
 * The rows that an organization has registered: all of them, and no old one.
 * @throws {AlteredRows}; {ServiceError} SERVICE_UNAVAILABLE if the database is behind what was issued.
 */
export async function readRegistered(
  dependencies: Reading & Remembering,
  orgId: string,
): Promise<Registered> {
  return (await readWhole(dependencies, orgId, { mayBePutBack: true })).rows;
}

/** The queries for the rows that an organization has registered, for {@link requireRegistered}. */
export function registeredQueries(orgId: string) {
  return [
    organizationQuery(orgId),
    webhooksQuery(orgId),
    namedKeysQuery(orgId),
    usersQuery(orgId),
    passkeysQuery(orgId),
    userSessionsQuery(orgId),
  ] as const;
}

/** The results of {@link registeredQueries}. */
type RegisteredRowsFound = readonly [
  readonly StoredOrganization[],
  readonly WebhookRow[],
  readonly NamedKeyRow[],
  readonly UserRow[],
  readonly PasskeyRow[],
  readonly UserSessionRow[],
];

/**
 * Requires that rows are all that an organization has registered, as the head of its audit log holds them.
 * @throws {AlteredRows}.
 */
export function requireRegistered(
  dependencies: Pick<Reading, "seals">,
  head: HeadRow,
  [organizationRows, destinations, keys, users, ofUsers, sessions]: RegisteredRowsFound,
): Registered {
  requireWholeSet(dependencies, head, [
    ...requireSealed(dependencies, organizations, organizationRows),
    ...requireSealed(dependencies, webhooks, destinations),
    ...requireSealed(dependencies, namedKeys, keys),
    ...requireSealed(dependencies, userAccounts, users),
    ...requireSealed(dependencies, passkeys, ofUsers),
    ...requireSealed(dependencies, userSessions, sessions),
  ]);
  return {
    organization: organizationRows[0],
    webhooks: destinations,
    keys,
    users,
    passkeys: ofUsers,
    sessions,
  };
}

/** Says whether rows are read from a database that was found to be put back, which is read only. */
interface Strictness {
  readonly mayBePutBack: boolean;
}

async function readWhole(
  dependencies: Reading & Remembering,
  orgId: string,
  options: Strictness,
): Promise<{ readonly rows: Registered; readonly whole: WholeSet }> {
  const { head, found } = await snapshotWithHead(
    dependencies,
    adminChain(orgId),
    registeredQueries(orgId),
    options,
  );
  const rows = requireRegistered(dependencies, head, found);
  const all: readonly Sealed[] = found.flat();
  const whole = {
    held: head.held!,
    head: headOf(head),
    organization: rows.organization,
    seals: new Set(all.map(({ seal }) => seal!.toHex())),
  };
  dependencies.registered.remember(orgId, whole);
  return { rows, whole };
}

/** A row, with the set that the head of the audit log held when it was read. */
export type RowWithSet = Sealed & Pick<StoredHead, "held"> & { readonly org_id: string };

/**
 * The organization that has a row, and others that were read with it, registered now; null if it has not.
 * @param options.mayBePutBack as in {@link snapshotWithHead}. Default: true.
 * @throws as {@link readRegistered}.
 */
export async function registeredWith(
  dependencies: Reading & Remembering,
  row: RowWithSet,
  others: readonly Sealed[] = [],
  options: Strictness = { mayBePutBack: true },
): Promise<StoredOrganization | null> {
  const known = currentSet(dependencies, row);
  const isIn = ({ seals }: WholeSet) =>
    [row, ...others].every(({ seal }) => seal != null && seals.has(seal.toHex()));
  if (known !== null && isIn(known)) return known.organization ?? null;
  const { whole } = await readWhole(dependencies, row.org_id, options);
  return isIn(whole) ? whole.organization ?? null : null;
}

/**
 * The remembered set, if the head still holds it and nothing newer was issued: a head that was put back holds again what it held.
 */
function currentSet({ registered, lock }: Reading & Remembering, row: RowWithSet): WholeSet | null {
  const known = registered.find(row.org_id, row.held);
  if (known === null) return null;
  const family = adminChain(row.org_id);
  const issued = lock.issuedOf([family]).get(family);
  return issued !== undefined && isBehind(known.head, issued) ? null : known;
}

/** What was read, with its row. */
interface ReadRow {
  readonly row: RowWithSet;
  /** Rows that were read with it. */
  readonly others?: readonly Sealed[];
}

/**
 * Reads a row until it is one that its organization has registered now; returns what was read and the organization, or null
 * if nothing is read. Options as of {@link registeredWith}.
 * @throws {AlteredRows} if the row never is.
 */
export async function readRegisteredRow<Found extends ReadRow>(
  dependencies: Reading & Remembering,
  read: () => Promise<Found | null>,
  options?: Strictness,
): Promise<(Found & { readonly organization: StoredOrganization }) | null> {
  for (let reads = 1;; reads += 1) {
    const found = await read();
    if (found === null) return null;
    const organization = await registeredWith(dependencies, found.row, found.others, options);
    if (organization !== null) return { ...found, organization };
    // Another request may replace the row between two reads, but not each time.
    if (reads === READS_MAX) throw new AlteredRows(adminChain(found.row.org_id), "a row");
  }
}

const READS_MAX = 3;
