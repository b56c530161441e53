/** libfaketime, if the machine has it: it gives one process a clock of its own. */
/** The library that sets a process's clock from a file; it leaves the monotonic clock alone. */
export function clockLibrary(): string | null {
  for (const folder of ["/usr/lib", "/usr/lib64", "/usr/local/lib"]) {
    const near = [folder, ...foldersIn(folder)].map((path) => `${path}/faketime/libfaketimeMT.so.1`);
    const found = near.find((path) => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    });
    if (found !== undefined) return found;
  }
  return null;
}

function foldersIn(path: string): readonly string[] {
  try {
    return [...Deno.readDirSync(path)].filter(({ isDirectory }) => isDirectory).map(({ name }) =>
      `${path}/${name}`
    );
  } catch {
    return [];
  }
}
