/** Prints or saves the page of an issued report from its row. */
import { useState } from "preact/hooks";
import { save } from "../shared/save.ts";
import { Failure } from "./parts.tsx";
import { useCaller } from "./session.tsx";
import { useAction } from "./use_answer.ts";

/** The path of a report's page in the API. */
export function reportPagePath(id: string): string {
  return `/v1/compliance/report/${encodeURIComponent(id)}?format=html`;
}

export function ReportActs({ id, period }: { readonly id: string; readonly period: string }) {
  const caller = useCaller();
  const { busy, error, run } = useAction<string>();
  const [printed, setPrinted] = useState<string | null>(null);
  const page = () => run((patience) => caller.text({ path: reportPagePath(id) }, { patience }));
  const print = async () => {
    // The same page would not load anew: it has to leave first.
    setPrinted(null);
    setPrinted(await page());
  };
  const keep = async () => {
    const html = await page();
    if (html !== null) save(`${id}.html`, "text/html", html);
  };
  return (
    <>
      <div class="actions">
        <button type="button" disabled={busy} onClick={print} aria-label={`Print ${period}`}>Print</button>
        <button type="button" disabled={busy} onClick={keep} aria-label={`Save ${period}`}>Save</button>
      </div>
      {error !== null && <Failure error={error} />}
      {printed !== null && (
        <iframe
          class="hidden"
          title="The page that is printed"
          aria-hidden="true"
          tabIndex={-1}
          sandbox="allow-same-origin allow-modals"
          srcdoc={printed}
          onLoad={(event) => event.currentTarget.contentWindow?.print()}
        />
      )}
    </>
  );
}
