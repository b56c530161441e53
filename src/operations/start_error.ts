/** Why a start, or a command of the administrator, cannot go on. */

/** The start cannot go on; the message says how to mend it. */
export class StartError extends Error {
  override readonly name = "StartError";
  /** Whether the same start may go well later, with nothing changed in what it was given. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false }: { readonly mayPass?: boolean } = {}) {
    super(message);
    this.mayPass = mayPass;
  }
}
