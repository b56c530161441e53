/** Finds keys that need the previous pepper: it must stay configured for them. */
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

export async function previousPepper({ config, database }: CheckInput): Promise<Finding> {
  const { previous, unrecorded } = await keysByPepper({ database, peppers: config.peppers });
  if (previous.length + unrecorded.length === 0) {
    return ok(
      config.peppers.length === 1
        ? "no key depends on a previous pepper"
        : "no key depends on the previous pepper: JISS_KEY_PEPPER_PREVIOUS can be unset once installation_key and webhook_secrets are ok too",
    );
  }
  const dependent = [...previous, ...unrecorded];
  const inactiveCount = dependent.filter(({ active }) => active !== 1).length;
  const parts = [
    ...(previous.length === 0 ? [] : [`${keysDepend(previous.length)} on the previous pepper`]),
    ...(unrecorded.length === 0 ? [] : [
      `${keysDepend(unrecorded.length)} on a pepper that was not recorded: the present one or an earlier one`,
    ]),
  ];
  return {
    state: "note",
    what: `${parts.join(", ")}: ${listNames(holdersOf(dependent))}${
      inactiveCount === 0 ? "" : ` (inactive organizations, which cannot use their keys: ${inactiveCount})`
    }`,
    mend:
      "keep JISS_KEY_PEPPER_PREVIOUS until each key was used once, which moves it to the present pepper; replace unused keys: jiss org rotate-key ORG, or a new named key",
    organizations: organizationsOf(dependent),
  };
}
