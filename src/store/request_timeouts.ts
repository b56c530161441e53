/** Time limits for requests to a server that does not answer. */

export interface RequestTimeouts {
  /** Milliseconds that a request may take. */
  readonly requestMs: number;
  /** Milliseconds that a request may take if the server did not answer the last one in time. */
  readonly silentMs: number;
}

/**
 * Ends requests that take too long. Requests to a server that went silent are ended earlier until one of its
 * answers comes. A late answer counts too, so a server that is only slow is not treated as silent for good.
 */
export function fetchWithTimeouts(
  send: typeof fetch,
  { requestMs, silentMs }: RequestTimeouts,
): typeof fetch {
  let isSilent = false;
  return async (resource, init) => {
    const answered = send(resource, { ...init, signal: AbortSignal.timeout(requestMs) });
    const answer = await (isSilent ? limited(answered, silentMs) : answered).catch((error) => {
      if (error instanceof DOMException && error.name === "TimeoutError") isSilent = true;
      throw error;
    });
    isSilent = false;
    return answer;
  };

  async function limited(answered: Promise<Response>, milliseconds: number): Promise<Response> {
    const { promise: silence, reject: giveUp } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      giveUp(new DOMException("the server is silent", "TimeoutError"));
      answered.then(async ({ body }) => {
        isSilent = false;
        await body?.cancel();
      }).catch(() => {
        // The server is known to be silent.
      });
    }, milliseconds);
    return await Promise.race([answered, silence]).finally(() => clearTimeout(timer));
  }
}
