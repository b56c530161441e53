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

/** How a process gets more file descriptors. */
export const MORE_DESCRIPTORS =
  "grant it more file descriptors (ulimit -n 65536 in a shell, LimitNOFILE=65536 in a systemd unit, --ulimit nofile=65536 for a container)";

/** Whether a file could not be opened because the process, or the machine, may open no more. */
export function isWantOfDescriptors(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === "EMFILE" || code === "ENFILE";
}

/** What to do about a file that cannot be used. @param otherwise - where it is not for want of descriptors. */
export function mendOfFile(error: unknown, otherwise: string): string {
  return isWantOfDescriptors(error) ? `no more files can be opened: ${MORE_DESCRIPTORS}` : otherwise;
}
