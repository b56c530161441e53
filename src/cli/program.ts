/** The command line: one file for each subcommand. A mistake is answered with the nearest known name. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { closest } from "fastest-levenshtein";
import { type Role, ROLES } from "../domain/access.ts";
import { DOMAIN_SPELLINGS, DOMAINS, TIERS } from "../domain/enums.ts";
import { BUNDLE_PARTS } from "../operations/chains/export.ts";
import { listAlerts, type ListAlertsOptions } from "./alerts.ts";
import { backup } from "./backup.ts";
import { calibrate, type CalibrateOptions } from "./calibrate.ts";
import { checkpoint } from "./checkpoint.ts";
import { type CompletedShell, completionOf, SHELLS } from "./completion.ts";
import { dev, type DevOptions } from "./dev.ts";
import { acceptClock, doctor, type DoctorOptions } from "./doctor.ts";
import { evaluate, type EvaluateOptions } from "./evaluate.ts";
import { exportChain, EXPORTED_CHAINS, type ExportOptions } from "./export.ts";
import { healthcheck } from "./healthcheck.ts";
import { init } from "./init.ts";
import { openapi } from "./openapi.ts";
import {
  createByHand,
  type CreateOptions,
  listOrganizations,
  reactivate,
  rotateKey,
  type ShownOptions,
  showOrganization,
  suspend,
} from "./organizations.ts";
import { restore } from "./restore.ts";
import { rotateSigningKey } from "./rotate_signing_key.ts";
import { serve } from "./serve.ts";
import { simulate, type SimulateOptions } from "./simulate.ts";
import { CommandFailure, EXIT, isSystemError, type Shell } from "./shell.ts";
import {
  addUser,
  type AddUserOptions,
  disableUser,
  enableUser,
  resetUser,
  setRole,
  showUsers,
  type UserOptions,
} from "./users.ts";
import { verify, type VerifyOptions } from "./verify.ts";
import { version } from "./version.ts";

const DEFAULT_INIT_DIRECTORY = "./data";

/** Runs the command line and returns the exit code. */
export async function run(argv: readonly string[], shell: Shell): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram(shell, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommandFailure) {
      console.error(`jiss: ${error.message}`);
      return error.exitCode;
    }
    if (error instanceof CommanderError) return reportUsage(program, argv, error);
    if (isSystemError(error)) {
      console.error(`jiss: ${error.message}`);
      return EXIT.failure;
    }
    throw error;
  }
}

function buildProgram(shell: Shell, finish: (exitCode: number) => void): Command {
  const program = new Command("jiss")
    .description("Judgment Independence Scoring Service: does a human reviewer judge, or rubber-stamp?")
    .exitOverride()
    // Without colours, no environment variable is read: `verify` may run without that permission.
    .configureOutput({ writeErr: () => {}, getOutHasColors: () => false, getErrHasColors: () => false })
    .version(`jiss ${shell.version}`, "-V, --version", "print the program's version")
    .configureHelp({ optionDescription: describeOption })
    .showSuggestionAfterError(false)
    .helpCommand(false);
  const invocation = { shell, finish };
  addServiceCommands(program, invocation);
  addEvidenceCommands(program, invocation);
  addOrganizationCommands(
    addGroup(program, "org", "manage organizations directly in the database"),
    invocation,
  );
  addUserCommands(
    addGroup(program, "user", "manage the users of an organization directly in the database"),
    invocation,
  );
  addAlertCommands(addGroup(program, "alerts", "show the alerts of the service"), invocation);
  addCheckCommands(program, invocation);
  addInformationCommands(program, invocation);
  return program;
}

/** The dependencies of a command's action. */
interface Invocation {
  readonly shell: Shell;
  /** Sets the exit code. */
  finish(exitCode: number): void;
}

/** A command below another one; arguments that it does not declare are refused. */
function addCommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).allowExcessArguments(false);
}

