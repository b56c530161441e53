/** The rules for every operation. The service's deprecation header links to `#authentication`. */
import { useReference } from "./context.ts";
import { Code, ErrorLink, Prose } from "./prose.tsx";

/** The sections of the introduction, for the table of contents. */
export const SECTIONS = [
  ["authentication", "Authentication"],
  ["rate-limits", "Rate limits"],
  ["repeating", "Repeating a call"],
  ["errors", "Errors"],
] as const;

export function Introduction() {
  const { document } = useReference();
  return (
    <>
      <p>
        <Prose text={document.info.description} />
      </p>
      <p class="facts">
        Interface {document.info.version}. The document behind this page:{" "}
        <a href="/openapi.json">/openapi.json</a>, OpenAPI 3.1. Base address: <Code text={location.origin} />.
      </p>
      <Authentication />
      <RateLimits />
      <Repeating />
      <Errors />
    </>
  );
}

function Authentication() {
  return (
    <section aria-labelledby="authentication">
      <h2 id="authentication" tabIndex={-1}>Authentication</h2>
      <p>
        Send the key in the <Code text="X-API-Key" /> header. An organization's key is <Code text="jis_" />
        {" "}
        and 26 letters and digits; it is shown once, when it is made, and only its digest is stored.{" "}
        <a href="#postKeyRotation">Replacing it</a>{" "}
        takes the key itself, or an admin. If it is lost, ask the administrator for a new one.{" "}
        <a href="#postKey">A named key</a>{" "}
        has scopes, for an application that need not do everything. People sign in to the console; their
        session works on its pages and not here. Each operation says which scope and which roles it takes.
      </p>
      <p>
        Administration takes a{" "}
        <strong>master key</strong>: one for each operation, in the environment of the service (
        <Code text="MASTER_ADMIN_KEY_…" />). None opens another operation, and no organization's key opens
        any.
      </p>
      <p>
        Every failed authentication is the same <ErrorLink code="UNAUTHORIZED" />{" "}
        whatever the reason, and takes at least 80 ms.
      </p>
      <p>
        A key in the body (<Code text="api_key" />) was accepted until 15 July 2026. Since then it counts as
        no key: send the header.
      </p>
    </section>
  );
}

function RateLimits() {
  return (
    <section aria-labelledby="rate-limits">
      <h2 id="rate-limits" tabIndex={-1}>Rate limits</h2>
      <p>
        In any 60 seconds, an address may send 60 requests and a key 1,000, unless the installation sets other
        limits. Beyond that the answer is <ErrorLink code="RATE_LIMITED" />, and <Code text="Retry-After" />
        {" "}
        says how many seconds to wait. Answers to an organization's key carry{" "}
        <Code text="X-RateLimit-Limit" />, <Code text="X-RateLimit-Remaining" /> and{" "}
        <Code text="X-RateLimit-Reset" />; answers to a master key do not.
      </p>
    </section>
  );
}

function Repeating() {
  return (
    <section aria-labelledby="repeating">
      <h2 id="repeating" tabIndex={-1}>Repeating a call</h2>
      <p>
        When no answer came, send the same again. A score, a batch and a decision are known by their{" "}
        <Code text="session_id" /> or{" "}
        <Code text="decision_id" />, administration and whatever has no id of its own by its{" "}
        <Code text="Idempotency-Key" />: repeated unchanged, they are not done twice. The stored answer comes
        with <Code text="Idempotency-Replayed: true" />. Anything else under a used name is refused.
      </p>
    </section>
  );
}

function Errors() {
  return (
    <section aria-labelledby="errors">
      <h2 id="errors" tabIndex={-1}>Errors</h2>
      <p>
        Every error is <code>{`{"error": {"code", "message", "request_id", "timestamp"}}`}</code>, with{" "}
        <Code text="details" /> where there are any. The <a href="/docs/errors">error catalogue</a>{" "}
        says of each code what it means and what to do.
      </p>
    </section>
  );
}
