/** Why a start, or a command of the administrator, cannot go on. */

/** The start cannot go on; the message says how to mend it. */
export class StartError extends Error {
  override readonly name = "StartError";
}
