/**
 * Opens a page in the user's browser, for `jiss dev --open`. Only the task `dev` of a checkout grants the
 * permission: the release starts no other program.
 */

/** For each system, the program that opens an address in the user's default browser. */
const OPENERS: Readonly<Partial<Record<typeof Deno.build.os, string>>> = {
  linux: "xdg-open",
  darwin: "open",
  windows: "explorer",
};

/** Programs whose exit code says nothing: Explorer ends with 1 even after success. */
const EXIT_CODE_IGNORED: readonly string[] = ["explorer"];

/** Opens the page, or calls `onUnopened` with the reason if it cannot. Never asks for a permission. */
export function openPage(url: string, onUnopened: (reason: string) => void): void {
  const command = OPENERS[Deno.build.os];
  if (command === undefined) {
    return onUnopened("this program does not know how to open a browser on this system");
  }
  if (Deno.permissions.querySync({ name: "run", command }).state !== "granted") {
    return onUnopened(`Deno was not given --allow-run=${command}`);
  }
  try {
    const child = new Deno.Command(command, { args: [url], stdin: "null", stdout: "null", stderr: "null" })
      .spawn();
    // The browser may run for a long time: nobody waits for it.
    child.unref();
    child.status.then(({ success }) => {
      if (!success && !EXIT_CODE_IGNORED.includes(command)) onUnopened(`${command} failed`);
    });
  } catch (error) {
    onUnopened(`${command} cannot be started (${(error as Error).name})`);
  }
}
