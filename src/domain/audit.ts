/** The chains of an organization, and the checkpoints that an export of one is linked to. */
import * as z from "zod";

/** The kinds of chains that an organization has. */
export const CHAIN_KINDS = ["evidence", "admin"] as const;
export type ChainKind = (typeof CHAIN_KINDS)[number];

/** Most sizes that one export links. */
const LINK_LIMIT = 64;

/** Sizes of checkpoints that an auditor kept, separated by commas. */
export const linkSchema = z.string()
  .regex(
    new RegExp(`^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,${LINK_LIMIT - 1}}$`),
    `must be sizes of checkpoints, whole numbers from 1 on, separated by commas, ${LINK_LIMIT} at most`,
  );

/** The sizes in a `link` parameter; none if it is left out. */
export function linkedSizes(link: string | undefined): readonly number[] {
  return link === undefined ? [] : link.split(",").map(Number);
}

/** The message for a size that cannot be linked: no chain of the family that an export shows is that long. */
export function beyondLongest(longest: number): string {
  return `must be at most ${longest}, the size of the longest chain that this export shows; a restore may have lost later entries`;
}
