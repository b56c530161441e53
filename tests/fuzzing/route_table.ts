/** How often each route answered, by class of status: shows whether a run was meaningful. */
import type { ApiDocument, Operation } from "./api_document.ts";

export interface RouteRow {
  /** The operation's id; of a row for several, what the row is called. */
  readonly id: string;
  readonly route: string;
  readonly ok: number;
  readonly refused: number;
  readonly failed: number;
}

type Counts = { id: string; ok: number; refused: number; failed: number };

/**
 * One row for all preflights, which one function answers, and one for paths that the document does not have.
 */
const PREFLIGHTS = "OPTIONS (every path)";
const ELSEWHERE = "no operation";

export class RouteTable {
  readonly #rows = new Map<string, Counts>();

  constructor({ operations }: ApiDocument) {
    for (const operation of operations) {
      this.#rows.set(rowOf(operation), { id: operation.id, ok: 0, refused: 0, failed: 0 });
    }
    this.#rows.set(ELSEWHERE, { id: ELSEWHERE, ok: 0, refused: 0, failed: 0 });
  }

  count(operation: Operation | null, status: number): void {
    const row = this.#rows.get(rowOf(operation))!;
    if (status < 400) row.ok += 1;
    else if (status < 500) row.refused += 1;
    else row.failed += 1;
  }

  get rows(): readonly RouteRow[] {
    return [...this.#rows].map(([route, counts]) => ({ route, ...counts }));
  }
}

function rowOf(operation: Operation | null): string {
  if (operation === null) return ELSEWHERE;
  return operation.method === "OPTIONS" ? PREFLIGHTS : `${operation.method} ${operation.path}`;
}

/** Routes whose handlers were reached too seldom. */
export function seldom(rows: readonly RouteRow[], least: number): readonly RouteRow[] {
  return rows.filter(({ route, ok }) => route !== ELSEWHERE && ok < least);
}

export function tableText(rows: readonly RouteRow[]): string {
  const width = Math.max(...rows.map(({ route }) => route.length));
  const line = (name: string, ...cells: readonly (string | number)[]) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(8)).join("")}`;
  const lines = rows.map(({ route, ok, refused, failed }) => line(route, ok, refused, failed));
  return [line("route", "2xx", "4xx", "5xx"), ...lines].join("\n");
}
