/** Sets the teams of operators. The operator's row has the team, and an entry of the evidence chain says who set it. */
import type { Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { TeamAssignment } from "../../domain/team.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { teamSetSchema } from "../../evidence/teams.ts";
import { operators, subjects } from "../../store/records.ts";
import { currentOperator, operatorNeeds } from "../scoring/current_operator.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { drawInput } from "../shared/drafts.ts";
import { knownPseudonym } from "../shared/subjects.ts";

/**
 * Sets the teams of some operators, of all or of none. A team that an operator has already makes no entry.
 * @returns how many operators had another team before.
 * @throws {ServiceError} NOT_FOUND if one of them has no interactions; SERVICE_UNAVAILABLE; {AlteredRows}.
 */
export async function setTeams(
  { world, writer }: Writing,
  caller: OrganizationCaller,
  { assignments, call }: { readonly assignments: readonly TeamAssignment[]; readonly call: Call },
): Promise<number> {
  const { orgId } = caller;
  const chain = evidenceChain(orgId);
  const drawn = assignments.map((assignment) => ({
    ...assignment,
    draft: drawInput(world, {
      type: "TEAM_SET",
      caller,
      now: call.now,
      input: teamSetSchema.parse(assignment),
    }),
  }));
  return await writer.submit<number>({
    needs: assignments.flatMap(({ operator_id }) => {
      const key = [orgId, operator_id] as const;
      return [...operatorNeeds(key), { kind: subjects, key }];
    }),
    chains: [chain],
    plan(unit) {
      const changes = drawn.flatMap(({ operator_id, team, draft }) => {
        const key = [orgId, operator_id] as const;
        const row = currentOperator(unit, key);
        if (row === null) {
          throw new ServiceError(
            "NOT_FOUND",
            `operator_id ${operator_id} has no interactions: score an interaction first. No team was changed.`,
          );
        }
        if ((row.team ?? null) === team) return [];
        return [{ pseudonym: knownPseudonym(unit, key), draft, row: { ...row, team } }];
      });
      // In the order of the pseudonyms: the sender's order may be that of the names.
      changes.sort((one, other) => one.pseudonym < other.pseudonym ? -1 : 1);
      for (const { pseudonym, draft, row } of changes) {
        unit.append(chain, draft(pseudonym));
        unit.put(operators, row);
      }
      return () => changes.length;
    },
  });
}
