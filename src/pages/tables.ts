/** Plain tables: heads that name rows and columns, and a line of explanation underneath if one is needed. */
import { type Markup, markup } from "./markup.ts";

/** A row; its first cell is its head. */
export type TableRow = readonly [head: string, ...cells: readonly (string | number)[]];

export interface DataTable {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  readonly note?: string;
}

export function dataTable({ columns, rows, note }: DataTable): Markup {
  return markup`<div class="numbers">
<table>
<thead><tr>${columns.map((column) => markup`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${
    rows.map(([head, ...cells]) =>
      markup`<tr><th scope="row">${head}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>
`
    )
  }</tbody>
</table>
${note === undefined ? null : markup`<p class="note">${note}</p>`}
</div>`;
}

/** A list of names with their values. */
export function definitionList(items: readonly (readonly [name: string, value: string | Markup])[]): Markup {
  return markup`<dl>
${
    items.map(([name, value]) =>
      markup`<div><dt>${name}</dt><dd>${value}</dd></div>
`
    )
  }</dl>`;
}
