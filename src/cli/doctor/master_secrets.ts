/** Finds previous master secrets that are still honoured: their holders still have access. */
import { MASTER_SCOPES } from "../../keys/master_keys.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";

export function masterSecrets({ config }: CheckInput): Finding {
  const rotating = MASTER_SCOPES.filter((scope) => (config.masterSecrets[scope] ?? []).length > 1);
  if (rotating.length === 0) return ok("no previous master secret is accepted");
  return {
    state: "note",
    what: `previous master secrets are still accepted: ${rotating.join(", ")}`,
    mend: "once every caller has the new secret, unset MASTER_ADMIN_KEY_<SCOPE>_PREVIOUS and restart",
  };
}
