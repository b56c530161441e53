/** What the configuration is read from. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a text file. @throws where it cannot be read. */
export type ReadFile = (path: string) => string;
