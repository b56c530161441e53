/** The console's views with more operators than the tests can wait for. */
export interface ConsoleFigures {
  readonly operators: number;
  readonly most_bytes: number;
  readonly most_rows: number;
  readonly exit_code: number;
}

export async function consoleWithOperators(operators: number): Promise<ConsoleFigures> {
  const program = `${import.meta.dirname}/../browser/many_operators_program.ts`;
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--quiet", "--no-check", `--lock=${import.meta.dirname}/../deno.lock`],
      ...[program, String(operators)],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const said = code === 0 ? JSON.parse(new TextDecoder().decode(stdout)) : {};
  return { operators, most_bytes: NaN, most_rows: NaN, ...said, exit_code: code };
}
