/** Finds keys under a pepper that is not configured: these keys are refused. */
import { keysByPepper } from "../../operations/organizations/peppers.ts";
import {
  type CheckInput,
  type Finding,
  holdersOf,
  keysDepend,
  listNames,
  ok,
  organizationsOf,
} from "./check.ts";

export async function lostPepper({ config, database }: CheckInput): Promise<Finding> {
  const { lost } = await keysByPepper({ database, peppers: config.peppers });
  if (lost.length === 0) return ok("no key depends on a pepper that is not configured");
  return {
    state: "wrong",
    what: `${keysDepend(lost.length)} on a pepper that is not configured, so that it is refused: ${
      listNames(holdersOf(lost))
    }`,
    mend:
      "set JISS_KEY_PEPPER_PREVIOUS to the earlier pepper and restart the service; if that pepper is lost, start the service with the present one and replace each key: jiss org rotate-key ORG, or a new named key",
    organizations: organizationsOf(lost),
  };
}
