/** What a deployment is for good, and what follows from it for its chains. */
import { adminChain, organizationOf, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";

/** What a deployment is for good. */
export interface Installation {
  readonly deploymentId: string;
  /** 32 bytes under which request digests are made. */
  readonly key: Uint8Array;
  /** Whether the database's rows have been sealed: an unsealed row is then an altered one. */
  readonly isSealed: boolean;
}

/** For how many days entries are kept; null: for good. */
export interface RetentionDays {
  readonly auditRetentionDays: number;
  readonly evidenceRetentionDays: number | null;
}

/** How many days a chain's entries are kept; null: for good. */
export function retentionOf(
  { auditRetentionDays, evidenceRetentionDays }: RetentionDays,
  family: string,
): number | null {
  if (family === SYSTEM_CHAIN) return null;
  return family === adminChain(organizationOf(family)!) ? auditRetentionDays : evidenceRetentionDays;
}

/** The origin of a chain, by which its checkpoints are signed. */
export function originOf(
  { logName, installation }: {
    readonly logName: string;
    readonly installation: Pick<Installation, "deploymentId">;
  },
  chain: string,
): string {
  return `${logName}/${installation.deploymentId}/${chain}`;
}
