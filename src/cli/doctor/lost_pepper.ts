/** Finds keys under a pepper that is not configured: these keys are refused. */
import { keysByPepper } from "../../operations/organizations/peppers.ts";
import { type Examined, type Finding, keysHang, ok, someOf } from "./check.ts";

export async function lostPepper({ config, database }: Examined): Promise<Finding> {
  const { lost } = await keysByPepper({ database, peppers: config.peppers });
  if (lost.length === 0) return ok("no key hangs on a pepper that is not configured");
  const organizations = lost.map(({ org_id }) => org_id);
  return {
    state: "wrong",
    what: `${keysHang(lost.length)} on a pepper that is not configured, and can never verify: ${
      someOf(organizations)
    }`,
    mend:
      "set JISS_KEY_PEPPER_PREVIOUS to the pepper before this one and restart the service, or, where that pepper is lost, start the service with the present one and replace each with jiss org rotate-key ORG",
    organizations,
  };
}
