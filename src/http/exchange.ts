/** The types of the HTTP layer: a route, a request in work, the services that it may use, and its reply. */
import type { Access } from "../domain/access.ts";
import type { Clock } from "../domain/world.ts";
import type { Context } from "hono";
import type { z } from "zod";
import type { ErrorCode } from "../domain/errors.ts";
import type { ClaimsMap } from "../identity/claims_map.ts";
import type { Oidc } from "../identity/oidc.ts";
import type { UsedOnce } from "../identity/used_once.ts";
import type { MasterScope, MasterSecrets } from "../keys/master_keys.ts";
import type { RateWindow } from "../limits/admission.ts";
import type { Networks } from "../limits/networks.ts";
import type { Log } from "../observability/log.ts";
import type { ObservedRequest } from "../observability/metrics.ts";
import type { BreachLog } from "../operations/organizations/breaches.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { Call, GrantedCaller } from "../operations/shared/call.ts";
import type { OpenSession } from "../operations/users/sessions.ts";
import type { AuthenticationFloor } from "./middleware/floor.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import type { Asked } from "./parse.ts";
import type { Reply } from "./reply.ts";
import type { BodyLease, BodyMemory } from "./body_memory.ts";

/** The facts about the program that `GET /v1` and the health check return. */
interface ServiceDescription {
  readonly version: string;
  readonly patent: Readonly<Record<string, unknown>>;
  /** Without a trailing slash. */
  readonly baseUrl: () => string;
}

/** The identity provider, and what its claims lead to. */
export interface Identifying {
  readonly oidc: Oidc;
  readonly issuer: string;
  readonly map: ClaimsMap;
  /** The logout tokens that were used, and the sign-ins that came back: each counts once. */
  readonly usedOnce: UsedOnce;
}

/** Everything that the HTTP layer uses. */
export interface Services {
  readonly dependencies: Dependencies;
  readonly masterSecrets: MasterSecrets;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with each answered request; undefined if requests are not counted. */
  readonly observe?: (request: ObservedRequest) => void;
  readonly breaches: BreachLog;
  /** Layer 1: the limit by address. */
  readonly addressWindow: RateWindow;
  /** Layer 2: the limit by key prefix. */
  readonly keyWindow: RateWindow;
  /** The limit of a user's session. */
  readonly sessionWindow: RateWindow;
  /** The limits of attempts to sign in as one user: from one address, and from all. */
  readonly signInWindows: { readonly address: RateWindow; readonly user: RateWindow };
  /** The identity provider that signs people in; null if there is none. */
  readonly identifying: Identifying | null;
  readonly trustedProxies: Networks;
  /** Whether the admin-dashboard endpoints are on; if not, they answer 501. */
  readonly adminDashboard: boolean;
  readonly description: ServiceDescription;
  readonly servesTls: boolean;
  /** Whether the service was told to stop: requests in flight are finished, new ones get 503. */
  readonly isDraining: () => boolean;
  /** Every operation of the service. */
  readonly catalogue: readonly Route[];
  readonly openApi: () => Record<string, unknown>;
  readonly bodies: BodyMemory;
  /** The challenges of passkeys that were answered: each counts once. */
  readonly usedChallenges: UsedOnce;
  /** Holds back the refusals of attempts to sign in. */
  readonly signInFloor: AuthenticationFloor;
}

/** The services that the caller of `createApp` provides; it makes the others itself. */
export type AppOptions =
  & Omit<Services, "catalogue" | "openApi" | "bodies" | "signInFloor" | "usedChallenges">
  & {
    /** The most bytes for request bodies held at once; undefined for the program's default. */
    readonly bodyMemoryBytes?: number;
  };

