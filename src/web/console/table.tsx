/** Tables whose rows are one answer's: sorted by their heads, saved as CSV, and cards on a telephone. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { save } from "../shared/save.ts";
import { type CsvColumns, csvName, csvOf } from "./csv.ts";
import { addressOf } from "./parts.tsx";
import { UnknownChoices } from "./unknown.tsx";

/** The value that an order compares; a row without it comes last. */
type SortKey = string | number | null;

export interface Column<Row> {
  readonly head: string;
  /** The content of a row's cell; `index`: the row's place in the answer. */
  readonly cell: (row: Row, index: number) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly class?: string;
  readonly order?: Order<Row>;
  /** The orders by what its second line says, under their own words. */
  readonly also?: readonly (Order<Row> & { readonly head: string })[];
  /** Its place on a telephone's card: beside the row's name, or in one line with others. By default it has a line of its own. */
  readonly onCard?: "corner" | "line";
}

/** An order by a column: its name in the address, and what it compares. */
interface Order<Row> {
  readonly name: string;
  readonly keyOf: (row: Row) => SortKey;
}

function ordersOf<Row>({ head, order, also = [] }: Column<Row>) {
  return [...(order === undefined ? [] : [{ ...order, head }]), ...also];
}

/** How the rows of a list are ordered, which its address says. */
export interface Ordering {
  readonly path: string;
  /** The parameters of the address, the order excluded, that stay the same. */
  readonly query: Readonly<Record<string, string>>;
  /** The order that the address asks for: a column's, or with a leading `-` its reverse; empty for the first one. */
  readonly sort: string;
  /** The order if the address asks for none, and if it is possible. */
  readonly first: string;
  /** The order in which the answer has the rows. */
  readonly served: string;
  /** The orders in which the service can give the rows. */
  readonly offered?: readonly string[];
  /** Whether the answer has all rows: only then they can be sorted here. */
  readonly isWhole: boolean;
}

interface TableProps<Row> {
  /** The name of the table and of its file. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  /** Left out if nobody would file the rows. */
  readonly csv?: CsvColumns<Row>;
  /** The words of the button that saves the rows, if the view has another file. */
  readonly saves?: string;
  /** Left out if the rows have one order only. */
  readonly ordering?: Ordering;
}

/** The label of the table whose head was pressed: it gets the focus again if the table is drawn anew. */
let pressed: string | null = null;

