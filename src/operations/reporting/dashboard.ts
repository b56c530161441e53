/**
 * The organization's dashboard: one pass over its operators' rows at the instant asked.
 * Source: specification, Organization dashboard; contract, sections 4 and 6; scoring model, section 9.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import { activeVerdicts, organizationFigures } from "../../scoring/organization.ts";
import { frozenOperatorsQuery } from "../../store/interactions.ts";
import { operatorFiguresQuery } from "../../store/operators.ts";
import { organizationQuery } from "../../store/organizations.ts";
import { probeProgrammeQuery, probesQuery } from "../../store/probes.ts";
import { organizations } from "../../store/records.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { activePeriod } from "./reports.ts";
import { ruleRow } from "./operators.ts";
import { probeFigures } from "../probes/figures.ts";
import { requireHeldRows, requireSealed, snapshotWithHead } from "../shared/sealed_reads.ts";

/** The dependencies of these operations. */
type Needs = Reading & Scoring;

/** @throws {AlteredRows} if a row of an operator or a probe was altered or is missing, or an old one was put back. */
export async function organizationDashboard(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  now: number,
) {
  const { head, found: [[organization], operators, frozen, programmes, probes] } = await snapshotWithHead(
    dependencies,
    evidenceChain(orgId),
    [
      organizationQuery(orgId),
      operatorFiguresQuery(orgId),
      frozenOperatorsQuery(orgId),
      probeProgrammeQuery(orgId),
      probesQuery(orgId),
    ] as const,
  );
  requireSealed(dependencies, organizations, [organization!]);
  requireHeldRows(dependencies, head, { operators, frozen, programmes, probes });
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
