/** One report: the service's own page, shown in a frame that runs nothing. */
import { useEffect, useRef } from "preact/hooks";
import { useRoute } from "preact-iso";
import { Answered, View } from "../parts.tsx";
import { save } from "../../shared/save.ts";
import { useAnswer } from "../use_answer.ts";

export function ReportView() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const asked = useAnswer<string>({
    path: `/v1/compliance/report/${encodeURIComponent(id)}?format=html`,
  }, { as: "text" });
  return (
    <View title="Compliance report" within={{ path: "/console/reports", label: "Reports" }}>
      <p class="muted">
        <code>{id}</code>
      </p>
      <Answered asked={asked}>{(html) => <Document id={id} html={html} />}</Answered>
    </View>
  );
}

function Document({ id, html }: { readonly id: string; readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const watch = useRef<ResizeObserver | null>(null);
  // The page is higher in a narrower window, and while a fold of it is open.
  const follow = () => {
    const page = frame.current?.contentDocument?.documentElement;
    if (!page) return;
    watch.current?.disconnect();
    watch.current = new ResizeObserver(() => {
      const { current } = frame;
      if (!current) return;
      const border = current.offsetHeight - current.clientHeight;
      current.height = String(Math.ceil(page.getBoundingClientRect().height) + border);
    });
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
      <iframe
        ref={frame}
        title="Compliance report"
        sandbox="allow-same-origin allow-modals"
        srcdoc={html}
        height="1200"
        onLoad={follow}
      />
    </>
  );
}