export function Table<Row>(
  { label, rows, keyOf, columns, csv, saves = "Save as CSV", ordering }: TableProps<Row>,
) {
  const table = useRef<HTMLTableElement>(null);
  const order = ordering === undefined ? null : orderOf(ordering, columns);
  const shown = sorted(rows, { columns, order: order === ordering?.served ? null : order });
  useEffect(() => {
    if (pressed !== label) return;
    pressed = null;
    table.current?.querySelector<HTMLElement>(".by:has(.now) a")?.focus();
  }, [order]);
  const keep = (csv: CsvColumns<Row>) =>
    save(csvName(label, new Date()), "text/csv;charset=utf-8", csvOf(csv, shown.map(({ row }) => row)));
  const isUnknown = ordering !== undefined && ordering.sort !== "" && !isOrder(ordering.sort, columns);
  return (
    <>
      {isUnknown && <UnknownChoices names={["sort"]} />}
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        {/* The roles stay if the style draws the rows as cards. */}
        <table
          class={`rows cards${columns.some(({ onCard }) => onCard !== undefined) ? " short" : ""}`}
          role="table"
          aria-label={label}
          ref={table}
        >
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Head
                  key={column.head}
                  column={column}
                  order={order}
                  ordering={ordering}
                  onPress={() => pressed = label}
                />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {shown.map(({ row, index }) => (
              <tr role="row" key={keyOf(row)}>
                {columns.map((column, place) => (
                  <Cell
                    key={column.head}
                    {...{ column, row, index, place }}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {csv !== undefined && (
        <p class="table-foot">
          <button type="button" onClick={() => keep(csv)} aria-label={`${saves}: ${label}`}>{saves}</button>
        </p>
      )}
    </>
  );
}

function Cell<Row>({ column, row, index, place }: {
  readonly column: Column<Row>;
  readonly row: Row;
  readonly index: number;
  readonly place: number;
}) {
  const content = column.cell(row, index);
  if (place === 0) return <th scope="row" role="rowheader" data-label={column.head}>{content}</th>;
  const names = [
    column.isNumber ? "number" : "",
    column.class ?? "",
    column.onCard === undefined ? "" : `card-${column.onCard}`,
  ].filter((name) => name !== "");
  return (
    <td role="cell" data-label={column.head} class={names.length === 0 ? undefined : names.join(" ")}>
      {content}
    </td>
  );
}

function Head<Row>({ column, order, ordering, onPress }: {
  readonly column: Column<Row>;
  /** The order of the rows now. */
  readonly order: string | null;
  readonly ordering: Ordering | undefined;
  readonly onPress: () => void;
}) {
  const orders = ordersOf(column);
  const direction = orders.map(({ name }) => directionOf(name, order)).find((one) => one !== undefined);
  return (
    <th scope="col" role="columnheader" aria-sort={direction} class={column.isNumber ? "number" : undefined}>
      {column.order === undefined &&
        (orders.length === 0 ? column.head : <span class="by">{column.head}</span>)}
      {orders.map((by) => <OrderLink key={by.name} {...{ by, order, ordering, onPress }} />)}
    </th>
  );
}

function directionOf(name: string, order: string | null): "ascending" | "descending" | undefined {
  return order === name ? "ascending" : order === `-${name}` ? "descending" : undefined;
}

function OrderLink<Row>({ by: { head, name: by }, order, ordering, onPress }: {
  readonly by: Order<Row> & { readonly head: string };
  readonly order: string | null;
  readonly ordering: Ordering | undefined;
  readonly onPress: () => void;
}) {
  const direction = directionOf(by, order);
  const next = ordering === undefined ? null : [direction === "ascending" ? `-${by}` : by, by, `-${by}`]
    .find((name) => name !== order && isPossible(ordering, name)) ?? null;
  return (
    <span class="by">
      {next === null ? head : (
        <a
          class="order"
          href={addressOf(ordering!.path, {
            ...ordering!.query,
            sort: next === ordering!.first ? "" : next,
          })}
          onClick={onPress}
        >
          {head}
        </a>
      )}
      {(direction !== undefined || next !== null) && (
        <span class={direction === undefined ? "arrow" : "arrow now"} aria-hidden="true">
          {direction === "ascending" ? " ▲" : direction === "descending" ? " ▼" : " ↕"}
        </span>
      )}
    </span>
  );
}

function isPossible({ isWhole, offered = [] }: Ordering, order: string): boolean {
  return isWhole || offered.includes(order);
}

/** The order that is shown: the one that the address asks for, else the first one, if it is possible. */
function orderOf<Row>(ordering: Ordering, columns: readonly Column<Row>[]): string {
  const { sort, first, served } = ordering;
  const asked = sort === "" ? first : sort;
  return isOrder(asked, columns) && isPossible(ordering, asked) ? asked : served;
}

/** Whether rows can have an order, if all of them are there. */
function isOrder<Row>(order: string, columns: readonly Column<Row>[]): boolean {
  return columns.flatMap(ordersOf).some(({ name }) => name === order.replace(/^-/, ""));
}

const BY_WORDS = new Intl.Collator("en", { numeric: true });

/** The rows in an order, each with its place in the answer; as the answer has them if the order is null. */
function sorted<Row>(
  rows: readonly Row[],
  { columns, order }: { readonly columns: readonly Column<Row>[]; readonly order: string | null },
): readonly { readonly row: Row; readonly index: number }[] {
  const placed = rows.map((row, index) => ({ row, index }));
  const by = columns.flatMap(ordersOf).find(({ name }) => name === order?.replace(/^-/, ""));
  if (order === null || by === undefined) return placed;
  const sign = order.startsWith("-") ? -1 : 1;
  return placed.toSorted((one, other) => {
    const [a, b] = [by.keyOf(one.row), by.keyOf(other.row)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : BY_WORDS.compare(`${a}`, `${b}`));
  });
}
