/** The fields of a request: its example, path, query, headers and body. */
import { useId } from "preact/hooks";
import type { Operation, Parameter } from "./document.ts";
import { type Draft, fieldOf, NO_EXAMPLE } from "./draft.ts";

interface RequestFieldsProps {
  readonly operation: Operation;
  readonly draft: Draft;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (draft: Draft) => void;
}

export function RequestFields({ operation, draft, problems, onChange }: RequestFieldsProps) {
  const { parameters = [] } = operation;
  const bodyId = useId();
  const order: readonly Parameter["in"][] = ["path", "query", "header"];
  const sorted = [...parameters].sort((one, other) => order.indexOf(one.in) - order.indexOf(other.in));
  return (
    <>
      {sorted.length > 0 && (
        <div class="parameters">
          {sorted.map((parameter) => {
            const field = fieldOf(parameter);
            return (
              <ParameterField
                key={field}
                parameter={parameter}
                value={draft.values[field] ?? ""}
                problem={problems[field]}
                onChange={(value) => onChange({ ...draft, values: { ...draft.values, [field]: value } })}
              />
            );
          })}
        </div>
      )}
      {draft.body !== null && (
        <div class="field">
          <label for={bodyId}>
            Body, as JSON{operation.requestBody?.required ? "" : " (may be left out)"}
          </label>
          <textarea
            id={bodyId}
            name="body"
            rows={Math.min(18, Math.max(3, draft.body.split("\n").length))}
            spellcheck={false}
            value={draft.body}
            aria-invalid={problems.body !== undefined}
            aria-describedby={`${bodyId}-wrong`}
            onInput={(event) => onChange({ ...draft, body: event.currentTarget.value })}
          />
          <p class="wrong" id={`${bodyId}-wrong`}>{problems.body}</p>
        </div>
      )}
    </>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

const PLACES = { path: "path", query: "query", header: "header" } as const;

function ParameterField({ parameter, value, problem, onChange }: ParameterFieldProps) {
  const id = useId();
  const { name, in: place, schema, required } = parameter;
  const shared = {
    id,
    name,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-wrong`,
  };
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> <span class="type">{PLACES[place]}{required ? "" : ", optional"}</span>
      </label>
      {schema.enum === undefined
        ? (
          <input
            {...shared}
            autocomplete="off"
            spellcheck={false}
            value={value}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )
        : (
          <select {...shared} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="">not sent</option>
            {schema.enum.map((one) => <option key={String(one)} value={String(one)}>{String(one)}</option>)}
          </select>
        )}
      <p class="wrong" id={`${id}-wrong`}>{problem}</p>
    </div>
  );
}

interface ExampleFieldProps {
  readonly names: readonly string[];
  readonly example: string;
  readonly onChange: (example: string) => void;
}

/** The choice of an example; null if there is only one. */
export function ExampleField({ names, example, onChange }: ExampleFieldProps) {
  const id = useId();
  if (names.length < 2) return null;
  return (
    <div class="field">
      <label for={id}>Example</label>
      <select
        id={id}
        name="example"
        value={example}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {names.map((name) => (
          <option key={name} value={name}>{name === NO_EXAMPLE ? "Nothing filled in" : name}</option>
        ))}
      </select>
    </div>
  );
}
