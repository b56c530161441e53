/** Finds keys under a pepper that is not configured: these keys are refused. */
import { keysByPepper } from "../../operations/organizations/peppers.ts";
import { type CheckInput, type Finding, keysDepend, listNames, ok } from "./check.ts";

export async function lostPepper({ config, database }: CheckInput): Promise<Finding> {
  const { lost } = await keysByPepper({ database, peppers: config.peppers });
  if (lost.length === 0) return ok("no key depends on a pepper that is not configured");
  const organizations = lost.map(({ org_id }) => org_id);
  return {
    state: "wrong",
    what: `${keysDepend(lost.length)} on a pepper that is not configured, so that it is refused: ${
      listNames(organizations)
    }`,
    mend:
      "set JISS_KEY_PEPPER_PREVIOUS to the earlier pepper and restart the service; if that pepper is lost, start the service with the present one and replace each key with jiss org rotate-key ORG",
    organizations,
  };
}
