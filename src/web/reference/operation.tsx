/** One operation: its purpose, its input, its answers, and a form that sends it. */
import { authenticationOf, type Operation } from "./document.ts";
import { Folded } from "./folded.tsx";
import { Parameters } from "./parameters.tsx";
import { Prose } from "./prose.tsx";
import { Responses } from "./responses.tsx";
import { SchemaView } from "./schema.tsx";
import { Sender } from "./sender.tsx";

export function OperationView(
  { operation, hidden }: { readonly operation: Operation; readonly hidden: boolean },
) {
  const { operationId, method, path, summary } = operation;
  return (
    <Folded
      id={operationId}
      class="operation"
      hidden={hidden}
      summary={
        <h3>
          <span class={`method ${method.toLowerCase()}`}>{method}</span> <code class="path">{path}</code>{" "}
          <span class="what">{summary}</span>
        </h3>
      }
    >
      {() => <Details operation={operation} />}
    </Folded>
  );
}

function Details({ operation }: { readonly operation: Operation }) {
  const { description, operationId, method, path, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  return (
    <div class="details">
      <p>
        <Prose text={description} />
      </p>
      <p class="facts">
        <AuthenticationInWords operation={operation} /> <a href={`#${operationId}`}>Link to this operation</a>
      </p>
      {parameters.length > 0 && <Parameters parameters={parameters} of={`${method} ${path}`} />}
      {body !== undefined && (
        <>
          <h4>Request body</h4>
          <SchemaView schema={body} />
        </>
      )}
      <Responses responses={responses} />
      <h4>Try it</h4>
      {method === "OPTIONS"
        ? <p>Browsers send this by themselves before they call from another origin; a page cannot.</p>
        : <Sender operation={operation} />}
    </div>
  );
}

function AuthenticationInWords({ operation }: { readonly operation: Operation }) {
  const authentication = authenticationOf(operation);
  if (authentication.kind === "none") return <>No key.</>;
  return (
    <>
      <a href="#authentication">Authentication</a>:{" "}
      {authentication.kind === "key" ? "a key of an organization." : (
        <>
          the master key <code>MASTER_ADMIN_KEY_{authentication.scope}</code>.
        </>
      )}
    </>
  );
}
