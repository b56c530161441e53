/**
 * The second listener, for whoever looks after the service: metrics, and whether it is alive and ready.
 * Source: contract, sections 1 (`JISS_METRICS_ADDR`) and 7.
 */
import { Hono } from "hono";
import { errorFields, type Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";

export interface ObservationOptions {
  readonly metrics: Metrics;
  readonly log: Log;
  isDraining(): boolean;
  /** Whether nothing is recorded because this machine's clock cannot be believed. */
  isClockRefused(): boolean;
  /** @throws where the database cannot be read. */
  reach(): Promise<unknown>;
}

/** `/healthz`: the process answers. `/readyz`: requests may be sent to it. `/metrics`. */
export function createObservation(
  { metrics, log, isDraining, isClockRefused, reach }: ObservationOptions,
): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    context.header("X-Content-Type-Options", "nosniff");
    context.header("Cache-Control", "no-store");
  });
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    if (isDraining()) return context.json({ status: "draining" }, 503);
    if (isClockRefused()) return context.json({ status: "clock refused" }, 503);
    try {
      await reach();
      return context.json({ status: "ready" });
    } catch (error) {
      log.error("the database cannot be read", errorFields(error));
      return context.json({ status: "database away" }, 503);
    }
  });
  app.get(
    "/metrics",
    async (context) => context.text(await metrics.text(), 200, { "Content-Type": metrics.contentType }),
  );
  app.onError((error, context) => {
    log.error("metrics cannot be read", errorFields(error));
    return context.json({ status: "error" }, 500);
  });
  return app;
}
