/** A bar over the view while the service cannot be reached, which asks until it can. */
import { useEffect, useState } from "preact/hooks";
import { call } from "../shared/api.ts";
import { connection, onConnection } from "../shared/connection.ts";

/** Between two attempts to reach the service, in milliseconds. */
const ASK_EACH = 3000;

const CAUSES = {
  offline: "This browser has no connection.",
  unreachable: "The service cannot be reached: look whether it runs.",
} as const;

export function ConnectionBar() {
  const [now, setNow] = useState(connection);
  useEffect(() =>
    onConnection(() => {
      const next = connection();
      // While all is well nothing is drawn anew.
      setNow((before) => before.state === next.state && next.state === "connected" ? before : next);
    }), []);
  const isLost = now.state !== "connected";
  useEffect(() => {
    if (!isLost) return;
    const ask = () => {
      // The call itself reports what it finds out.
      if (navigator.onLine) call({ method: "GET", path: "/" }).catch(() => {});
    };
    const timer = setInterval(ask, ASK_EACH);
    addEventListener("online", ask);
    return () => {
      clearInterval(timer);
      removeEventListener("online", ask);
    };
  }, [isLost]);
  return (
    <div class="connection" role="status">
      {now.state !== "connected" && (
        <p data-connection={now.state}>
          {CAUSES[now.state]} {now.asOf !== null && `What is shown is as of ${timeInWords(now.asOf)}. `}
          The page goes on by itself once it is back.
        </p>
      )}
    </div>
  );
}

/** `11:45 UTC`. */
function timeInWords(instant: number): string {
  return `${new Date(instant).toISOString().slice(11, 16)} UTC`;
}
