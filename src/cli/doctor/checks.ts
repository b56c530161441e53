/** The checks of `jiss doctor`, in the order of the output. */
import type { Check } from "./check.ts";
import { checkpoints } from "./checkpoints.ts";
import { clock } from "./clock.ts";
import { descriptors } from "./descriptors.ts";
import { durability } from "./durability.ts";
import { fileModes } from "./file_modes.ts";
import { freeSpace } from "./free_space.ts";
import { installationKey } from "./installation_key.ts";
import { installationRow } from "./installation_row.ts";
import { lostPepper } from "./lost_pepper.ts";
import { masterSecrets } from "./master_secrets.ts";
import { models } from "./models.ts";
import { previousPepper } from "./previous_pepper.ts";
import { schema } from "./schema.ts";
import { signingKey } from "./signing_key.ts";
import { trustedProxies } from "./trusted_proxies.ts";
import { webhookSecrets } from "./webhook_secrets.ts";

export const CHECKS: Readonly<Record<string, Check>> = {
  schema,
  file_modes: fileModes,
  lost_pepper: lostPepper,
  previous_pepper: previousPepper,
  installation_key: installationKey,
  installation_row: installationRow,
  webhook_secrets: webhookSecrets,
  master_secrets: masterSecrets,
  signing_key: signingKey,
  models,
  checkpoints,
  clock,
  durability,
  free_space: freeSpace,
  trusted_proxies: trustedProxies,
  descriptors,
};