/** The facts about a request that are known before its handler runs. */
export interface Exchange {
  /** Its instant and id; for a repeated call, those of the first call. */
  call: Call;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  readonly address: string;
  /** Method and path of the catalogue's route or of the page; null if none matched. */
  route: string | null;
  caller: GrantedCaller | null;
  /** The user's session; null if the caller has a key, or is unknown. */
  session: OpenSession | null;
  /** Translates what a user may see only under pseudonyms; null if the caller sees operators' ids. */
  pseudonyms: Pseudonyms | null;
  /** Memory that the body holds until the request is answered. */
  readonly body: BodyLease;
  /** Whether the answer is a page, also for failures. */
  prefersPage: boolean;
  /** Headers that the answer carries, also if the request fails. */
  readonly headers: Headers;
}

/** The sender of a request. It tells the listener whose turn it is, so that slow clients can be closed. */
export interface Client {
  readonly peer: string;
  /** From now on the client waits for the service; this is also the state after the head of its request. */
  beginServiceTurn?(): void;
  /** From now on the service waits for the client to send its body, or to take an answer or a piece of it. */
  beginClientTurn?(): void;
  /**
   * Milliseconds for a whole body, even if there are other requests on the connection. It is a little more
   * than a connection may be silent.
   */
  readonly bodyMs?: number;
}

export type AppEnvironment = {
  Bindings: Client;
  Variables: { exchange: Exchange };
};

export type AppContext = Context<AppEnvironment>;

interface HandlerInput {
  readonly context: AppContext;
  readonly exchange: Exchange;
  /** The values of the path's parameters, not yet validated. */
  readonly path: Readonly<Record<string, string>>;
  /** The request, for its query and headers. */
  readonly request: Asked;
  /**
   * The parsed JSON body, not yet validated; undefined if the route has none, or an optional body is empty.
   */
  readonly json: unknown;
}

type Handler = (services: Services, input: HandlerInput) => Promise<Reply> | Reply;

type RouteAuth =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly access: Access }
  /** A user's session, of any role: what a user does for himself. */
  | { readonly kind: "user" }
  | { readonly kind: "master"; readonly scope: MasterScope };

export interface RouteExample {
  /** Says what the example shows. */
  readonly summary: string;
  /** Values of the path's parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface Route {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** The path, with `{name}` for each parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly auth: RouteAuth;
  /** Whether Layer 1 applies; false for health probes, so that a probe can never lock itself out. */
  readonly layer1: boolean;
  /** Whether people sign in here: their attempts have a budget of their own in Layer 1. Default: false. */
  readonly signsIn?: boolean;
  readonly pathParameters: z.ZodObject | null;
  readonly body: {
    readonly schema: z.ZodType;
    readonly limitBytes: number;
    /** Whether the body may be left out. */
    readonly optional?: boolean;
  } | null;
  /** Parameters of the query. */
  readonly parameters: z.ZodObject | null;
  /** Header of a parameter, read if the query does not have the parameter. */
  readonly parameterHeaders?: Readonly<Record<string, string>>;
  /** Whether the call must carry an Idempotency-Key. */
  readonly idempotent: boolean;
  /** Whether the call may carry an Idempotency-Key, which makes it safe to repeat. */
  readonly honoursIdempotencyKey?: boolean;
  /** Whether the API key must come in the header, even while other routes still accept it in the body. */
  readonly headerKeyOnly?: boolean;
  /** Whether it belongs to the admin dashboard: if that is off, an authenticated call gets 501. */
  readonly dashboard?: boolean;
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** null if the answer has no body, or is a standard document. */
    readonly schema: z.ZodType | null;
    /** Content types besides JSON that the answer may have. */
    readonly otherTypes?: readonly string[];
    /** Whether the answer is never JSON, always one of `otherTypes`. */
    readonly onlyOtherTypes?: boolean;
  };
  /** Whether `Accept` chooses between JSON and a page, also for failures. */
  readonly negotiated?: boolean;
  /** Errors of the operation, besides those that its authentication, its limits and its input imply. */
  readonly errors: readonly ErrorCode[];
  /** Examples; each is executed as a test. */
  readonly examples: readonly RouteExample[];
  readonly handler: Handler;
}
