/** The parameters of an operation, or the headers of a delivery, as a table. */
import type { Parameter } from "./document.ts";
import { Prose } from "./prose.tsx";
import { Facts } from "./schema.tsx";
import { typeInWords } from "./schema_words.ts";

export function Parameters(
  { parameters, of, title = "Parameters" }: {
    readonly parameters: readonly Parameter[];
    /** The operation or delivery to which they belong: it names the region. */
    readonly of: string;
    readonly title?: string;
  },
) {
  return (
    <>
      <h4>{title}</h4>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${title} of ${of}`}>
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">What it is</th>
            </tr>
          </thead>
          <tbody>
            {parameters.map(({ name, in: place, required, description, schema }) => (
              <tr key={`${place} ${name}`}>
                <th scope="row">
                  <code>{name}</code>
                  <span class="type">{place}</span>
                  {required && <span class="needed">required</span>}
                </th>
                <td>
                  <span class="type">{typeInWords(schema)}</span>
                  {description !== undefined && (
                    <p>
                      <Prose text={description} />
                    </p>
                  )}
                  <Facts schema={schema} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