function addServiceCommands(program: Command, { shell, finish }: Invocation): void {
  addCommand(
    program,
    "dev",
    "start a service for local testing, with a demo organization and a key; data is in ./data/dev",
  )
    .option("--fresh", "start over: remove the files of earlier runs", false)
    .option(
      "--key <KEY>",
      "use this API key; the list of processes shows it, so use it only for local testing",
    )
    .option("--open", "open the console in the browser", false)
    .action(async (options: DevOptions) => finish(await dev(shell, options)));
  addCommand(program, "serve", "start the service, configured by environment variables")
    .action(async () => finish(await serve(shell)));
  addCommand(
    program,
    "init [DIR]",
    "write jiss.env (pepper, master keys) and the signing key; never overwrites files",
  )
    .action((directory: string | undefined) => finish(init(shell, directory ?? DEFAULT_INIT_DIRECTORY)));
}

function addEvidenceCommands(program: Command, { shell, finish }: Invocation): void {
  addCommand(program, "verify <FILE...>", "verify bundles and saved answers, offline; - is standard input")
    .option(
      "--key <FILE|KEY>",
      "trust this key: a PEM or JWKS file, or a verifier key; may be repeated",
      collect,
    )
    .option(
      "--checkpoint <FILE>",
      "compare with a checkpoint or a saved answer of an earlier visit; may be repeated",
      collect,
    )
    .option(
      "--state <DIR>",
      "keep checkpoints and keys in this directory for the next visit",
      once("--state"),
    )
    .option("--no-replay", "do not recompute scores, decisions and labels")
    .option(
      "--report <FILE>",
      "write a certificate for the auditor's records, a page to print, to this new file",
      once("--report"),
    )
    .option("--json", "print one JSON object")
    .action(async (files: readonly string[], options: VerifyOptions) =>
      finish(await verify(shell, files, options))
    );
  addCommand(program, "export", "write a bundle for jiss verify, from the database")
    .option("--org <ORG>", "the organization whose chain is exported")
    .addOption(
      new Option("--chain <CHAIN>", "the chain to export").choices(EXPORTED_CHAINS).default("evidence"),
    )
    .addOption(new Option("--parts <PARTS>", "the contents to include").choices(BUNDLE_PARTS).default("all"))
    .option(
      "--link <SIZES>",
      "prove that the chain continues checkpoints of these sizes, even if their entries were removed; may be repeated",
      collect,
    )
    .option("-o, --output <FILE>", "write a new file instead of standard output")
    .action(async (options: ExportOptions) => finish(await exportChain(shell, options)));
  addCommand(program, "checkpoint", "print the newest checkpoint of every chain; keep it elsewhere")
    .action(async () => finish(await checkpoint(shell)));
  addCommand(program, "rotate-signing-key", "add the next signing key; both keys sign until --drop-old")
    .option("--drop-old", "end the overlap: retire the old key and delete it", false)
    .action(async (options: { dropOld: boolean }) => finish(await rotateSigningKey(shell, options)));
  addCommand(
    program,
    "backup <FILE>",
    "make a consistent copy of the embedded database; the service may run",
  )
    .action(async (file: string) => finish(await backup(shell, file)));
  addCommand(
    program,
    "restore [FILE]",
    "replace the database with a backup; without FILE, accept an older or altered database as it is",
  )
    .requiredOption("--acknowledge <REASON>", "the reason; the evidence keeps it permanently")
    .action(async (file: string | undefined, options: { acknowledge: string }) =>
      finish(await restore(shell, { file: file ?? null, reason: options.acknowledge }))
    );
}

function addAlertCommands(alerts: Command, { shell, finish }: Invocation): void {
  addCommand(alerts, "list", "list open alerts, each with the alert_id that acknowledges it")
    .option("--all", "list acknowledged alerts too", false)
    .option("--json", "print one JSON object", false)
    .action(async (options: ListAlertsOptions) => finish(await listAlerts(shell, options)));
}

