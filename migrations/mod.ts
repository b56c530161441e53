/** Every schema step in order. A step is frozen once it is released; a change is a new step. */
import { initial } from "./0001_initial.ts";

export interface Migration {
  /** 1, 2, 3 … without a gap. */
  readonly version: number;
  readonly name: string;
  /** Run in one atomic batch, in order. */
  readonly statements: readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [initial];
