/**
 * The organization's dashboard: one pass over its operators' rows at the instant asked.
 * Source: specification, Organization dashboard; contract, sections 4 and 6; scoring model, section 9.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import { activeVerdicts, organizationFigures } from "../../scoring/organization.ts";
import { organizationQuery } from "../../store/organizations.ts";
import { organizations } from "../../store/records.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { activePeriod } from "./reports.ts";
import { ruleRow } from "./operators.ts";
import { probeFigures } from "../probes/figures.ts";
import { readHeldRows, requireSealed } from "../shared/sealed_reads.ts";

/** The dependencies of these operations. */
type Needs = Reading & Scoring;

/** @throws {AlteredRows} if a row of an operator or a probe was altered or is missing, or an old one was put back. */
export async function organizationDashboard(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  now: number,
) {
  const { held: { operators, probes }, found: [[organization]] } = await readHeldRows(dependencies, orgId, [
    organizationQuery(orgId),
  ]);
  requireSealed(dependencies, organizations, [organization!]);
  const { name, domain, tier } = organization!;
  const { model: { document } } = dependencies;
  const rows = operators.map(ruleRow);
  return {
    organization: { id: orgId, name },
    domain,
    tier,
    dashboard: {
      ...activeVerdicts(document, rows, now),
      ...organizationFigures(document, rows, now),
      probes: probeFigures(probes, activePeriod(dependencies, now)),
    },
  };
}
