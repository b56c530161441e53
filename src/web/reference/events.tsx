/** The events that the service sends to registered webhooks. */
import { type Described, eventsOf } from "./document.ts";
import { useReference } from "./context.ts";
import { Folded } from "./folded.tsx";
import { Parameters } from "./parameters.tsx";
import { Prose } from "./prose.tsx";
import { Responses } from "./responses.tsx";
import { SchemaView } from "./schema.tsx";

export function Events() {
  const { document } = useReference();
  return (
    <section aria-labelledby="webhooks">
      <h2 id="webhooks" tabIndex={-1}>Webhooks</h2>
      <p>
        Sent by the service to the destinations that your organization{" "}
        <a href="#postWebhook">registered</a>, signed, at least once each. Answer with any 2xx within 10
        seconds, and know a delivery by its id: a second one with the same id is the same.
      </p>
      {eventsOf(document).map(([event, post]) => (
        <Folded
          key={event}
          id={post.operationId}
          class="operation"
          summary={
            <h3>
              <span class="method event">EVENT</span> <code class="path">{event}</code>
            </h3>
          }
        >
          {() => <Event name={event} event={post} />}
        </Folded>
      ))}
    </section>
  );
}

function Event({ name, event }: { readonly name: string; readonly event: Described }) {
  const body = event.requestBody?.content["application/json"]?.schema;
  return (
    <div class="details">
      <p>
        <Prose text={event.description} />
      </p>
      <Parameters parameters={event.parameters ?? []} of={name} title="Headers of a delivery" />
      {body !== undefined && (
        <>
          <h4>Body of a delivery</h4>
          <SchemaView schema={body} />
        </>
      )}
      <Responses responses={event.responses} />
    </div>
  );
}
