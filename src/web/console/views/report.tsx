/** One report: the service's own page, shown in a frame that runs nothing. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { Report } from "../../../domain/report.ts";
import { periodInShort } from "../../../pages/period_words.ts";
import { signedReportIn } from "../../../pages/signed_report.ts";
import { Answered, Loading, View } from "../parts.tsx";
import { reportPagePath } from "../report_acts.tsx";
import { save } from "../../shared/save.ts";
import { useAnswer } from "../use_answer.ts";

const TITLE = "Compliance report";

export function ReportView() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const asked = useAnswer<string>({
    path: reportPagePath(id),
  }, { as: "text" });
  const { loaded } = asked;
  return (
    <View
      title={loaded.state === "ready" ? titleOf(loaded.body) : TITLE}
      within={{ path: "/console/reports", label: "Reports" }}
      line={<code>{id}</code>}
    >
      <Answered asked={asked}>{(html) => <Document id={id} html={html} />}</Answered>
    </View>
  );
}

/** The title with the period, which the page carries in its signed JSON. */
function titleOf(html: string): string {
  const signed = signedReportIn(html);
  if (signed === null) return TITLE;
  const { report: { period } }: { readonly report: Pick<Report, "period"> } = JSON.parse(signed);
  return `${TITLE}, ${periodInShort(period)}`;
}

/** The height of a frame that shows its whole page; null before it has one. */
function heightFor(frame: HTMLIFrameElement | null): number | null {
  const page = frame?.contentDocument?.documentElement;
  if (!frame || !page) return null;
  return Math.ceil(page.getBoundingClientRect().height) + frame.offsetHeight - frame.clientHeight;
}

function Document({ id, html }: { readonly id: string; readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const watch = useRef<ResizeObserver | null>(null);
  const [height, setHeight] = useState<number | null>(null);
  const measure = () => setHeight((before) => heightFor(frame.current) ?? before);
  // The page is higher in a narrower window, and while a fold of it is open.
  const follow = () => {
    const page = frame.current?.contentDocument?.documentElement;
    if (!page) return;
    measure();
    watch.current?.disconnect();
    watch.current = new ResizeObserver(measure);
    watch.current.observe(page);
  };
  useEffect(() => () => watch.current?.disconnect(), []);
  return (
    <>
      <div class="actions">
        <button class="main" type="button" onClick={() => frame.current?.contentWindow?.print()}>
          Print
        </button>
        <button type="button" onClick={() => save(`${id}.html`, "text/html", html)}>Save as a page</button>
      </div>
      {height === null && <Loading />}
      <iframe
        ref={frame}
        class={height === null ? "unmeasured" : undefined}
        title="Compliance report"
        sandbox="allow-same-origin allow-modals"
        srcdoc={html}
        height={height ?? 0}
        onLoad={follow}
      />
    </>
  );
}
