/**
 * Opening a page in the browser of whoever runs `jiss dev --open`. Only the task `dev` of a checkout grants the permission
 * for it: the release starts no other program.
 */

/** What opens an address in the browser that the user prefers, on each system. */
const OPENERS: Readonly<Partial<Record<typeof Deno.build.os, string>>> = {
  linux: "xdg-open",
  darwin: "open",
  windows: "explorer",
};

/** Explorer ends with 1 where it has done what it was asked. */
const TELLS_NOTHING: readonly string[] = ["explorer"];

/** Opens the page; calls `onUnopened` with the reason where it cannot, and asks nobody for a permission. */
export function openPage(url: string, onUnopened: (reason: string) => void): void {
  const command = OPENERS[Deno.build.os];
  if (command === undefined) return onUnopened("it is not known how, on this system");
  if (Deno.permissions.querySync({ name: "run", command }).state !== "granted") {
    return onUnopened(`this program may not start others: Deno grants no --allow-run=${command}`);
  }
  try {
    const child = new Deno.Command(command, { args: [url], stdin: "null", stdout: "null", stderr: "null" })
      .spawn();
    // A browser that was started so may run for long: nobody waits for it.
    child.unref();
    child.status.then(({ success }) => {
      if (!success && !TELLS_NOTHING.includes(command)) onUnopened(`${command} failed`);
    });
  } catch (error) {
    onUnopened(`${command} cannot be started (${(error as Error).name})`);
  }
}
