/**
 * Seals for tests that open no installation, and the seals of an installation that another process opened.
 */
import { type Database, query } from "../src/store/database.ts";
import { deriveSecretsKey } from "../src/keys/secrets.ts";
import { unwrapInstallationKey } from "../src/operations/installation/installation.ts";
import { type InstallationSeals, lockedSeals } from "../src/operations/installation/installation_seals.ts";

/** Seals under a key that is always the same. */
export function fixedSeals(): InstallationSeals {
  const seals = lockedSeals();
  seals.unlock(new Uint8Array(32).fill(5));
  return seals;
}

/**
 * The seals of a database's installation, so that a test writes rows as the program itself does.
 * @param secret JISS_SECRETS_KEY, or JISS_KEY_PEPPER if that is not set.
 */
export async function sealsOf(database: Database, secret: string): Promise<InstallationSeals> {
  const [row] = await database.read(query.selectFrom("installation").select("wrapped_key").compile());
  const seals = lockedSeals();
  seals.unlock(unwrapInstallationKey(row!.wrapped_key, [deriveSecretsKey(secret)])!.plain);
  return seals;
}