function addCheckCommands(program: Command, { shell, finish }: Invocation): void {
  addCommand(program, "doctor", "find mistakes in the setup and say how to mend them; changes nothing")
    .option("--accept-clock", "only record that the clock is right after a jump", false)
    .option("--json", "print one JSON object", false)
    .action(async ({ acceptClock: isAccepted, ...options }: DoctorOptions & { acceptClock: boolean }) =>
      finish(await (isAccepted ? acceptClock : doctor)(shell, options))
    );
  addCommand(
    program,
    "simulate",
    "score simulated reviewers: does the score measure what it claims?",
  )
    .option("--seed <SEED>", "use this seed instead of those of the check; may be repeated", collectNumber)
    .option("--operators <COUNT>", "number of reviewers of each kind; the check uses 200", wholeNumber)
    .option("--json", "print one JSON object", false)
    .option("--check", "exit with 1 if a target is missed", false)
    .action((options: SimulateOptions) => finish(simulate(shell, options)));
  addCommand(
    program,
    "evaluate <FILE>",
    "score a CSV table of decisions and foretell the rows held back; - is standard input",
  )
    .option("--model <FILE>", "use this model document")
    .option("--html <FILE>", "write the report as a page, with plots, to this new file")
    .option("--json", "print one JSON object", false)
    .action(async (file: string, options: EvaluateOptions) => finish(await evaluate(shell, file, options)));
  addCommand(
    program,
    "calibrate",
    "fit a model document to an organization's own labelled history, stored or in a file; changes nothing",
  )
    .option("--org <ORG>", "use the stored history of this organization")
    .option("--history <FILE>", "use this CSV table of decisions, as of jiss evaluate; - is standard input")
    .option("--model <FILE>", "with --history, start from this model document")
    .option(
      "-o, --output <FILE>",
      "write the document to this new file; without it, only the report is printed",
    )
    .option("--json", "print one JSON object", false)
    .action(async (options: CalibrateOptions) => finish(await calibrate(shell, options)));
}

function addInformationCommands(program: Command, { shell, finish }: Invocation): void {
  addCommand(program, "healthcheck", "exit with 0 if the local service answers GET / with status ok")
    .action(async () => finish(await healthcheck(shell)));
  addCommand(program, "openapi", "print the OpenAPI 3.1 document")
    .action(() => finish(openapi(shell)));
  addCommand(program, "version", "print the versions of the program, Deno, V8, SQLite and the scoring model")
    .action(() => finish(version(shell)));
  addCommand(
    program,
    "completion",
    "print the script that completes this command line in a shell (docs/operate/administer.md)",
  )
    .addArgument(new Argument("<SHELL>", "the shell").choices(SHELLS))
    .action((completed: CompletedShell) => {
      console.log(completionOf(program, completed).trimEnd());
      finish(EXIT.ok);
    });
}

/**
 * The text of an option in `--help`: says whether it is required; shows a default only if it is a non-empty text.
 */
