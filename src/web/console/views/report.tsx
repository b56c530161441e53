/** One report: the service's own page, shown in a frame that runs nothing. */
import { useRef } from "preact/hooks";
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
    <View title="Compliance report">
      <p class="muted">
        <code>{id}</code>
      </p>
      <Answered asked={asked}>{(html) => <Document id={id} html={html} />}</Answered>
    </View>
  );
}

function Document({ id, html }: { readonly id: string; readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const fit = () => {
    const { current } = frame;
    const page = current?.contentDocument?.documentElement;
    if (!current || !page) return;
    const border = current.offsetHeight - current.clientHeight;
    current.height = String(page.scrollHeight + border);
  };
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
        onLoad={fit}
      />
    </>
  );
}
