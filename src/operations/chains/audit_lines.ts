/**
 * Writes audit events to the log, each once. An event of this process is logged as soon as it is durable. An
 * event that a command or another host recorded in the same database is logged at the next look.
 */
import { AlteredError } from "../../domain/errors.ts";
import { hex } from "../../evidence/crypto.ts";
import type { Entry } from "../../evidence/entry.ts";
import { entryHash } from "../../evidence/hashes.ts";
import type { Log } from "../../observability/log.ts";
import { type ChainSize, readBodies, readChainSizes } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { findInTree } from "../../store/proven_pages.ts";
import type { PlacedEntry } from "../../store/unit_of_work.ts";
import { originOf } from "../shared/deployment.ts";
import { isEvidenceChain } from "../../evidence/chain_name.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/** Entries that are read at once: some tens of kilobytes, or some megabytes of the largest entries. */
const ENTRIES_IN_PAGE = 100;

/** The entries of a chain that were logged. */
interface LoggedEntries {
  /** Every entry before it was logged, or existed before this process looked. */
  next: number;
  /** Logged entries after a gap: this process's own, behind those of another process. */
  readonly beyond: Set<number>;
}

export class AuditLines {
  readonly #chains = new Map<string, LoggedEntries>();

  constructor(private readonly log: Log) {}

  /** Skips the entries that exist now: an earlier process has logged them. */
  async skipExisting(database: Database): Promise<void> {
    for await (const { chain, size } of readAuditChains(database)) this.#loggedOf(chain).next = size;
  }

  /** Logs the entries of a commit that are audit events. */
  logOwn(entries: readonly PlacedEntry[]): void {
    for (const { family, entry, hash } of entries) {
      if (!isEvidenceChain(family)) this.#logEvent(entry, hash);
    }
  }

  /**
   * Logs the entries in the database that were not logged, each chain in its order. An entry that is not what
   * was signed is logged as altered, and raises the alert.
   */
  async logOthers(dependencies: Watching, now: number): Promise<void> {
    for await (const { chain, size } of readAuditChains(dependencies.database)) {
      const logged = this.#loggedOf(chain);
      while (logged.next < size) {
        const end = Math.min(logged.next + ENTRIES_IN_PAGE, size);
        const altered = await this.#logPage(dependencies, { chain, first: logged.next, end });
        // Entries that were pruned meanwhile cannot be logged.
        advance(logged, end);
        if (altered !== null) await raiseTampering(dependencies, tamperingOf(altered), now);
      }
    }
  }

  /** @returns the first fault of the page; null if all entries are what was signed, or were logged before. */
  async #logPage(
    dependencies: Watching,
    { chain, first, end }: { readonly chain: string; readonly first: number; readonly end: number },
  ): Promise<AlteredError | null> {
    const { database, crypto } = dependencies;
    const bodies = await readBodies(database, { chain, first, end });
    const hashes = new Map(bodies.map(({ seq, body }) => [seq, entryHash(crypto, body)]));
    const signedSeqs = await findInTree(dependencies, {
      chain,
      origin: originOf(dependencies, chain),
      hashes,
    });
    let altered: AlteredError | null = null;
    for (const { seq, body } of bodies) {
      if (signedSeqs.has(seq)) {
        // A body with a signed hash is an entry.
        this.#logEvent(JSON.parse(body), hashes.get(seq)!);
      } else if (!this.#loggedOf(chain).beyond.has(seq)) {
        altered ??= new AlteredError(chain, `entry ${seq} of ${chain} is not what was signed`);
        this.log.error("an audit event in the database is not what was signed: it is not logged", {
          audit: true,
          chain,
          seq,
        });
      }
    }
    return altered;
  }

  #logEvent({ chain, seq, event_type, actor, org_id }: Entry, hash: Uint8Array): void {
    const logged = this.#loggedOf(chain);
    // The entry was read from the database before its own commit was reported, or the other way round.
    if (seq < logged.next || logged.beyond.has(seq)) return;
    logged.beyond.add(seq);
    advance(logged, logged.next);
    this.log.info("audit event", {
      audit: true,
      event: event_type,
      chain,
      seq,
      entry_hash: hex(hash),
      actor,
      org_id,
    });
  }

  #loggedOf(chain: string): LoggedEntries {
    const known = this.#chains.get(chain);
    if (known !== undefined) return known;
    const logged = { next: 0, beyond: new Set<number>() };
    this.#chains.set(chain, logged);
    return logged;
  }
}

/** Moves `next` to `end` at least, and past the entries right after it that were logged. */
function advance(logged: LoggedEntries, end: number): void {
  for (; logged.next < end || logged.beyond.has(logged.next); logged.next += 1) {
    logged.beyond.delete(logged.next);
  }
}

async function* readAuditChains(database: Database): AsyncGenerator<ChainSize> {
  for await (const sizes of readChainSizes(database)) {
    yield* sizes.filter(({ family }) => !isEvidenceChain(family));
  }
}
