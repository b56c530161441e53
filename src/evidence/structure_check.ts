/**
 * Checks the entries in which the system itself records how a chain was made: its beginning, its retention,
 * its keys, erasures, and on `sys` the checkpoints of other chains. They count only if their actor is
 * `system`.
 */
import type { z } from "zod";
import { type ChainName, parseChain, splitName } from "./chain_name.ts";
import { fromHex } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import { type KeptCheckpoint, knownCheckpointOrNull } from "./kept.ts";
import type { Restored } from "./restored.ts";
import type { PartCheck } from "./part_check.ts";
import type { RetentionCheck } from "./retention_check.ts";
import type { SignatureCheck } from "./signature_check.ts";
import {
  chainRestoredSchema,
  genesisSchema,
  orgCheckpointsSchema,
  type RestoredGenesis,
  restoredGenesisSchema,
  retentionPolicySchema,
  retentionPrunedSchema,
  signingKeyRotatedSchema,
} from "./structural.ts";
import type { SubjectMemory } from "./subject_memory.ts";
import { SystemAnchors } from "./system_anchors.ts";

type Genesis = z.infer<typeof genesisSchema>;

export interface StructureCheckOptions {
  readonly origin: string;
  /** null if the header names no valid chain. */
  readonly chain: ChainName | null;
  readonly parts: PartCheck;
  readonly retention: RetentionCheck;
  readonly signatures: SignatureCheck;
  readonly subjects: SubjectMemory;
  /** Checkpoints of this chain that the auditor kept. */
  readonly known: readonly KeptCheckpoint[];
}

/** The schema for the detail of a chain's first entry. */
function genesisSchemaOf(chain: ChainName | null): z.ZodType<Genesis | RestoredGenesis> {
  if (chain === null || chain.epoch === 1) return genesisSchema;
  return chain.family === "sys" ? chainRestoredSchema : restoredGenesisSchema;
}

export class StructureCheck {
  readonly #log: FindingLog;
  readonly #options: StructureCheckOptions;
  /** The checkpoints of other chains that it holds: only `sys` has them. */
  readonly anchors: SystemAnchors;
  #restored: Restored | null = null;

  constructor(log: FindingLog, options: StructureCheckOptions) {
    this.#log = log;
    this.#options = options;
    this.anchors = new SystemAnchors(log, options.known);
  }

  /** The statement of a chain after a restore about the chain before it; null if none is given. */
  get restored(): Restored | null {
    return this.#restored;
  }

