/**
 * A folded part, drawn when it is first unfolded: the document is long, and a visitor wants only a part of
 * it.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface FoldedProps {
  readonly id?: string;
  readonly class?: string;
  readonly hidden?: boolean;
  readonly summary: ComponentChildren;
  /** True if it is unfolded from the beginning. */
  readonly open?: boolean;
  readonly children: () => ComponentChildren;
}

export function Folded({ summary, open = false, children, ...attributes }: FoldedProps) {
  const [isOpen, setOpen] = useState(open);
  const [wasOpened, setOpened] = useState(open);
  return (
    <details
      {...attributes}
      open={isOpen}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        if (event.currentTarget.open) setOpened(true);
      }}
    >
      <summary>{summary}</summary>
      {wasOpened && children()}
    </details>
  );
}
