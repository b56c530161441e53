/**
 * Audit events as lines of the log, each once: what this process records as soon as it is durable, and what others
 * recorded in the same database, a command or another host, when it is looked for.
 */
import { AlteredError } from "../../domain/errors.ts";
import { hex } from "../../evidence/crypto.ts";
import type { Entry } from "../../evidence/entry.ts";
import { entryHash } from "../../evidence/hashes.ts";
import type { Log } from "../../observability/log.ts";
import { type ChainSize, readBodies, readChainSizes } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { standingIn } from "../../store/proven_pages.ts";
import type { PlacedEntry } from "../../store/unit_of_work.ts";
import { originOf } from "../shared/deployment.ts";
import { isEvidenceChain } from "../../evidence/chain_name.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/** Entries that are read at once: some tens of kilobytes, of the largest some megabytes. */
const ENTRIES_IN_PAGE = 100;

/** How far a chain was told. */
interface Told {
  /** Every entry before it was told, or stood before this process looked. */
  next: number;
  /** Entries after a gap that were told: this process's own, behind those of another. */
  readonly beyond: Set<number>;
}

export class AuditLines {
  readonly #chains = new Map<string, Told>();

  constructor(private readonly log: Log) {}

  /** What stands now is not told: an earlier process did. */
  async passOver(database: Database): Promise<void> {
    for await (const { chain, size } of auditChains(database)) this.#toldOf(chain).next = size;
  }

  /** Tells those of a commit's entries that are audit events. */
  tellOwn(entries: readonly PlacedEntry[]): void {
    for (const { family, entry, hash } of entries) {
      if (!isEvidenceChain(family)) this.#tell(entry, hash);
    }
  }

  /**
   * Tells what stands in the database and was not told, each chain in its order. An entry that is not what was signed is
   * told as that, and raises the alert.
   */
  async tellOthers(dependencies: Watching, now: number): Promise<void> {
    for await (const { chain, size } of auditChains(dependencies.database)) {
      const told = this.#toldOf(chain);
      while (told.next < size) {
        const end = Math.min(told.next + ENTRIES_IN_PAGE, size);
        const altered = await this.#tellPage(dependencies, { chain, first: told.next, end });
        // What was pruned meanwhile is not there to be told.
        advance(told, end);
        if (altered !== null) await raiseTampering(dependencies, tamperingOf(altered), now);
      }
    }
  }

  /** @returns what is wrong with an entry of the page; null if all are what was signed. */
  async #tellPage(
    dependencies: Watching,
    { chain, first, end }: { readonly chain: string; readonly first: number; readonly end: number },
  ): Promise<AlteredError | null> {
    const { database, crypto } = dependencies;
    const bodies = await readBodies(database, { chain, first, end });
    const hashes = new Map(bodies.map(({ seq, body }) => [seq, entryHash(crypto, body)]));
    const standing = await standingIn(dependencies, { chain, origin: originOf(dependencies, chain), hashes });
    let altered: AlteredError | null = null;
    for (const { seq, body } of bodies) {
      if (standing.has(seq)) {
        // What hashes to what was signed is an entry.
        this.#tell(JSON.parse(body), hashes.get(seq)!);
      } else if (!this.#toldOf(chain).beyond.has(seq)) {
        altered ??= new AlteredError(chain, `entry ${seq} of ${chain} is not what was signed`);
        this.log.error("an audit event in the database is not what was signed, and is not told", {
          audit: true,
          chain,
          seq,
        });
      }
    }
    return altered;
  }

  #tell({ chain, seq, event_type, actor, org_id }: Entry, hash: Uint8Array): void {
    const told = this.#toldOf(chain);
    // Read from the database before its own commit was heard of, or the other way round.
    if (seq < told.next || told.beyond.has(seq)) return;
    told.beyond.add(seq);
    advance(told, told.next);
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

  #toldOf(chain: string): Told {
    const known = this.#chains.get(chain);
    if (known !== undefined) return known;
    const told = { next: 0, beyond: new Set<number>() };
    this.#chains.set(chain, told);
    return told;
  }
}

/** Up to `end` at least, and past what was told right after it. */
function advance(told: Told, end: number): void {
  for (; told.next < end || told.beyond.has(told.next); told.next += 1) told.beyond.delete(told.next);
}

async function* auditChains(database: Database): AsyncGenerator<ChainSize> {
  for await (const sizes of readChainSizes(database)) {
    yield* sizes.filter(({ family }) => !isEvidenceChain(family));
  }
}
