/** The context that every part of the reference shares. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { OpenApi } from "./document.ts";

export interface Reference {
  readonly document: OpenApi;
  /** The visitor's key: only in memory, and in no attribute. Empty if none was entered. */
  readonly apiKey: string;
}

export const ReferenceContext = createContext<Reference | null>(null);

export function useReference(): Reference {
  return useContext(ReferenceContext)!;
}
