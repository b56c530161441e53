/**
 * Statements whose SQL is compiled once. Building and compiling a text takes longer than most statements run, and of
 * one statement it is the same text each time.
 */
import type { CompiledQuery } from "kysely";

/** Stands for a value while a text is compiled; Kysely takes it for one. */
class Slot {
  constructor(readonly name: string) {}
}

interface Template<Row> {
  /** The members of the inputs that it is for, in their order. */
  readonly names: readonly string[];
  readonly compiled: CompiledQuery<Row>;
}

/**
 * What `build` makes of an input, compiled anew only for an input with other members than those before it.
 *
 * `build` puts members of the input into the query as values, and looks at none of them: what it compiles is kept, and
 * holds for every input.
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
