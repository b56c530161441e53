/** `jiss --version`, and the completion of command lines in the shells themselves, compared with `--help`. */
import assert from "node:assert/strict";
import { succeeds } from "../disks.ts";
import { runProgram } from "../program.ts";

Deno.test("--version is one line with the program's version, and needs no configuration", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${import.meta.dirname}/../../deno.json`));
  for (const flag of ["--version", "-V"]) {
    const result = await runProgram([flag], { env: { JISS_NO_SUCH_VARIABLE: "1" } });
    assert.deepEqual(result, { code: 0, stdout: `jiss ${version}\n`, stderr: "" });
  }
});

/** Commands and flags in the `--help` of a command. */
interface Listed {
  /** The words of the command after `jiss`. */
  readonly path: readonly string[];
  readonly commands: readonly string[];
  readonly flags: readonly string[];
}

/** Every command with the commands and flags that its `--help` lists. */
async function listed(path: readonly string[] = []): Promise<readonly Listed[]> {
  const { stdout } = await runProgram([...path, "--help"]);
  const chapter = (title: string) =>
    (stdout.split(`\n${title}:\n`)[1] ?? "").split("\n\n")[0]!.split("\n").filter((line) =>
      /^ {2}\S/.test(line)
    );
  const commands = chapter("Commands").map((line) => /^ {2}([a-z-]+)/.exec(line)![1]!);
  const flags = chapter("Options").flatMap((line) =>
    line.trim().split(/ {2,}/)[0]!.match(/--?[A-Za-z-]+/g) ?? []
  );
  const below = [];
  for (const name of commands) below.push(...await listed([...path, name]));
  return [{ path, commands, flags }, ...below];
}

let known: Promise<readonly Listed[]> | undefined;

/** The result of {@link listed}, asked only once. */
async function everyCommand(): Promise<readonly Listed[]> {
  const all = await (known ??= listed());
  assert.ok(all.length > 20 && all.some(({ path }) => path.join(" ") === "org create"));
  return all;
}

/**
 * Runs a script in a shell with the output of `jiss completion` as the file `$COMPLETION`; returns its lines.
 */
async function inShell(shell: string, program: string): Promise<readonly string[]> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-completion-" });
  const { code, stdout } = await runProgram(["completion", shell]);
  assert.equal(code, 0);
  await Deno.writeTextFile(`${directory}/completion`, stdout);
  await Deno.mkdir(`${directory}/a folder`);
  await Deno.writeTextFile(`${directory}/a bundle.ndjson`, "");
  const done = await new Deno.Command(shell, {
    args: [...(shell === "bash" ? ["--norc"] : shell === "zsh" ? ["-f"] : ["--no-config"]), "-c", program],
    cwd: directory,
    env: { COMPLETION: `${directory}/completion`, HOME: directory, TERM: "dumb" },
    stdin: "null",
  }).output();
  const [said, errors] = [done.stdout, done.stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.deepEqual([done.code, errors], [0, ""], said ?? "");
  await Deno.remove(directory, { recursive: true });
  return said!.trimEnd().split("\n");
}

/**
 * The words that the shell offers after each of the typed ones. `ask` makes the shell's command that lists
 * them.
 */
async function offers(
  shell: string,
  { setup, ask, typed }: {
    readonly setup: string;
    readonly ask: (words: readonly string[]) => string;
    readonly typed: readonly (readonly string[])[];
  },
): Promise<readonly (readonly string[])[]> {
  const lines = await inShell(shell, [setup, ...typed.flatMap((words) => [ask(words), "echo ."])].join("\n"));
  const answers = lines.join("\n").split(/^\.$/m).slice(0, -1);
  assert.equal(answers.length, typed.length);
  return answers.map((answer) => answer.split("\n").filter((line) => line !== "").sort());
}

/** Cases that every shell answers alike: the typed words, and those offered. */
const VALUES: readonly (readonly [typed: readonly string[], offered: readonly string[]])[] = [
  [["export", "--chain", ""], ["admin", "evidence", "system"]],
  [["export", "--org", "acme", "--chain", "e"], ["evidence"]],
  [["org", "create", "acme", "--tier", "st"], ["standard", "starter"]],
  [["completion", ""], ["bash", "fish", "zsh"]],
  [["org", "create", "--name", ""], []],
  [["serve", ""], []],
  // A value that is also a command's name is not taken for the command.
  [["org", "create", "list", "--ti"], ["--tier"]],
];

async function compareWithHelp(
  shell: string,
  how: Omit<Parameters<typeof offers>[1], "typed">,
): Promise<void> {
  const commands = await everyCommand();
  const flags = await offers(shell, { ...how, typed: commands.map(({ path }) => [...path, "-"]) });
  commands.forEach(({ path, flags: expected }, index) => {
    // If a command has two flags, some shells offer only the long one.
    const long = (all: readonly string[]) => all.filter((flag) => flag.startsWith("--")).sort();
    assert.deepEqual(long(flags[index]!), long(expected), path.join(" "));
  });
  const groups = commands.filter(({ commands }) => commands.length > 0);
  const names = await offers(shell, { ...how, typed: groups.map(({ path }) => [...path, ""]) });
  groups.forEach(({ path, commands: expected }, index) => {
    assert.deepEqual(names[index], [...expected].sort(), path.join(" "));
  });
  const values = await offers(shell, { ...how, typed: VALUES.map(([typed]) => typed) });
  VALUES.forEach(([typed, expected], index) => assert.deepEqual(values[index], expected, typed.join(" ")));
  const [file, output, folder] = await offers(shell, {
    ...how,
    typed: [["verify", "a"], ["export", "-o", "a"], ["init", "a"]],
  });
  const bare = (names: readonly string[]) =>
    names.map((name) => name.replaceAll("\\", "").replace(/\/$/, ""));
  for (const files of [file!, output!]) assert.deepEqual(bare(files), ["a bundle.ndjson", "a folder"]);
  assert.deepEqual(bare(folder!), ["a folder"]);
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

Deno.test({
  name:
    "bash completes every command and flag that --help lists, the words of an option, and files [needs bash]",
  ignore: !succeeds("bash", ["--version"]),
  async fn() {
    const how = {
      setup: 'source "$COMPLETION"; complete -p jiss > /dev/null || exit 1',
      ask: (words: readonly string[]) =>
        `COMP_WORDS=(jiss ${
          quoted(words)
        }) COMP_CWORD=${words.length}; _jiss; printf '%s\\n' "\${COMPREPLY[@]}"`,
    };
    await compareWithHelp("bash", how);
    // Bash splits `--chain=ev` into words.
    const typed = [["export", "--chain", "="], ["export", "--chain", "=", "ev"]];
    assert.deepEqual(await offers("bash", { ...how, typed }), [["admin", "evidence", "system"], [
      "evidence",
    ]]);
  },
});

Deno.test({
  name:
    "fish completes every command and flag that --help lists, the words of an option, and files [needs fish]",
  ignore: !succeeds("fish", ["--version"]),
  async fn() {
    await compareWithHelp("fish", {
      setup: 'source "$COMPLETION"',
      ask: (words) => `complete -C "jiss ${words.join(" ")}" | string replace -r '\\t.*' ''`,
    });
  },
});

Deno.test({
  name: "zsh completes commands, flags, words and files as a user types them [needs zsh]",
  ignore: !succeeds("zsh", ["--version"]),
  async fn() {
    // In a terminal of its own: one tab after the typed text, where one word fits.
    const typed: readonly (readonly [typed: string, completed: string])[] = [
      ["jiss exp", "jiss export "],
      ["jiss org rea", "jiss org reactivate "],
      ["jiss export --ch", "jiss export --chain "],
      ["jiss export --chain ev", "jiss export --chain evidence "],
      ["jiss export --chain=ev", "jiss export --chain=evidence "],
      ["jiss org create list --tier ent", "jiss org create list --tier enterprise "],
      ["jiss verify a\\ b", "jiss verify a\\ bundle.ndjson "],
      ["jiss init a", "jiss init a\\ folder/"],
      ["jiss completion f", "jiss completion fish "],
    ];
    const lines = await inShell(
      "zsh",
      `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D"
zpty -w shell "source $COMPLETION; print_line() { print -r -- \\"<\\$BUFFER>\\"; BUFFER=; }; zle -N print_line"
zpty -w shell "bindkey '^X' print_line; print read''y"
zpty -r -m shell seen '*ready*'
${
        typed.map(([text]) =>
          `zpty -w -n shell ${quoted([text])}$'\\t\\x18'
zpty -r -m shell seen '*<jiss*>*'
print -r -- "\${\${seen##*<}%%>*}"`
        ).join("\n")
      }
zpty -d shell`,
    );
    assert.deepEqual(lines.map((line) => line.trimEnd()), typed.map(([, completed]) => completed.trimEnd()));
  },
});

Deno.test("the script of each shell is written from the commands, and an unknown shell is refused", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await runProgram(["completion", shell]);
    assert.deepEqual([code, stderr], [0, ""]);
    for (const { path } of await everyCommand()) assert.ok(stdout.includes(path.join(" ")), path.join(" "));
  }
  const { code, stderr } = await runProgram(["completion", "tcsh"]);
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});
