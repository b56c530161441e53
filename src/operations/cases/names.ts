/** Cases with the names of users, which stand in the users' rows alone: an entry has ids. */
import type { Reading } from "../shared/capabilities.ts";
import { isGranted, type Role } from "../../domain/access.ts";
import type { RecordedCase, ShownCase } from "../../domain/case.ts";
import type { UserRow } from "../../store/users.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";

/** Somebody to whom a case can be given. */
interface Owner {
  readonly user_id: string;
  readonly name: string | null;
}

/** Whether a user's role works on cases. */
export function worksOnCases({ role }: Pick<UserRow, "role">): boolean {
  return isGranted({ kind: "role", role: role as Role }, "act");
}

/** Whether a case can be given to a user now. */
export function canOwn(user: Pick<UserRow, "role" | "state">): boolean {
  return user.state === "active" && worksOnCases(user);
}

/** Reads the names of an organization's users. @throws as {@link readRegistered}. */
export async function namesOf(dependencies: Reading & Remembering, orgId: string) {
  const { users } = await readRegistered(dependencies, orgId);
  const names = new Map(users.map(({ user_id, name }) => [user_id, name]));
  const nameOf = (userId: string | null) => userId === null ? null : names.get(userId) ?? null;
  return {
    owners: users.filter(canOwn).map(({ user_id, name }): Owner => ({ user_id, name })),
    shown: (one: RecordedCase): ShownCase => ({
      ...one,
      user_name: nameOf(one.user_id),
      owner_name: nameOf(one.owner),
      steps: one.steps.map((step) => ({
        ...step,
        user_name: nameOf(step.user_id),
        owner_name: nameOf(step.owner),
      })),
    }),
  };
}
