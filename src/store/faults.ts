/**
 * Faults of the files below the embedded database, by the error that SQLite raised. Some pass by themselves,
 * for example once there is room on the disk; after the others nothing may be written.
 * Source: https://sqlite.org/rescode.html
 */
import { DatabaseSync, type DatabaseSyncOptions } from "node:sqlite";
import { fileSystemOf } from "./file_system.ts";

/**
 * `full`, `read_only`: a write was refused. `unopened`: a file could not be opened, for example for want of
 * descriptors.
 */
const PASSING_FAULTS = ["full", "read_only", "unopened"] as const;
export type PassingFault = (typeof PASSING_FAULTS)[number];
/** `failed`: after a failed sync SQLite would continue as if nothing had happened; the process must not. */
export type Fault = PassingFault | "damaged" | "failed";

export function isPassing(fault: Fault | null): fault is PassingFault {
  return (PASSING_FAULTS as readonly (Fault | null)[]).includes(fault);
}

/** The low byte of an extended code is the primary one. */
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

/**
 * Writing, truncating, or making room in the shared memory of a log. SQLite reports a full disk as such for
 * writing only.
 */
const SQLITE_IOERR_WRITE = 778;
const SQLITE_IOERR_TRUNCATE = 1546;
const SQLITE_IOERR_SHMOPEN = 4618;
const SQLITE_IOERR_SHMSIZE = 4874;
const SQLITE_IOERR_FSYNC = 1034;
const REFUSED_WRITES: readonly number[] = [
  SQLITE_IOERR_WRITE,
  SQLITE_IOERR_TRUNCATE,
  SQLITE_IOERR_SHMOPEN,
  SQLITE_IOERR_SHMSIZE,
];

/** An error of opening a connection carries no code. */
const UNOPENED = /^unable to open database file/;

/** A disk with fewer free bytes is full: SQLite asks for 32 KiB at once. */
const FULL_BYTES = 65_536;

/** A description of each fault, as a sentence about a file or a folder, and how to mend it. */
export const FAULT_TEXTS: Readonly<Record<Fault, readonly [what: string, mend: string]>> = {
  full: ["its disk is full", "make room there"],
  read_only: [
    "its disk can only be read",
    "copy the directory to a disk that can be written, or mount this disk for writing",
  ],
  unopened: [
    "one of its files cannot be opened",
    "run this as the service's user, with the service's JISS_DATA_DIR and enough file descriptors",
  ],
  // SQLite calls a sector that cannot be read "malformed", too.
  damaged: [
    "it is damaged, or is no database, or its disk cannot read it",
    "read what the system reports about the disk (dmesg), leave the file as it is, and put a backup back (jiss restore)",
  ],
  failed: [
    "its disk fails",
    "read what the system reports about the disk (dmesg); replace the disk and put a backup back",
  ],
};

/** The storage failed for good. */
export class StorageFailure extends Error {
  override readonly name = "StorageFailure";

  constructor(message: string, readonly fault: Fault) {
    super(message);
  }
}

/** The fault of a file that the system cannot write; null if it is none of these. */
export function faultOfFile(error: unknown): PassingFault | null {
  const { code } = error as { readonly code?: unknown };
  if (code === "ENOSPC" || code === "EDQUOT") return "full";
  return code === "EROFS" ? "read_only" : null;
}

/** The extended result code of an error that SQLite raised, or null for any other. */
export function resultCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code : null;
}

/** The fault of the files of the database at `path`; null if the error is not about its files. */
export function faultOf(error: unknown, path: string): Fault | null {
  const code = resultCode(error);
  if (code === null) {
    const isUnopened = error instanceof Error && UNOPENED.test(error.message);
    return isUnopened ? unwritable(path) ?? "unopened" : null;
  }
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "full";
    case SQLITE_READONLY:
      return "read_only";
    case SQLITE_CANTOPEN:
      return unwritable(path) ?? "unopened";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "damaged";
    case SQLITE_IOERR:
      if (REFUSED_WRITES.includes(code)) return unwritable(path) ?? "failed";
      // If the disk is read-only by now, SQLite does not continue after a failed sync, since no write is let
      // through.
      return code === SQLITE_IOERR_FSYNC && isReadOnly(folderOf(path)) ? "read_only" : "failed";
    default:
      return null;
  }
}

/** An error as the log shows it. */
export function asFailure(error: unknown, fault: Fault): StorageFailure {
  const code = resultCode(error);
  const { message } = error as Error;
  return new StorageFailure(code === null ? message : `${message} (SQLite's result code ${code})`, fault);
}

/**
 * Opens a file, creates it if it is missing, and runs the statements that set the connection up.
 * @throws {StorageFailure} if the error is about the file.
 */
export function connectTo(
  path: string,
  options: DatabaseSyncOptions,
  setUpStatements: readonly string[],
): DatabaseSync {
  let connection: DatabaseSync | null = null;
  try {
    connection = new DatabaseSync(path, options);
    // Prepared, because an error of `exec` carries no result code.
    for (const text of setUpStatements) connection.prepare(text).all();
    return connection;
  } catch (error) {
    connection?.close();
    throw asStorageFailure(error, path);
  }
}

/** The error as a {@link StorageFailure} if it is about the file; any other error unchanged. */
export function asStorageFailure(error: unknown, path: string): unknown {
  const fault = faultOf(error, path);
  return fault === null ? error : asFailure(error, fault);
}

/** The reason why no file can be written in a folder, if its file system shows one; null if it does not. */
function unwritable(path: string): "full" | "read_only" | null {
  const folder = folderOf(path);
  if (isReadOnly(folder)) return "read_only";
  const system = fileSystemOrNull(folder);
  return system !== null && system.free < FULL_BYTES ? "full" : null;
}

function fileSystemOrNull(folder: string) {
  try {
    return fileSystemOf(folder);
  } catch {
    // There is no such folder, which is none of these faults.
    return null;
  }
}

/** Does not open a file of SQLite: closing it would release the locks that this process holds on it. */
function isReadOnly(folder: string): boolean {
  try {
    const { mode } = Deno.statSync(folder);
    Deno.chmodSync(folder, mode! & 0o7777);
    return false;
  } catch (error) {
    return faultOfFile(error) === "read_only";
  }
}

function folderOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 0 ? "." : path.slice(0, end + 1);
}
