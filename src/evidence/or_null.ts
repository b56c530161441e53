/** Reading what others wrote: a text that does not say what it should is null, any other failure stays one. */

/** What `read` returns; null where it throws a SyntaxError. */
export function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