function describeOption({ description, mandatory, argChoices, defaultValue }: Option): string {
  const notes = [
    ...(mandatory ? ["required"] : []),
    ...(argChoices === undefined ? [] : [`choices: ${argChoices.join(", ")}`]),
    ...(typeof defaultValue === "string" && defaultValue !== "" ? [`default: ${defaultValue}`] : []),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
}

/** A command that only contains other commands. */
function addGroup(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}

function addOrganizationCommands(organizations: Command, { shell, finish }: Invocation): void {
  const required = (flags: string, description: string) =>
    new Option(flags, description).makeOptionMandatory();

  addCommand(organizations, "create <ORG>", "create an organization and print its key, once")
    .requiredOption("--name <NAME>", "the name that people use")
    .addOption(
      required("--domain <DOMAIN>", "the field in which it decides")
        .choices([...DOMAINS, ...Object.keys(DOMAIN_SPELLINGS)]),
    )
    .addOption(required("--tier <TIER>", "the tier, which sets the usage limit").choices(TIERS))
    .option("--allowed-origins <ORIGINS>", "the origins of its cross-origin calls, separated by commas", "")
    .option(
      "--key-file <FILE>",
      "write the key to this file instead of printing it; if the file exists, use the key in it",
    )
    .action(async (org: string, options: CreateOptions) => finish(await createByHand(shell, org, options)));
  addCommand(organizations, "list", "list all organizations")
    .option("--json", "print one JSON object", false)
    .action(async (options: ShownOptions) => finish(await listOrganizations(shell, options)));
  addCommand(organizations, "show <ORG>", "show one organization, and why it is inactive")
    .option("--json", "print one JSON object", false)
    .action(async (org: string, options: ShownOptions) =>
      finish(await showOrganization(shell, org, options))
    );
  addCommand(
    organizations,
    "rotate-key <ORG>",
    "mint a new key and print it, once; the earlier key stops working",
  )
    .action(async (org: string) => finish(await rotateKey(shell, org)));
  addCommand(
    organizations,
    "suspend <ORG>",
    "suspend an organization: its key is refused until it is reactivated",
  )
    .action(async (org: string) => finish(await suspend(shell, org)));
  addCommand(
    organizations,
    "reactivate <ORG>",
    "reactivate an organization: lift every reason for which it is inactive",
  )
    .action(async (org: string) => finish(await reactivate(shell, org)));
}

function addUserCommands(users: Command, { shell, finish }: Invocation): void {
  const asJson = (command: Command) => command.option("--json", "print one JSON object", false);
  const ofUser = (usage: string, description: string) =>
    asJson(addCommand(users, `${usage} <ORG> <USER>`, description));

  asJson(addCommand(users, "add <ORG> <EMAIL>", "invite a user and print the one-time link"))
    .requiredOption("--name <NAME>", "the name that colleagues see")
    .addOption(new Option("--role <ROLE>", "what the user may do").choices(ROLES).makeOptionMandatory())
    .action(async (orgId: string, user: string, options: AddUserOptions) =>
      finish(await addUser(shell, { orgId, user }, options))
    );
  asJson(addCommand(users, "list <ORG>", "list the users of an organization"))
    .action(async (orgId: string, options: UserOptions) => finish(await showUsers(shell, orgId, options)));
  asJson(
    addCommand(users, "role <ORG> <USER>", "give a user, named by address or user_id, another role")
      .addArgument(new Argument("<ROLE>", "what the user may do").choices(ROLES)),
  ).action(async (orgId: string, user: string, role: Role, options: UserOptions) =>
    finish(await setRole(shell, { orgId, user }, role, options))
  );
  ofUser("disable", "end a user's sessions and refuse the user")
    .action(async (orgId: string, user: string, options: UserOptions) =>
      finish(await disableUser(shell, { orgId, user }, options))
    );
  ofUser("enable", "let a disabled user sign in again")
    .action(async (orgId: string, user: string, options: UserOptions) =>
      finish(await enableUser(shell, { orgId, user }, options))
    );
  ofUser("reset", "print a one-time link with which the user sets a new password")
    .action(async (orgId: string, user: string, options: UserOptions) =>
      finish(await resetUser(shell, { orgId, user }, options))
    );
}

/** Parses an option that may be given once: a second one would silently replace the first. */
function once(flag: string) {
  return (value: string, previous: string | undefined): string => {
    if (previous !== undefined) throw new InvalidArgumentError(`${flag} may be given only once.`);
    return value;
  };
}

/** Collects the values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) {
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  }
  return Number(value);
}

function collectNumber(value: string, before: readonly number[] = []): readonly number[] {
  return [...before, wholeNumber(value)];
}

/** Help counts as success; anything else is a mistake, reported with the nearest known command or flag. */
function reportUsage(program: Command, argv: readonly string[], error: CommanderError): number {
  if (error.code === "commander.helpDisplayed" || error.code === "commander.version") return EXIT.ok;
  if (error.code === "commander.help") {
    console.error(findCommand(program, argv).command.helpInformation());
    return EXIT.usage;
  }
  const hint = suggestion(program, argv, error);
  const message = error.message.replace(/^error: /, "");
  console.error(`jiss: ${message}${hint === null ? "" : `: did you mean ${hint}?`}`);
  return EXIT.usage;
}

/** The innermost command that the arguments name, and the arguments after its name. */
function findCommand(
  program: Command,
  argv: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const [name, ...rest] = argv;
  const command = program.commands.find((known) => known.name() === name);
  return command === undefined ? { command: program, rest: argv } : findCommand(command, rest);
}

function suggestion(program: Command, argv: readonly string[], error: CommanderError): string | null {
  const { command, rest } = findCommand(program, argv);
  if (error.code === "commander.unknownCommand") {
    const given = rest[0] ?? "";
    return given === "help" ? "--help" : closest(given, command.commands.map((known) => known.name()));
  }
  if (error.code === "commander.unknownOption") {
    const given = /'([^']*)'/.exec(error.message)?.[1] ?? "";
    const flags = command.options.map((option) => option.long).filter((flag) => flag !== undefined);
    return closest(given, [...flags, "--help"]);
  }
  return null;
}
