/** The console's views with more operators, and for longer, than the tests can wait for. */
export interface ConsoleFigures {
  readonly operators: number;
  readonly views: number;
  /** The most of one view. */
  readonly most_bytes: number;
  readonly most_requests: number;
  readonly most_rows: number;
  /** The view that took longest from the click to its last answer, and how long: milliseconds, with 50 added to each request. */
  readonly slowest_view: string;
  readonly slowest_ms: number;
  readonly exit_code: number;
}

export async function consoleWithOperators(operators: number): Promise<ConsoleFigures> {
  const { code, said } = await run("many_operators_program.ts", operators);
  const none = {
    views: 0,
    most_bytes: NaN,
    most_requests: NaN,
    most_rows: NaN,
    slowest_view: "",
    slowest_ms: NaN,
  };
  return { operators, ...none, ...said, exit_code: code };
}

export interface WalkFigures {
  /** Views that were opened, the calls that they made, and those that were not answered well. */
  readonly views: number;
  readonly requests: number;
  readonly limited: number;
  readonly integration: { readonly requests: number; readonly limited: number };
  readonly exit_code: number;
}

export async function consoleWalk(minutes: number): Promise<WalkFigures> {
  const { code, said } = await run("console_walk_program.ts", minutes);
  const none = { requests: 0, limited: 0 };
  return { views: 0, ...none, integration: none, ...said, exit_code: code };
}

/** Runs a program with a browser, which prints its figures. */
async function run(
  name: string,
  argument: number,
): Promise<{ readonly code: number; readonly said: Record<string, unknown> }> {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--quiet", "--no-check", `--lock=${import.meta.dirname}/../deno.lock`],
      ...[`${import.meta.dirname}/../browser/${name}`, String(argument)],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).output();
  return { code, said: code === 0 ? JSON.parse(new TextDecoder().decode(stdout)) : {} };
}
