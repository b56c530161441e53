/** Checks whether the secrets key in use opens the wrapped installation key. */
import { unwrapInstallationKey } from "../../operations/installation/installation.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";
import { readInstallation } from "../../store/installation.ts";

export async function installationKey({ config, database }: CheckInput): Promise<Finding> {
  const row = await readInstallation(database);
  if (row === null) return ok("there is no installation yet: the first start makes one");
  const opened = unwrapInstallationKey(row.wrapped_key, config.secretsKeys);
  if (opened === null) {
    return {
      state: "wrong",
      what: "no configured secret unwraps the installation key: the service cannot start",
      mend:
        "put JISS_SECRETS_KEY (or JISS_KEY_PEPPER, from which it is derived) back, or set JISS_KEY_PEPPER_PREVIOUS",
    };
  }
  if (opened.index === 0) return ok("the installation key is wrapped with the present secret");
  return {
    state: "note",
    what: "the installation key is wrapped with a previous secret",
    mend: "restart the service with both secrets configured: its start wraps the key with the present one",
  };
}
