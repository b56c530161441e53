/** The answers of an operation: success with its schema, errors with their codes. */
import type { Response } from "./document.ts";
import { Folded } from "./folded.tsx";
import { Prose } from "./prose.tsx";
import { SchemaView } from "./schema.tsx";

export function Responses({ responses }: { readonly responses: Readonly<Record<string, Response>> }) {
  const all = Object.entries(responses);
  const successes = all.filter(([status]) => /^2/.test(status));
  const others = all.filter(([status]) => !/^2/.test(status));
  return (
    <>
      <h4>Answers</h4>
      {successes.map(([status, response]) => <Success key={status} status={status} response={response} />)}
      {others.length > 0 && (
        <dl class="errors">
          {others.map(([status, { description }]) => (
            <div key={status}>
              <dt>{status}</dt>
              <dd>
                <Prose text={description} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Success({ status, response }: { readonly status: string; readonly response: Response }) {
  const { description, content = {}, headers = {} } = response;
  const schema = content["application/json"]?.schema;
  const documents = Object.keys(content).filter((type) => type !== "application/json");
  return (
    <>
      <dl class="errors">
        <div>
          <dt>{status}</dt>
          <dd>
            <Prose text={description} />
            {documents.length > 0 && (
              <>
                {" "}
                As {documents.map((type) => <code key={type}>{type}</code>)}
                {schema === undefined ? "." : " where that is asked for."}
              </>
            )}
          </dd>
        </div>
      </dl>
      {schema !== undefined && (
        <Folded class="deep" summary={`Fields of the answer (${status})`}>
          {() => <SchemaView schema={schema} />}
        </Folded>
      )}
      {Object.keys(headers).length > 0 && (
        <Folded class="deep" summary={`Headers of the answer (${status})`}>
          {() => (
            <ul class="fields">
              {Object.entries(headers).map(([name, header]) => (
                <li key={name}>
                  <code class="name">{name}</code>
                  <p>
                    <Prose text={header.description ?? ""} />
                  </p>
                </li>
              ))}
            </ul>
          )}
        </Folded>
      )}
    </>
  );
}
