/** Finds keys that need the previous pepper: it must stay configured for them. */
import { keysByPepper } from "../../operations/organizations/peppers.ts";
import { type Examined, type Finding, keysHang, ok, someOf } from "./check.ts";

export async function previousPepper({ config, database }: Examined): Promise<Finding> {
  const { previous, unrecorded } = await keysByPepper({ database, peppers: config.peppers });
  if (previous.length + unrecorded.length === 0) {
    return ok(
      config.peppers.length === 1
        ? "no key hangs on a previous pepper"
        : "no key hangs on the previous pepper: at the end of a rotation, JISS_KEY_PEPPER_PREVIOUS may go once installation_key and webhook_secrets are ok too",
    );
  }
  const hanging = [...previous, ...unrecorded];
  const organizations = hanging.map(({ org_id }) => org_id).sort();
  const idle = hanging.filter(({ active }) => active !== 1).length;
  const parts = [
    ...(previous.length === 0 ? [] : [`${keysHang(previous.length)} on the previous pepper`]),
    ...(unrecorded.length === 0 ? [] : [
      `${keysHang(unrecorded.length)} on a pepper that was not recorded, the present one or one before it`,
    ]),
  ];
  return {
    state: "note",
    what: `${parts.join(", ")}: ${someOf(organizations)}${
      idle === 0 ? "" : ` (${idle} of inactive organizations, which cannot use theirs)`
    }`,
    mend:
      "keep JISS_KEY_PEPPER_PREVIOUS until each was used once, which moves it; jiss org rotate-key ORG replaces one that nobody uses",
    organizations,
  };
}
