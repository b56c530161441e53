/** Checks that the stored model documents are what was stored, and that the one in use is among them. */
import { nodeCrypto } from "../../evidence/node_crypto.ts";
import { verifiedModel } from "../../operations/shared/stored_models.ts";
import { readInstallation } from "../../store/installation.ts";
import { readModelDocuments } from "../../store/model_documents.ts";
import { type CheckInput, type Finding, listNames, ok } from "./check.ts";

export async function models({ database }: CheckInput): Promise<Finding> {
  const rows = await readModelDocuments(database);
  const altered = rows.filter((row) => verifiedModel(nodeCrypto, row) === null).map(({ sha256 }) => sha256);
  const inUse = (await readInstallation(database))?.model_sha256;
  if (inUse !== undefined && (altered.includes(inUse) || !rows.some(({ sha256 }) => sha256 === inUse))) {
    return {
      state: "wrong",
      what: `the document of the model in use, ${inUse}, was altered or is missing from the database`,
      mend: "put the database back, or write the row again: jiss restore --acknowledge REASON",
    };
  }
  if (altered.length > 0) {
    return {
      state: "note",
      what: `the document of an earlier model was altered: ${listNames(altered)}`,
      mend: "put the row back from a backup: without it, no score of that model can be replayed",
    };
  }
  return ok(rows.length === 0 ? "no model was used yet" : "the model documents are unaltered");
}
