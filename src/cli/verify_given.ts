/** The input of a verification: files, keys and checkpoints, each with its source, for the certificate. */
import type { KnownCheckpoint } from "../evidence/kept.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { fingerprint } from "../evidence/trust.ts";
import type { AuditorMemory } from "./auditor_memory.ts";
import type { CheckpointFile, KeyFile } from "./auditor_trust.ts";
import type { DigestedInput } from "./verify_input.ts";
import type { Given, GivenCheckpoint, GivenKey } from "./verify_outcome.ts";

/** Gathers what was given. It reads the rest of files that were not read to their end. */
export async function gatherGiven(
  inputs: readonly DigestedInput[],
  { keyFiles, checkpointFiles, remembered, memory }: {
    readonly keyFiles: readonly KeyFile[];
    readonly checkpointFiles: readonly CheckpointFile[];
    /** The checkpoints that the memory held before this visit. */
    readonly remembered: readonly KnownCheckpoint[];
    readonly memory: AuditorMemory | null;
  },
): Promise<Given> {
  const files = [];
  for (const input of inputs) files.push(await input.digest());
  return {
    files,
    keys: keysOf(keyFiles, memory),
    checkpoints: [
      ...checkpointFiles.flatMap(({ path, checkpoints }) =>
        checkpoints.map((checkpoint) => ({ checkpoint, file: path }))
      ),
      ...remembered.map((checkpoint): GivenCheckpoint => ({ checkpoint, file: null })),
    ],
    directory: memory === null ? null : memory.directory,
  };
}

/** The keys of `--key`; those of the memory if there is no `--key`, since only then they are trusted. */
function keysOf(keyFiles: readonly KeyFile[], memory: AuditorMemory | null): readonly GivenKey[] {
  if (keyFiles.length === 0) {
    return (memory?.keys ?? []).map((publicKey) => ({
      fingerprint: fingerprint(nodeCrypto, publicKey),
      source: "memory",
      isRetired: false,
    }));
  }
  return keyFiles.flatMap(({ path, keys }) =>
    keys.map(({ publicKey, until }): GivenKey => ({
      fingerprint: fingerprint(nodeCrypto, publicKey),
      source: path === null ? "text" : { file: path },
      isRetired: until !== null,
    }))
  );
}
