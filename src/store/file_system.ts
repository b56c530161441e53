/** The file system that a folder lies on. */
import { statfsSync } from "node:fs";

export interface FileSystem {
  /** `f_type` of statfs(2). */
  readonly type: number;
  /** Bytes that this user may still write. */
  readonly free: number;
}

/**
 * null if the program may not look: it was started without `--allow-sys=statfs`, or the folder lies below
 * /dev or /proc.
 */
export function fileSystemOf(folder: string): FileSystem | null {
  try {
    const { type, bavail, bsize } = statfsSync(folder);
    return { type: Number(type), free: Number(bavail) * Number(bsize) };
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return null;
    throw error;
  }
}
