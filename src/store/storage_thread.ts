/**
 * The thread that writes to the embedded database, bundled by itself and started by `threaded.ts`: it opens the file,
 * runs the batches that it is sent in their order, and answers each once it is durable.
 */
import {
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  type Expunged,
  type Statement,
  WriteConflict,
} from "./database.ts";
import { openEmbedded } from "./embedded.ts";

/** A statement on its way: its text is sent once, and is known by its number from then on. */
export type SentStatement = Omit<Statement, "sql"> & { readonly text: number };

export type ThreadRequest =
  | { readonly kind: "open"; readonly path: string }
  | {
    readonly kind: "batch";
    /** Those that are new, each by its number. */
    readonly texts: readonly (readonly [number: number, text: string])[];
    readonly statements: readonly SentStatement[];
  }
  | { readonly kind: "expunge" | "close" };

/** An error loses its class between threads. */
export interface SentFailure {
  readonly kind: "conflict" | "busy" | "unavailable" | "other";
  readonly message: string;
}

export type ThreadAnswer =
  | { readonly id: number; readonly expunged: Expunged | null }
  | { readonly id: number; readonly failure: SentFailure }
  | { readonly fatal: string };

interface ThreadScope {
  onmessage: (event: { readonly data: { readonly id: number; readonly request: ThreadRequest } }) => void;
  postMessage(answer: ThreadAnswer): void;
}

const scope = globalThis as unknown as ThreadScope;
const texts: string[] = [];
let database: Database;

scope.onmessage = async ({ data: { id, request } }) => {
  try {
    scope.postMessage({ id, expunged: await carryOut(request) });
  } catch (error) {
    scope.postMessage({ id, failure: failureOf(error) });
  }
};

async function carryOut(request: ThreadRequest): Promise<Expunged | null> {
  switch (request.kind) {
    case "open":
      database = openEmbedded({
        path: request.path,
        onFatal: (error) => scope.postMessage({ fatal: String(error) }),
      });
      return null;
    case "batch":
      for (const [number, text] of request.texts) texts[number] = text;
      await database.batch(request.statements.map(({ text, ...rest }) => ({ ...rest, sql: texts[text]! })));
      return null;
    case "expunge":
      return await database.expunge();
    case "close":
      await database.close();
      return null;
  }
}

function failureOf(error: unknown): SentFailure {
  const { message } = error as Error;
  if (error instanceof WriteConflict) return { kind: "conflict", message };
  if (error instanceof DatabaseBusy) return { kind: "busy", message };
  return { kind: error instanceof DatabaseUnavailable ? "unavailable" : "other", message };
}
