/**
 * The application of the metrics listener, for the service's administrators: metrics, liveness and readiness.
 * Source: contract, sections 1 (`JISS_METRICS_ADDR`) and 7.
 */
import { type Context, Hono } from "hono";
import { ServiceError } from "../domain/errors.ts";
import { errorFields, type Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Call } from "../operations/shared/call.ts";
import { envelope, errorBody } from "./render.ts";

export interface ObservationOptions {
  readonly metrics: Metrics;
  readonly log: Log;
  /** The instant and the id for a call that comes now. */
  newCall(): Call;
  isDraining(): boolean;
  /** Whether nothing is recorded because this machine's clock cannot be trusted. */
  isClockRefused(): boolean;
  /** Whether so much of the stored data was altered that requests should not be sent here. */
  isAltered(): boolean;
  /** @throws if the database cannot be read. */
  readDatabase(): Promise<unknown>;
}

/** `/healthz`: the process answers. `/readyz`: requests may be sent to it. `/metrics`: the metrics. */
export function createObservation(
  { metrics, log, newCall, isDraining, isClockRefused, isAltered, readDatabase }: ObservationOptions,
): Hono<ObservationEnvironment> {
  const app = new Hono<ObservationEnvironment>();
  app.use(async (context, next) => {
    const call = newCall();
    context.set("call", call);
    await next();
    context.header("X-Request-Id", call.requestId);
    context.header("X-Content-Type-Options", "nosniff");
    context.header("Cache-Control", "no-store");
  });
  app.get("/healthz", (context) => statusReply(context, "ok"));
  app.get("/readyz", async (context) => {
    if (isDraining()) return statusReply(context, "draining", 503);
    if (isClockRefused()) return statusReply(context, "clock refused", 503);
    if (isAltered()) return statusReply(context, "chains altered", 503);
    try {
      await readDatabase();
      return statusReply(context, "ready");
    } catch (error) {
      log.error("the database cannot be read", { ...requestFields(context), ...errorFields(error) });
      return statusReply(context, "database away", 503);
    }
  });
  app.get(
    "/metrics",
    async (context) => context.text(await metrics.text(), 200, { "Content-Type": metrics.contentType }),
  );
  app.notFound((context) =>
    errorReply(
      context,
      new ServiceError("NOT_FOUND", "There is no endpoint at this path: use /metrics, /healthz or /readyz."),
    )
  );
  app.onError((error, context) => {
    log.error("metrics cannot be read", { ...requestFields(context), ...errorFields(error) });
    return errorReply(
      context,
      new ServiceError("INTERNAL_ERROR", "The service failed on this request: its log says why."),
    );
  });
  return app;
}

type ObservationEnvironment = { Variables: { call: Call } };
type ObservationContext = Context<ObservationEnvironment>;

function statusReply(context: ObservationContext, status: string, code: 200 | 503 = 200): Response {
  return context.json({ status, ...envelope(context.var.call) }, code);
}

function errorReply(context: ObservationContext, error: ServiceError): Response {
  return context.json(errorBody(error, context.var.call), error.status);
}

function requestFields({ var: { call } }: ObservationContext) {
  return { request_id: call.requestId };
}
