/** Checks that the installation's row is what the service wrote. */
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { unwrapInstallationKey } from "../../operations/installation/installation.ts";
import { lockedSeals } from "../../operations/installation/installation_seals.ts";
import { matchesHeldSet } from "../../operations/restoring/resealing.ts";
import { loadEpochs } from "../../store/chains.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";
import { readInstallation } from "../../store/installation.ts";

export async function installationRow({ config, database }: CheckInput): Promise<Finding> {
  const row = await readInstallation(database);
  if (row === null) {
    const isNew = (await loadEpochs(database, SYSTEM_CHAIN)).length === 0;
    return isNew ? ok("there is no installation yet: the first start makes one") : {
      state: "wrong",
      what: "the installation's row is missing: the service cannot start",
      mend: "put the database back",
    };
  }
  const opened = unwrapInstallationKey(row.wrapped_key, config.secretsKeys);
  if (opened === null) {
    return {
      state: "note",
      what: "the installation's row cannot be checked, because no secret unwraps the installation key",
      mend: "see installation_key",
    };
  }
  if (!opened.isSealed) {
    return ok("the next start seals the rows that an earlier version of the program wrote");
  }
  const seals = lockedSeals();
  seals.unlock(opened.plain);
  if (await matchesHeldSet({ database, seals }, SYSTEM_CHAIN)) {
    return ok("the installation's row is as the service wrote it");
  }
  return {
    state: "wrong",
    what: "the installation's row was altered: the service starts, but records nothing",
    mend: "put the database back, or accept it as it is: jiss restore --acknowledge REASON",
  };
}
