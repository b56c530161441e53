/**
 * The table of docs/understand/security.md that says who may make which call, made from the catalogue. Run as a program it
 * writes the table there.
 */
import { ACCESS, isGranted, ROLES } from "../src/domain/access.ts";
import type { Route } from "../src/http/exchange.ts";
import { ROUTES } from "../src/http/routes.ts";

const PAGE = new URL("../docs/understand/security.md", import.meta.url);
const BEGIN = "<!-- made by tests/access_table.ts -->\n\n";
const END = "\n<!-- end -->";

const HEAD = ["call", "own key", "scope of a named key", ...ROLES];

function rowOf({ method, path, auth }: Route): readonly string[] {
  const call = `\`${method} ${path}\``;
  if (auth.kind === "none") return [call, "none needed", "", ...ROLES.map(() => "")];
  if (auth.kind === "user") return [call, "", "", ...ROLES.map(() => "yes")];
  if (auth.kind === "master") return [call, `master key \`${auth.scope}\``, "", ...ROLES.map(() => "")];
  const { scope } = ACCESS[auth.access];
  return [
    call,
    "yes",
    scope === null ? "" : `\`${scope}\``,
    ...ROLES.map((role) => isGranted({ kind: "role", role }, auth.access) ? "yes" : ""),
  ];
}

/** The table, in Markdown as the formatter lays it out. */
export function accessTable(): string {
  const rows = [HEAD, ...ROUTES.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column]!))));
  return [lines[0], line(widths.map((width) => "-".repeat(width))), ...lines.slice(1)].join("\n") + "\n";
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** The table as the page has it. */
export async function tableOfPage(): Promise<string> {
  const text = await Deno.readTextFile(PAGE);
  return text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END));
}

if (import.meta.main) {
  const text = await Deno.readTextFile(PAGE);
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  await Deno.writeTextFile(PAGE, `${before}${BEGIN}${accessTable()}${rest}`);
}
