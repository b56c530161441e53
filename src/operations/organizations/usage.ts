/** The usage record of an organization, counted afresh. Source: specification, Usage record; contract, section 5. */
import type { Reading } from "../shared/capabilities.ts";
import type { Tier } from "../../domain/enums.ts";
import { TIER_LIMITS, USAGE_WINDOW_DAYS } from "../../domain/limits.ts";
import { DAY_MS } from "../../domain/time.ts";
import { organizationQuery } from "../../store/organizations.ts";
import { countUsage } from "../../store/usage.ts";
import { unknownOrganization } from "./organization_change.ts";

/** The dependencies of these operations. */
type Needs = Pick<Reading, "database">;

/** @throws {ServiceError} NOT_FOUND. */
export async function organizationUsage(
  { database }: Needs,
  { orgId, now }: { readonly orgId: string; readonly now: number },
) {
  const [organization] = await database.read(organizationQuery(orgId));
  if (organization === undefined) {
    throw unknownOrganization(orgId);
  }
  const start = now - USAGE_WINDOW_DAYS * DAY_MS;
  const count = await countUsage(database, orgId, { from: start, to: now });
  const limit = TIER_LIMITS[organization.tier as Tier];
  const ratio = count / limit;
  return {
    org_id: orgId,
    tier: organization.tier,
    active: organization.active === 1,
    interaction_count_current_period: count,
    period_start: new Date(start).toISOString(),
    period_end: new Date(now).toISOString(),
    tier_limit: limit,
    utilization_ratio: ratio,
    threshold_crossed: ratio >= 1,
  };
}
