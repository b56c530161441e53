/**
 * Checks the model documents of a bundle. Each must hash to its name and be usable for scoring, and each one
 * that an entry names must be there.
 */
import type { ModelDocument } from "../scoring/model.ts";
import type { Crypto } from "./crypto.ts";
import type { FindingLog } from "./finding_log.ts";
import { modelSha256 } from "./hashes.ts";
import { MODEL_BYTES_LIMIT } from "./limits.ts";
import { readRecordedModel } from "./recorded_model.ts";

/** The most documents in a bundle: a bundle whose model never changes holds one. */
const MODEL_LIMIT = 256;

interface KnownModel {
  /** null if the line's document cannot be used for scoring. */
  readonly document: ModelDocument | null;
  /**
   * The reason: it does not hash to its name; its formulas are of a later release; another fault, reported
   * already.
   */
  readonly fault: "MODEL_MISMATCH" | "UNSUPPORTED_VERSION" | "reported" | null;
  readonly line: number;
}

export class ModelCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #models = new Map<string, KnownModel>();
  /** Each model is reported once, at the first entry that uses it. */
  readonly #reported = new Set<string>();
  #bytes = 0;

  constructor(crypto: Crypto, log: FindingLog) {
    this.#crypto = crypto;
    this.#log = log;
  }

  /** Takes a model's line of `bytes` bytes. "known": a second one of its name. "too many": beyond a limit. */
  add(
    { sha256, document }: { readonly sha256: string; readonly document: Readonly<Record<string, unknown>> },
    { line, bytes }: { readonly line: number; readonly bytes: number },
  ): "taken" | "known" | "too many" {
    if (this.#models.has(sha256)) return "known";
    this.#bytes += bytes;
    if (this.#models.size >= MODEL_LIMIT || this.#bytes > MODEL_BYTES_LIMIT) return "too many";
    this.#models.set(sha256, { ...this.#read({ sha256, document }, line), line });
    return "taken";
  }

  /** Reads and validates a document: a correct hash does not show that anybody ever validated it. */
  #read(
    { sha256, document }: { readonly sha256: string; readonly document: Readonly<Record<string, unknown>> },
    line: number,
  ): Pick<KnownModel, "document" | "fault"> {
    if (this.#sha256Of(document) !== sha256) return { document: null, fault: "MODEL_MISMATCH" };
    const read = readRecordedModel(document);
    if ("document" in read) return { ...read, fault: null };
    if (read.fault === "of later formulas") return { document: null, fault: "UNSUPPORTED_VERSION" };
    const code = read.fault === "too large" ? "LIMIT_EXCEEDED" : "MALFORMED_LINE";
    this.#log.add(code, { line, detail: `a model document: ${read.detail}` });
    return { document: null, fault: "reported" };
  }

  /** The document that an entry names. If there is no usable one, returns null and reports it once. */
  find(sha256: string, seq: number): ModelDocument | null {
    const model = this.#models.get(sha256);
    const document = model?.document ?? null;
    const fault = model === undefined ? "MODEL_MISSING" : model.fault;
    if (fault !== null && fault !== "reported" && !this.#reported.has(sha256)) {
      this.#reported.add(sha256);
      this.#log.add(fault, { seq, detail: sha256 });
    }
    return document;
  }

  /** Reports documents with a wrong hash that no entry used, and releases all documents. */
  finish(): void {
    for (const [sha256, { fault, line }] of this.#models) {
      if (fault !== "MODEL_MISMATCH" || this.#reported.has(sha256)) continue;
      this.#log.add("MODEL_MISMATCH", { line, detail: sha256 });
    }
    this.#models.clear();
  }

  /** The hash of a document; null if canonical JSON cannot hold it. */
  #sha256Of(document: unknown): string | null {
    try {
      return modelSha256(this.#crypto, document);
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return null;
      throw error;
    }
  }
}
