/** The permanent properties of a deployment, and the retention and origins of its chains. */
import { adminChain, organizationOf, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";

/** The permanent properties of a deployment. */
export interface Installation {
  readonly deploymentId: string;
  /** The key of request digests, 32 bytes. */
  readonly key: Uint8Array;
  /** True if the database's rows have been sealed: an unsealed row then counts as altered. */
  readonly isSealed: boolean;
}

/** Days for which entries are kept; null if they are kept for good. */
export interface RetentionDays {
  readonly auditRetentionDays: number;
  readonly evidenceRetentionDays: number | null;
}

/** Days for which the entries of a chain family are kept; null if they are kept for good. */
export function retentionOf(
  { auditRetentionDays, evidenceRetentionDays }: RetentionDays,
  family: string,
): number | null {
  if (family === SYSTEM_CHAIN) return null;
  return family === adminChain(organizationOf(family)!) ? auditRetentionDays : evidenceRetentionDays;
}

/** The origin of a chain: its checkpoints are signed under it. */
export function originOf(
  { logName, installation }: {
    readonly logName: string;
    readonly installation: Pick<Installation, "deploymentId">;
  },
  chain: string,
): string {
  return `${logName}/${installation.deploymentId}/${chain}`;
}
