/** The parts of a case that a person decides: its material, and the form for the decision. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JissMeasurement } from "../collector/main.ts";
import type { Measure } from "./measuring.ts";

/** Measures a case from its appearance to the call of `stop`; `evidence` refers to the element with its material. */
export function useMeasurement(measure: Measure) {
  const evidence = useRef<HTMLDivElement>(null);
  const end = useRef<(() => JissMeasurement) | null>(null);
  useLayoutEffect(() => {
    end.current = measure(evidence.current!);
    return end.current;
  }, []);
  return { evidence, stop: () => end.current!() };
}

/** A piece of the evidence: rows, paragraphs, or both. */
export interface Material {
  readonly title: string;
  /** Names and their values. */
  readonly rows?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Paragraphs. */
  readonly text?: readonly string[] | undefined;
}

/** Material that is folded away until it is opened. */
export interface View extends Material {
  /** Unique in its case. */
  readonly name: string;
}

/** A part of the case that takes the focus, so that reading by keyboard is measured like reading by mouse. */
export function Fact({ title, ...material }: Material) {
  return (
    <section class="fact" data-jiss-part tabIndex={0} role="group" aria-label={title}>
      <h3>{title}</h3>
      <Content {...material} />
    </section>
  );
}

export function FoldedView({ name, title, ...material }: View) {
  return (
    <details class="fact" data-jiss-part data-jiss-view={name}>
      <summary>{title}</summary>
      <Content {...material} />
    </details>
  );
}

function Content({ rows, text }: Pick<Material, "rows" | "text">) {
  return (
    <>
      {rows !== undefined && (
        <dl>
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {text?.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}
    </>
  );
}

interface ChoiceFormProperties {
  readonly legend: string;
  /** The choices, in their order. */
  readonly choices: readonly ComponentChildren[];
  /** The choice that is marked at first; null for none. */
  readonly marked?: number | null;
  /** Shown if nothing is chosen. */
  readonly missing: string;
  readonly submit: string;
  readonly onChosen: (index: number) => void;
}

export function ChoiceForm(
  { legend, choices, marked = null, missing, submit, onChosen }: ChoiceFormProperties,
) {
  const [chosen, setChosen] = useState<number | null>(marked);
  const [isMissing, setMissing] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const take = (event: Event) => {
    event.preventDefault();
    if (chosen !== null) return onChosen(chosen);
    setMissing(true);
    form.current!.querySelector("input")!.focus();
  };
  return (
    <form ref={form} onSubmit={take}>
      <fieldset class="choices">
        <legend>{legend}</legend>
        {choices.map((choice, index) => (
          <label key={index} class="choice">
            <input
              type="radio"
              name="choice"
              value={index}
              checked={chosen === index}
              aria-describedby={isMissing ? "missing" : undefined}
              onChange={() => {
                setChosen(index);
                setMissing(false);
              }}
            />
            <span>{choice}</span>
          </label>
        ))}
      </fieldset>
      <div role="alert">{isMissing && <p id="missing" class="wrong">{missing}</p>}</div>
      <button type="submit" class="main">{submit}</button>
    </form>
  );
}
