/**
 * `jiss completion bash|zsh|fish`: the script that completes the command line in a shell. It is made from the
 * declared commands and options of the program, so it always knows exactly these.
 */
import { Argument, type Command, type Help, type Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type CompletedShell = (typeof SHELLS)[number];

/** The value of an option or an argument: one of some words, a file, a folder, any text, or none. */
type Value = readonly string[] | "file" | "folder" | "text" | "none";

interface CompletedOption {
  /** For example `--output`, then `-o` if there is a short one. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly value: Value;
}

/** A command; `path` is all its words, for example `jiss org create`. */
interface CompletedCommand {
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** The value of its first argument; further arguments are of the same kind. */
  readonly argument: Value;
}

/** The script for a shell. */
export function completionOf(program: Command, shell: CompletedShell): string {
  return WRITERS[shell](commandsOf(program, program.name(), program.createHelp()));
}

const WRITERS: Readonly<Record<CompletedShell, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** The command and all its subcommands. */
function commandsOf(command: Command, path: string, help: Help): readonly CompletedCommand[] {
  const subcommands = help.visibleCommands(command);
  const [first] = command.registeredArguments;
  return [
    {
      path,
      commands: subcommands.map((one) => ({ name: one.name(), description: one.description() })),
      options: help.visibleOptions(command).map((option) => ({
        flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
        description: option.description,
        value: valueOf(option),
      })),
      argument: first === undefined ? "none" : valueOf(first),
    },
    ...subcommands.flatMap((one) => commandsOf(one, `${path} ${one.name()}`, help)),
  ];
}

/** The kind of value, from the declared choices or the value's name in `--help`. */
function valueOf(declared: Option | Argument): Value {
  if (declared.argChoices !== undefined) return declared.argChoices;
  const isArgument = declared instanceof Argument;
  if (!isArgument && !declared.required && !declared.optional) return "none";
  const name = isArgument ? declared.name() : declared.flags;
  if (/\bFILE\b/.test(name)) return "file";
  return /\bDIR\b/.test(name) ? "folder" : "text";
}

/** Patterns of a shell's `case`: the command and the flag before the word that is completed. */
function patternsOf({ path }: CompletedCommand, { flags }: CompletedOption): string {
  return flags.map((flag) => `'${path} ${flag}'`).join("|");
}

/** Every command below the first one, as patterns. */
function pathsOf(commands: readonly CompletedCommand[], between: string): string {
  return commands.slice(1).map(({ path }) => `'${path}'`).join(between);
}

// ---- bash -------------------------------------------------------------------------------------------------

function bashCompletion(commands: readonly CompletedCommand[]): string {
  const reply = (value: Value): string => {
    if (value === "file") return "_jiss_paths -f";
    if (value === "folder") return "_jiss_paths -d";
    return typeof value === "string" ? ":" : `_jiss_words ${value.join(" ")}`;
  };
  const values = commands.flatMap((command) =>
    command.options.filter(({ value }) => value !== "none").map((option) =>
      `    ${patternsOf(command, option)}) ${reply(option.value)}; return ;;`
    )
  );
  const words = commands.map(({ path, commands, options, argument }) => {
    const flags = options.flatMap((option) => option.flags);
    const names = commands.map(({ name }) => name);
    return `    '${path}')
      case "$current" in
        -*) _jiss_words ${flags.join(" ")} ;;
        *) ${names.length > 0 ? `_jiss_words ${names.join(" ")}` : reply(argument)} ;;
      esac ;;`;
  });
  return `# bash completion of jiss. For this shell: eval "$(jiss completion bash)"
_jiss_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(printf '%s\\n' "$@")" -- "$current"))
}
_jiss_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen "$1" -- "$current"))
}
_jiss() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command=jiss index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${pathsOf(commands, "|")}) command="$command \${COMP_WORDS[index]}" ;;
    esac
  done
  # bash takes --option=value apart, the sign being a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  case "$command $previous" in
${values.join("\n")}
  esac
  case "$command" in
${words.join("\n")}
  esac
}
complete -F _jiss jiss
`;
}

// ---- zsh --------------------------------------------------------------------------------------------------

function zshCompletion(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const reply = (value: Value): string => {
    if (value === "file") return "_files";
    if (value === "folder") return "_files -/";
    return typeof value === "string" ? ":" : `compadd -- ${value.join(" ")}`;
  };
  const described = (entries: readonly (readonly [name: string, description: string])[]) =>
    entries.map(([name, description]) => `        ${quoted(`${name}:${description}`)}`).join("\n");
  const values = commands.flatMap((command) =>
    command.options.filter(({ value }) => value !== "none").map((option) =>
      `    (${patternsOf(command, option)}) ${reply(option.value)}; return ;;`
    )
  );
  const words = commands.map(({ path, commands, options, argument }) =>
    `    ('${path}')
      flags=(
${
      described(
        options.flatMap(({ flags, description }) => flags.map((flag) => [flag, description] as const)),
      )
    }
      )
      names=(
${described(commands.map(({ name, description }) => [name, description]))}
      )
      ${commands.length > 0 ? ":" : `[[ $PREFIX == -* ]] || ${reply(argument)}`} ;;`
  );
  return `#compdef jiss
# zsh completion of jiss: a file _jiss in a folder of $fpath. For this shell: source <(jiss completion zsh)
_jiss() {
  local command=jiss index previous="\${words[CURRENT - 1]}"
  local -a flags names
  for ((index = 2; index < CURRENT; index++)); do
    case "$command \${words[index]}" in
      (${pathsOf(commands, "|")}) command="$command \${words[index]}" ;;
    esac
  done
  if [[ $PREFIX == --*=* ]]; then
    previous="\${PREFIX%%=*}"
    compset -P '*='
  fi
  case "$command $previous" in
${values.join("\n")}
  esac
  case "$command" in
${words.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option flags
  elif (( \${#names} )); then
    _describe command names
  fi
}
if [[ $funcstack[1] == _jiss ]]; then
  _jiss "$@"
else
  compdef _jiss jiss
fi
`;
}

// ---- fish -------------------------------------------------------------------------------------------------

function fishCompletion(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const reply = (value: Value): string => {
    if (value === "none") return "";
    if (value === "file") return " -rF";
    if (value === "folder") return " -x -a '(__fish_complete_directories)'";
    return value === "text" ? " -x" : ` -x -a '${value.join(" ")}'`;
  };
  const argument = (value: Value): readonly string[] => {
    if (value === "none" || value === "text") return [];
    return value === "file" ? ["-F"] : [reply(value).replace(" -x ", "")];
  };
  const lines = commands.flatMap(({ path, commands, options, argument: value }) => {
    const line = `complete -c jiss -n 'test "$(__jiss_command)" = "${path}"'`;
    return [
      ...commands.map(({ name, description }) => `${line} -a ${name} -d ${quoted(description)}`),
      ...argument(value).map((end) => `${line} ${end}`),
      ...options.map(({ flags: [long, short], description, value }) =>
        `${line}${short === undefined ? "" : ` -s ${short.slice(1)}`} -l ${long!.slice(2)}${
          reply(value)
        } -d ${quoted(description)}`
      ),
    ];
  });
  return `# fish completion of jiss. For this shell: jiss completion fish | source
function __jiss_command
  set -l command jiss
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    switch "$command $word"
      case ${pathsOf(commands, " ")}
        set command "$command $word"
    end
  end
  echo $command
end
complete -c jiss -f
${lines.join("\n")}
`;
}
