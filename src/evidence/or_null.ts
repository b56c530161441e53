/** Helper for reading texts of others: a malformed text gives null, and any other error is still thrown. */

/** The result of `read`; null if it throws a SyntaxError. */
export function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