  /** Checks an entry whose parts are all read. */
  checkEntry(entry: Entry): void {
    if (entry.seq === 0) {
      const genesis = this.#checkGenesis(entry);
      if (genesis !== null) this.#options.retention.begin(genesis.retention_days);
      return;
    }
    if (entry.actor !== "system") return;
    const { retention, signatures, subjects } = this.#options;
    switch (entry.event_type) {
      case "RETENTION_POLICY":
        return this.#takeDetail(entry, retentionPolicySchema, (detail) => retention.setPolicy(detail));
      case "RETENTION_PRUNED":
        return this.#takeDetail(
          entry,
          retentionPrunedSchema,
          (detail) => retention.takeRemoval(entry, detail),
        );
      case "SIGNING_KEY_ROTATED":
        return this.#takeDetail(entry, signingKeyRotatedSchema, (detail) => {
          if (detail === null) return signatures.forgetKeyInUse();
          if (!signatures.rotate(detail, entry.seq)) {
            this.#log.add("RECORD_MALFORMED", {
              seq: entry.seq,
              part: "detail",
              detail: "not a certificate of the key in use",
            });
          }
        });
      case "SUBJECT_ERASED":
        if (entry.subject !== null) subjects.takeErasureRecord(entry.subject);
        return;
      case "ORG_CHECKPOINTS":
        if (this.#options.chain?.family !== "sys") return;
        if (this.#options.parts.stateOf("detail") !== "given") this.anchors.noteHidden(entry.seq);
        return this.#takeDetail(entry, orgCheckpointsSchema, (detail) => {
          for (const { origin, size, root } of detail?.checkpoints ?? []) {
            this.anchors.add(origin, { size, root: fromHex(root) }, entry.seq);
          }
        });
    }
  }

  /**
   * Checks the first entry of a chain from which a prefix was removed. It does not set the retention in
   * force: a removed entry may have changed it.
   */
  checkBeginning(entry: Entry): void {
    this.#checkGenesis(entry);
    if (this.#restored !== null) this.#options.retention.takeEarlierRemoval(this.#restored);
  }

  /**
   * Calls `take` with the entry's detail, null if withheld; no call if otherwise absent, altered or
   * malformed.
   */
  #takeDetail<Detail>(
    { seq }: Entry,
    schema: z.ZodType<Detail>,
    take: (detail: Detail | null) => void,
  ): void {
    const { parts } = this.#options;
    const state = parts.stateOf("detail");
    if (state === "withheld") return take(null);
    if (state !== "given" && state !== "none") return;
    const parsed = schema.safeParse(parts.dataOf("detail"));
    if (parsed.success) return take(parsed.data);
    const path = parsed.error.issues[0]!.path.join(".");
    this.#log.add("RECORD_MALFORMED", { seq, part: "detail", detail: path });
  }

  /**
   * Checks the first entry of a chain: it says which chain it is, and after a restore which chain came
   * before.
   * @returns its detail; null if that is not in the file, or not of its kind.
   */
  #checkGenesis(entry: Entry): Genesis | RestoredGenesis | null {
    const { chain, parts } = this.#options;
    const isLater = chain !== null && chain.epoch > 1;
    const eventType = isLater && chain.family === "sys" ? "CHAIN_RESTORED" : "CHAIN_GENESIS";
    if (entry.actor !== "system" || entry.event_type !== eventType) {
      return this.#addMismatch(`${entry.event_type} by ${entry.actor}, not ${eventType} by system`);
    }
    const state = parts.stateOf("detail");
    if (state === "none") return this.#addMismatch("no detail");
    if (state !== "given") return null;
    const parsed = genesisSchemaOf(chain).safeParse(parts.dataOf("detail"));
    if (!parsed.success) return this.#addMismatch(`detail: ${parsed.error.issues[0]!.path.join(".")}`);
    this.#takeGenesis(parsed.data);
    return parsed.data;
  }

  #takeGenesis(detail: Genesis | RestoredGenesis): void {
    const { origin, chain } = this.#options;
    const prefix = splitName(origin)?.prefix ?? "";
    if (detail.origin !== origin) return void this.#addMismatch(`origin ${detail.origin}`);
    if (!prefix.endsWith(`/${detail.deployment}/`)) {
      return void this.#addMismatch(`deployment ${detail.deployment}`);
    }
    if (!detail.vkey.startsWith(`${origin}+`)) return void this.#addMismatch("vkey of another origin");
    if (!("previous_origin" in detail) || chain === null) return;
    // It need not be the epoch directly before: the backup may be older than that.
    const previous = parseChain(detail.previous_origin.slice(prefix.length));
    const isEarlier = detail.previous_origin.startsWith(prefix) && previous?.family === chain.family &&
      previous.epoch < chain.epoch;
    if (!isEarlier) {
      return void this.#addMismatch(`previous_origin ${detail.previous_origin}`);
    }
    const { previous_origin, restored_size, restored_root, last_known_checkpoint: note } = detail;
    const known = note === null ? null : knownCheckpointOrNull(note);
    this.#restored = {
      origin,
      previousOrigin: previous_origin,
      size: restored_size,
      root: restored_root,
      lastKnown: known && { origin: known.origin, size: known.size, root: known.root },
    };
  }

  #addMismatch(detail: string): null {
    this.#log.add("GENESIS_MISMATCH", { seq: 0, detail });
    return null;
  }
}
