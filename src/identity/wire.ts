/**
 * Requests to the OpenID provider: each has one limit of time from resolution to the last byte, and a limit of size;
 * redirects are not followed. A failure is an {@link OidcRefused}.
 */
import { OidcRefused } from "./refusal.ts";

/** Maximum bytes of an answer, decompressed. The keys of the largest providers take 30 KB. */
const ANSWER_BYTES = 1_048_576;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ProviderConnection {
  readonly fetch: Fetch;
  close(): void;
}

/**
 * Connections that trust the runtime's certificates and these, each PEM. The permissions and the proxy of the process
 * apply.
 */
export function openConnection(certificates: readonly string[]): ProviderConnection {
  const client = Deno.createHttpClient({ caCerts: [...certificates] });
  return {
    // Types of browsers do not know the client.
    fetch: (url, init) => fetch(url, { ...init, client } as RequestInit),
    close: () => client.close(),
  };
}

/**
 * A function that fetches within the limits and returns the answer with its whole body.
 * @param timeoutMs for each request.
 */
export function boundedFetch(fetchAny: Fetch, timeoutMs: number): Fetch {
  return async (url, init) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const { host } = new URL(url);
    try {
      const answer = await fetchAny(url, { ...init, redirect: "manual", signal });
      const { status, headers } = answer;
      const body = await readBounded(answer, host);
      return new Response(body.length === 0 ? null : body, { status, headers });
    } catch (error) {
      if (error instanceof OidcRefused) throw error;
      if (signal.aborted) {
        const seconds = timeoutMs / 1000;
        const message = `The identity provider at ${host} gave no complete answer within ${seconds} s.`;
        throw new OidcRefused("provider_slow", message);
      }
      const message = `The identity provider at ${host} cannot be reached: ${problemOf(error)}.`;
      throw new OidcRefused("provider_unavailable", message);
    }
  };
}

async function readBounded({ body }: Response, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > ANSWER_BYTES) {
      const message = `The identity provider at ${host} sent more than ${ANSWER_BYTES} bytes.`;
      throw new OidcRefused("provider_error", message);
    }
    pieces.push(piece);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/** What the runtime says went wrong, without the address. */
function problemOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: unknown; readonly cause?: unknown };
  const told = String((cause as { readonly message?: unknown } | undefined)?.message ?? message);
  return told.replace(/^error sending request for url \([^)]*\):? ?/, "").replace(
    /^client error \(\w+\): /,
    "",
  );
}
