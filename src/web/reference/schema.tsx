/** A schema as a list of fields; deeper fields are folded. */
import { useReference } from "./context.ts";
import { nameOf, type OpenApi, resolved, type Schema } from "./document.ts";
import { Folded } from "./folded.tsx";
import { Prose } from "./prose.tsx";
import { alternativesOf, isDeep, limitsInWords, typeInWords } from "./schema_words.ts";

export function SchemaView({ schema }: { readonly schema: Schema }) {
  const { document } = useReference();
  const { properties, required = [], items, additionalProperties, prefixItems, ...rest } = resolved(
    document,
    schema,
  );
  const alternatives = alternativesOf(rest);
  if (alternatives !== null) return <Alternatives of={alternatives} document={document} />;
  if (properties !== undefined) {
    return (
      <ul class="fields">
        {Object.entries(properties).map(([name, field]) => (
          <Field key={name} name={name} schema={field} isRequired={required.includes(name)} />
        ))}
      </ul>
    );
  }
  if (typeof items === "object") return <SchemaView schema={items} />;
  if (prefixItems !== undefined) return <Alternatives of={prefixItems} document={document} />;
  if (typeof additionalProperties === "object") return <SchemaView schema={additionalProperties} />;
  return <Facts schema={{ ...rest, ...(items === undefined ? {} : { items }) }} />;
}

/** A single alternative is shown at once; several are folded under their names, the first one unfolded. */
function Alternatives({ of, document }: { readonly of: readonly Schema[]; readonly document: OpenApi }) {
  const deep = of.filter((one) => isDeep(document, one));
  const [only] = deep;
  if (only !== undefined && deep.length === 1) return <SchemaView schema={only} />;
  return (
    <>
      {deep.map((one, index) => (
        <Folded class="deep" open={index === 0} summary={nameOf(one) ?? `Variant ${index + 1}`} key={index}>
          {() => <SchemaView schema={one} />}
        </Folded>
      ))}
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

function Field({ name, schema, isRequired }: FieldProps) {
  const { document } = useReference();
  const { description } = resolved(document, schema);
  return (
    <li>
      <code class="name">{name}</code> <span class="type">{typeInWords(schema)}</span>{" "}
      {isRequired ? <span class="needed">required</span> : <span class="type">optional</span>}
      {description !== undefined && (
        <p>
          <Prose text={description} />
        </p>
      )}
      <Facts schema={schema} />
      {isDeep(document, schema) && (
        <Folded
          class="deep"
          summary={
            <>
              Fields of <code>{name}</code>
            </>
          }
        >
          {() => <SchemaView schema={schema} />}
        </Folded>
      )}
    </li>
  );
}

/** The limits of a schema or of a reference's target; null if there are none. */
export function Facts({ schema }: { readonly schema: Schema }) {
  const { document } = useReference();
  const own = resolved(document, schema);
  const limits = [own, ...alternativesOf(own) ?? []].flatMap((one) => limitsInWords(resolved(document, one)));
  if (limits.length === 0) return null;
  return (
    <p class="facts">
      <Prose text={limits.join("; ")} />
    </p>
  );
}
