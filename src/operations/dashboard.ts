/**
 * The organization's dashboard: one pass over its operators' rows at the instant asked.
 * Source: specification, Organization dashboard; contract, sections 4 and 6; scoring model, section 9.
 */
import { organizationFigures } from "../scoring/organization.ts";
import { operatorFiguresQuery } from "../store/operators.ts";
import { organizationQuery } from "../store/organizations.ts";
import type { Dependencies, OrganizationCaller } from "./dependencies.ts";
import { ruleRow } from "./operators.ts";

export async function organizationDashboard(
  { database, model }: Dependencies,
  { orgId }: OrganizationCaller,
  now: number,
) {
  const [[organization], operators] = await database.snapshot([
    organizationQuery(orgId),
    operatorFiguresQuery(orgId),
  ]);
  const { name, domain, tier } = organization!;
  return {
    organization: { id: orgId, name },
    domain,
    tier,
    dashboard: organizationFigures(model.document, operators.map(ruleRow), now),
  };
}
