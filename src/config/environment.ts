/** The sources of the configuration: environment variables and files. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a text file. @throws if it cannot be read. */
export type ReadFile = (path: string) => string;
