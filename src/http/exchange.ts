/** The HTTP layer's nouns: a route, one request on its way, what it may use, and what it is answered with. */
import type { Clock } from "../domain/world.ts";
import type { Context } from "hono";
import type { z } from "zod";
import type { ErrorCode } from "../domain/errors.ts";
import type { MasterScope, MasterSecrets } from "../keys/master_keys.ts";
import type { RateWindow } from "../limits/admission.ts";
import type { Networks } from "../limits/networks.ts";
import type { Log } from "../observability/log.ts";
import type { ObservedRequest } from "../observability/metrics.ts";
import type { BreachLog } from "../operations/organizations/breaches.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { Call, OrganizationCaller } from "../operations/shared/call.ts";
import type { BodyLease, BodyMemory } from "./body_memory.ts";
import type { ParameterSource } from "./parse.ts";

/** What `GET /v1` and the health check say of the program. */
export interface ServiceDescription {
  readonly version: string;
  readonly patent: Readonly<Record<string, unknown>>;
  /** Without a trailing slash. */
  readonly baseUrl: () => string;
}

/** Everything that the HTTP layer stands on. */
export interface Services {
  readonly dependencies: Dependencies;
  readonly masterSecrets: MasterSecrets;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of each request that was answered, where somebody counts them. */
  readonly observe?: (request: ObservedRequest) => void;
  readonly breaches: BreachLog;
  /** Layer 1, by address. */
  readonly addressWindow: RateWindow;
  /** Layer 2, by key prefix. */
  readonly keyWindow: RateWindow;
  readonly trustedProxies: Networks;
  /** Whether the admin-dashboard endpoints do what they say. */
  readonly adminDashboard: boolean;
  readonly description: ServiceDescription;
  readonly servesTls: boolean;
  /** Whether the service was told to stop: what is in flight is finished, what comes gets 503. */
  readonly isDraining: () => boolean;
  /** Every operation of the service. */
  readonly catalogue: readonly Route[];
  readonly openApi: () => Record<string, unknown>;
  readonly bodies: BodyMemory;
}

/** What the application is composed with; the catalogue is its own. */
export type AppOptions = Omit<Services, "catalogue" | "openApi" | "bodies"> & {
  /** Of request bodies that are held at once, where that is not the program's own bound. */
  readonly bodyMemoryBytes?: number;
};

/** What is known of a request before its handler runs. */
export interface Exchange {
  /** Its own instant and id; a repeated call takes on those of the first. */
  call: Call;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  readonly address: string;
  /** Method and path as the catalogue has them; null where there is nothing. */
  route: string | null;
  caller: OrganizationCaller | null;
  /** What its body takes, until it is answered. */
  readonly body: BodyLease;
  /** Whether it is answered with a page, failures included. */
  prefersPage: boolean;
  /** Headers that the answer carries, whatever becomes of the request. */
  readonly headers: Headers;
}

/** Who sent a request. Told whose turn it is, the listener lets go whoever has the service wait too long. */
export interface Client {
  readonly peer: string;
  /** From now on the client waits for the service, as it does from the head of its request on. */
  waits?(): void;
  /** From now on the service waits for the client, which has a body to send, or an answer or a piece of it to take. */
  isWaitedFor?(): void;
  /**
   * Milliseconds for a whole body, whatever else happens on the connection: a little more than the connection itself
   * has where nothing else does.
   */
  readonly bodyMs?: number;
}

export type AppEnvironment = {
  Bindings: Client;
  Variables: { exchange: Exchange };
};

export type AppContext = Context<AppEnvironment>;

/** A successful answer. */
export type Reply = JsonReply | WrittenReply | TextReply | StreamReply;

/** The envelope's `request_id` and `timestamp` are added when it is rendered. */
export interface JsonReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of the call that was answered first, where this one repeats it. */
  readonly call?: Call;
  readonly replayed?: boolean;
  /** A body that is a standard document carries no envelope. */
  readonly document?: boolean;
}

/** A body that is written already, but for the envelope. */
export interface WrittenReply extends Pick<JsonReply, "status" | "call" | "replayed"> {
  /** JSON of an object. */
  readonly json: string;
}

/** A body that is a standard document of another kind: a picture, a page. */
export interface TextReply {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
}

/** A document that is sent as it is made, so that its length never matters; cut short where making it fails. */
export interface StreamReply {
  readonly status: number;
  readonly pieces: AsyncGenerator<string>;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its Content-Security-Policy, where it is a page. */
  readonly policy?: string;
}

export interface HandlerInput {
  readonly context: AppContext;
  readonly exchange: Exchange;
  /** The parsed JSON body, not yet validated; undefined on a route without body. */
  readonly json: unknown;
}

export type Handler = (services: Services, input: HandlerInput) => Promise<Reply> | Reply;

export type RouteAuth =
  | { readonly kind: "none" }
  | { readonly kind: "key" }
  | { readonly kind: "master"; readonly scope: MasterScope };

export interface RouteExample {
  /** What the example shows. */
  readonly summary: string;
  /** Values of the path's parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface Route {
  readonly method: "GET" | "HEAD" | "POST" | "DELETE";
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly auth: RouteAuth;
  /** False for what a health probe asks, so that it can never lock itself out. */
  readonly layer1: boolean;
  readonly pathParameters: z.ZodObject | null;
  readonly body: {
    readonly schema: z.ZodType;
    readonly limitBytes: number;
    /** Whether it may be left out. */
    readonly optional?: boolean;
  } | null;
  readonly parameters: {
    readonly schema: z.ZodObject;
    readonly sources: readonly ParameterSource[];
  } | null;
  /** The call must carry an Idempotency-Key. */
  readonly idempotent: boolean;
  /** Whether the call may carry an Idempotency-Key, which then makes it safe to repeat. */
  readonly honoursIdempotencyKey?: boolean;
  /** Whether the key must come in the header, also while one in the body is still accepted elsewhere. */
  readonly headerKeyOnly?: boolean;
  /** Whether it belongs to the admin dashboard: where that is off, an authenticated call gets 501. */
  readonly dashboard?: boolean;
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** null: no body, or a standard document. */
    readonly schema: z.ZodType | null;
    /** Other content types that it can be asked for. */
    readonly otherTypes?: readonly string[];
    /** Whether it is none but those. */
    readonly onlyOtherTypes?: boolean;
  };
  /** Whether `Accept` chooses between JSON and a page, for failures too. */
  readonly negotiated?: boolean;
  /** Errors that the operation can answer with, besides those that its authentication and body imply. */
  readonly errors: readonly ErrorCode[];
  /** Each is executed as a test. */
  readonly examples: readonly RouteExample[];
  readonly handler: Handler;
}
