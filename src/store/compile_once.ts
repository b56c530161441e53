/**
 * Statements whose SQL is compiled once. Building and compiling a statement takes longer than most statements
 * run, and it produces the same text each time.
 */
import type { CompiledQuery } from "kysely";

/** A placeholder for a value while a statement is compiled; Kysely treats it as the value. */
class Slot {
  constructor(readonly name: string) {}
}

interface Template<Row> {
  /** The names of the input's members, in their order. */
  readonly names: readonly string[];
  readonly compiled: CompiledQuery<Row>;
}

/**
 * Compiles `build` once for each set of input members, and then only binds the values.
 *
 * `build` must put members of the input into the query as values and must not look at them: what it compiles
 * is kept and used for every input.
 */
export function compileOnce<Input extends object, Row>(
  build: (input: Input) => CompiledQuery<Row>,
): (input: Input) => CompiledQuery<Row> {
  const templates: Template<Row>[] = [];
  return (input) => {
    const names = Object.keys(input);
    let template = templates.find((known) => isSame(known.names, names));
    if (template === undefined) {
      const slots = Object.fromEntries(names.map((name) => [name, new Slot(name)]));
      template = { names, compiled: build(slots as Input) };
      templates.push(template);
    }
    const { query, queryId, sql, parameters } = template.compiled;
    const values = parameters.map((value) =>
      value instanceof Slot ? input[value.name as keyof Input] : value
    );
    return { query, queryId, sql, parameters: values };
  };
}

function isSame(known: readonly string[], names: readonly string[]): boolean {
  return known.length === names.length && known.every((name, index) => name === names[index]);
}
