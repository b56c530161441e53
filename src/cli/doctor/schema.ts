/** Checks that the database has the tables, indexes and triggers of this program, and no other trigger. */
import { type CheckInput, type Finding, ok } from "./check.ts";

export function schema({ schemaTrouble }: CheckInput): Finding {
  return schemaTrouble === null
    ? ok("the database has the schema of this program")
    : { state: "wrong", ...schemaTrouble };
}
