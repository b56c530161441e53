/** The error of a start, or of an administrator's command, that cannot go on. */

/** The start cannot go on; the message says how to mend it. */
export class StartError extends Error {
  override readonly name = "StartError";
  /** True if the same start may succeed later, with the same settings. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary = false }: { readonly isTemporary?: boolean } = {}) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

/** Advice on how to give a process more file descriptors. */
export const MORE_DESCRIPTORS =
  "grant it more file descriptors (ulimit -n 65536 in a shell, LimitNOFILE=65536 in a systemd unit, --ulimit nofile=65536 for a container)";

/** True if a file could not be opened because the process, or the machine, may open no more files. */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === "EMFILE" || code === "ENFILE";
}

/** Advice about a file that cannot be used. @param otherwise the advice if descriptors are not the cause. */
export function adviceForFile(error: unknown, otherwise: string): string {
  return isOutOfDescriptors(error) ? `no more files can be opened: ${MORE_DESCRIPTORS}` : otherwise;
}
