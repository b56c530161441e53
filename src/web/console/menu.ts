/** The views of the menu, and who may use them: the menu and the router both go by this list. */
import type { Access } from "../../domain/access.ts";
import { may, type SignedIn } from "./session.tsx";

/** The address at which the console begins. */
export const ROOT = "/console";

/** The groups of views, in their order. */
export const GROUPS = ["Overview", "Evidence", "Settings"] as const;

/** One entry of the menu. */
export interface Entry {
  readonly group: (typeof GROUPS)[number];
  readonly label: string;
  readonly path: string;
  /** The kind of the calls of the view and of those below it; null if it makes none. */
  readonly access: Access | null;
}

const ENTRIES: readonly Entry[] = ([
  ["", "Home", "read", "Overview"],
  ["/cases", "Cases", "followUp", "Overview"],
  ["/alerts", "Alerts", "followUp", "Overview"],
  ["/operators", "Operators", "read", "Overview"],
  ["/trends", "Trends", "read", "Overview"],
  ["/labels", "Labels", "label", "Overview"],
  ["/decisions", "Decisions", "read", "Overview"],
  ["/contests", "Contests", "followUp", "Overview"],
  ["/reports", "Reports", "read", "Evidence"],
  ["/audit-log", "Audit log", "export", "Evidence"],
  ["/verify", "Verify", null, "Evidence"],
  ["/users", "Users", "administer", "Settings"],
  ["/key", "Keys", "administer", "Settings"],
  ["/webhooks", "Webhooks", "administer", "Settings"],
] as const).map(([view, label, access, group]) => ({ path: ROOT + view, label, access, group }));

/** Whether whoever is signed in may use a view of the menu and those below it. */
export function mayOpen(signedIn: SignedIn, { access }: Entry): boolean {
  return access === null || may(signedIn, access);
}

/** The entries of the menu for whoever is signed in. */
export function menuOf(signedIn: SignedIn): readonly Entry[] {
  return ENTRIES.filter((entry) => mayOpen(signedIn, entry));
}

/** The entry to which an address belongs; null if it belongs to none. */
export function entryOf(path: string): Entry | null {
  // The router passes over slashes that are doubled or stand at the end.
  const real = path.replaceAll(/\/+/g, "/").replace(/\/$/, "");
  return ENTRIES.find((entry) =>
    real === entry.path || (entry.path !== ROOT && real.startsWith(`${entry.path}/`))
  ) ?? null;
}
