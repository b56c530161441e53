/**
 * The case sets of the program, one for each domain in each language. They are read only when one is asked for, so that a
 * start does not wait for them; each import is written out, so that the bundle has them all.
 */
import type { Domain } from "../domain/enums.ts";
import { type CaseSet, type CaseSetLanguage, caseSetSchema } from "./case_set.ts";

type Load = () => Promise<{ readonly default: unknown }>;

const FILES: Readonly<Record<Domain, Readonly<Record<CaseSetLanguage, Load>>>> = {
  general: {
    en: () => import("../../case_sets/general.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/general.de.json", { with: { type: "json" } }),
  },
  financial: {
    en: () => import("../../case_sets/financial.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/financial.de.json", { with: { type: "json" } }),
  },
  insurance: {
    en: () => import("../../case_sets/insurance.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/insurance.de.json", { with: { type: "json" } }),
  },
  healthcare: {
    en: () => import("../../case_sets/healthcare.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/healthcare.de.json", { with: { type: "json" } }),
  },
  legal: {
    en: () => import("../../case_sets/legal.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/legal.de.json", { with: { type: "json" } }),
  },
  employment: {
    en: () => import("../../case_sets/employment.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/employment.de.json", { with: { type: "json" } }),
  },
  education: {
    en: () => import("../../case_sets/education.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/education.de.json", { with: { type: "json" } }),
  },
  public_sector: {
    en: () => import("../../case_sets/public_sector.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/public_sector.de.json", { with: { type: "json" } }),
  },
  law_enforcement: {
    en: () => import("../../case_sets/law_enforcement.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/law_enforcement.de.json", { with: { type: "json" } }),
  },
  critical_infrastructure: {
    en: () => import("../../case_sets/critical_infrastructure.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/critical_infrastructure.de.json", { with: { type: "json" } }),
  },
  housing: {
    en: () => import("../../case_sets/housing.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/housing.de.json", { with: { type: "json" } }),
  },
  aviation: {
    en: () => import("../../case_sets/aviation.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/aviation.de.json", { with: { type: "json" } }),
  },
  pharmaceutical: {
    en: () => import("../../case_sets/pharmaceutical.en.json", { with: { type: "json" } }),
    de: () => import("../../case_sets/pharmaceutical.de.json", { with: { type: "json" } }),
  },
};

/** The program's own case set for a domain. */
export async function builtInCaseSet(domain: Domain, language: CaseSetLanguage): Promise<CaseSet> {
  return caseSetSchema.parse((await FILES[domain][language]()).default);
}
