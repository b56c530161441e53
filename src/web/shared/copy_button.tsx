/** Copies a text; on plain HTTP too, where browsers have no clipboard for pages. */
import { useRef, useState } from "preact/hooks";

export function CopyButton({ text, of }: { readonly text: () => string; readonly of: string }) {
  const [said, setSaid] = useState("");
  const timer = useRef(0);
  async function copy() {
    const done = await copyText(text());
    setSaid(done ? "Copied" : "Select the text and copy it");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(""), 4000);
  }
  return (
    <span class="copy">
      <button type="button" onClick={copy}>Copy {of}</button> <span role="status">{said}</span>
    </span>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** Copies by selection, in browsers without a clipboard for pages. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
