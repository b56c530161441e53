/**
 * `jiss export`: writes the bundle that `jiss verify` reads, with every epoch of a chain. It reads the
 * database directly, also while the service runs.
 */
import { beyondLongest, linkedSizes, linkSchema } from "../domain/audit.ts";
import { orgIdSchema } from "../domain/organization.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { adminChain, evidenceChain, SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { type BundleParts, exportFile, longestShownSize, softwareName } from "../operations/chains/export.ts";
import { loadEpochs } from "../store/chains.ts";
import type { Database } from "../store/database.ts";
import { readInstallation } from "../store/installation.ts";
import { writeToNewFile, writeToStandardOutput } from "./output.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export const EXPORTED_CHAINS = ["evidence", "admin", "system"] as const;
type ExportedChain = (typeof EXPORTED_CHAINS)[number];

const STANDARD_OUTPUT = "-";

export interface ExportOptions {
  readonly org?: string;
  readonly chain: ExportedChain;
  readonly parts: BundleParts;
  /** Sizes that an auditor wants linked; each element may have several, separated by commas. */
  readonly link?: readonly string[];
  /** A file that does not exist yet; undefined or `-` for standard output. */
  readonly output?: string;
}

export async function exportChain(
  shell: Shell,
  { org, chain, parts, link = [], output }: ExportOptions,
): Promise<number> {
  const family = familyOf(chain, org);
  const links = parseSizes(link);
  return await withStored(shell, storageOf(shell), async (database) => {
    if ((await loadEpochs(database, family)).length === 0) throw unknownChain(org);
    const longest = await longestShownSize(database, { family, parts });
    if (links.some((size) => size > longest)) {
      throw new CommandFailure(`--link ${beyondLongest(longest)}`, EXIT.usage);
    }
    const pieces = convertFailures(exportFile({ database, crypto: nodeCrypto }, {
      family,
      parts,
      links,
      retentionDays: await retentionDaysOf(database, chain),
      now: shell.clock.now(),
      software: softwareName(shell.version),
    }));
    if (output === undefined || output === STANDARD_OUTPUT) {
      // Nothing is printed if the reader stops early, as `head` does: it has what it wanted.
      return await writeToStandardOutput(pieces) ? EXIT.ok : EXIT.failure;
    }
    const bytes = await writeToNewFile(pieces, output);
    console.log(
      `Wrote ${output}: ${bytes} bytes, readable only by their owner. Check it with: jiss verify ${output} --key KEY`,
    );
    return EXIT.ok;
  });
}

/** @throws {CommandFailure} 2 if the options do not name one chain; 1 if the name is no organization's. */
function familyOf(chain: ExportedChain, org: string | undefined): string {
  if (chain === "system") {
    if (org === undefined) return SYSTEM_CHAIN;
    throw new CommandFailure("the system chain belongs to no organization: leave out --org", EXIT.usage);
  }
  if (org === undefined) {
    throw new CommandFailure("--org is missing: name the organization whose chain is exported", EXIT.usage);
  }
  // An invalid name could be that of another chain.
  if (!orgIdSchema.safeParse(org).success) throw unknownChain(org);
  return chain === "evidence" ? evidenceChain(org) : adminChain(org);
}

/** @throws {CommandFailure} 2 if one of the texts is no list of sizes. */
function parseSizes(link: readonly string[]): readonly number[] {
  const invalid = link.map((text) => linkSchema.safeParse(text)).find(({ success }) => !success);
  if (invalid !== undefined) {
    throw new CommandFailure(`--link ${invalid.error!.issues[0]!.message}`, EXIT.usage);
  }
  return link.flatMap(linkedSizes);
}

function unknownChain(org: string | undefined): CommandFailure {
  return new CommandFailure(
    org === undefined
      ? "the database contains no chain yet: start the service once"
      : `there is no organization ${JSON.stringify(org)} in this database`,
    EXIT.failure,
  );
}

/** The retention in days that the service recorded; null if entries are kept for ever. */
async function retentionDaysOf(database: Database, chain: ExportedChain): Promise<number | null> {
  if (chain === "system") return null;
  const row = await readInstallation(database);
  return (chain === "evidence" ? row?.evidence_retention_days : row?.audit_retention_days) ?? null;
}

/** Passes on the pieces. @throws {CommandFailure} if the bundle's writer or the database stops the export. */
async function* convertFailures(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* pieces;
  } catch (error) {
    // These throw plain errors; an error of another class, such as a bug's, is passed on.
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
    throw new CommandFailure(`the export stopped: ${error.message}`, EXIT.failure);
  }
}
