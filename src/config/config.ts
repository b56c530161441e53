/**
 * Turns the environment into one frozen configuration, or reports every problem at once.
 *
 * Only this module interprets the environment. A problem names the variable, what is wrong and how to mend it, and
 * never shows the value. Source: contract, section 1.
 */
import { PRIVACIES, type Privacy } from "../domain/enums.ts";
import { issueInWords } from "../domain/issue_words.ts";
import type { Environment, ReadFile } from "./environment.ts";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { closest } from "fastest-levenshtein";
import * as z from "zod";
import {
  RATE_LIMIT_IP_DEFAULT,
  RATE_LIMIT_KEY_DEFAULT,
  RATE_LIMIT_MAX,
  RATE_LIMIT_SESSION_DEFAULT,
  SECRET_MIN_LENGTH,
  SESSION_HOURS_DEFAULT,
  SESSION_HOURS_MAX,
  SESSION_IDLE_MINUTES_DEFAULT,
  SESSION_IDLE_MINUTES_MAX,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_BACKOFF_MS_DEFAULT,
  WEBHOOK_BACKOFF_MS_MAX,
  WEBHOOK_TIMEOUT_MS_DEFAULT,
  WEBHOOK_TIMEOUT_MS_MAX,
  WEBHOOK_TIMEOUT_MS_MIN,
} from "../domain/limits.ts";
import { createOrganizationSchema } from "../domain/organization.ts";
import { userRequestSchema } from "../domain/user.ts";
import { type ClaimsMap, claimsMapSchema } from "../identity/claims_map.ts";
import { OidcRefused } from "../identity/refusal.ts";
import { checkSettings, type OidcSettings, PROVIDER_TIMEOUT_MS } from "../identity/settings.ts";
import { MASTER_SCOPES, masterSecretNames, type MasterSecrets, sharedSecrets } from "../keys/master_keys.ts";
import { deriveSecretsKey } from "../keys/secrets.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument, modelSchema } from "../scoring/model.ts";
import { certificatesIn, systemCertificates } from "./certificates.ts";
import { isClaimed, KNOWN_VARIABLES, SECRET_VARIABLES } from "./variables.ts";

/** The `patent` object of `GET /v1`, as the administrator states it. */
const patentSchema = z.strictObject({
  status: z.string(),
  filed: z.string().nullable(),
  confirmation: z.string().nullable(),
  claims: z.int().min(0),
});
type Patent = z.infer<typeof patentSchema>;

const bootstrapSchema = createOrganizationSchema.extend({
  api_key_file: z.string().min(1),
  /** The first user, an admin, whose invitation is written to a file. */
  admin: userRequestSchema.omit({ role: true }).extend({ link_file: z.string().min(1) }).optional(),
});
export type BootstrapOrganization = z.output<typeof bootstrapSchema>;

/** The location of the database: a file of this host, or a libSQL server that hosts share. */
type DatabaseLocation =
  | { readonly kind: "file"; readonly path: string }
  | {
    readonly kind: "server";
    readonly url: string;
    readonly authToken: string | null;
    /** Address at which its durability can be set; null if it is only checked. */
    readonly adminUrl: string | null;
  };

export interface Config {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Address of the listener for metrics; null if there is none. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Without a trailing slash; null if it is derived from the listener. */
  readonly baseUrl: string | null;
  readonly dataDir: string;
  readonly database: DatabaseLocation;
  readonly lockFile: string;
  readonly signingKeyFile: string;
  readonly previousSigningKeyFile: string;
  /** Other files from which secrets are read. */
  readonly secretFiles: readonly string[];
  /** The pepper in use, followed by the previous one. */
  readonly peppers: readonly string[];
  /** The key that wraps secrets at rest, followed by earlier keys with which some may still be wrapped. */
  readonly secretsKeys: readonly Uint8Array[];
  readonly masterSecrets: MasterSecrets;
  /** Whether the admin-dashboard endpoints are enabled; if not, they answer 501. */
  readonly adminDashboard: boolean;
  readonly rateLimitIp: number;
  readonly rateLimitKey: number;
  readonly rateLimitSession: number;
  /** The identity provider that signs people in; null if there is none. */
  readonly oidc: OidcConfig | null;
  /** After which a user's session ends. */
  readonly sessionHours: number;
  /** Minutes without a request after which a user's session ends. */
  readonly sessionIdleMinutes: number;
  /** Whether users see operators under their names or under pseudonyms. */
  readonly privacy: Privacy;
  /**
   * File or address of the Deno KV store for rate limits that processes share; null if each process counts in
   * memory.
   */
  readonly rateLimitKv: string | null;
  readonly bootstrapOrganization: BootstrapOrganization | null;
  readonly trustedProxies: readonly string[];
  /** Networks that webhooks may call in addition to public addresses. */
  readonly webhookAllow: readonly string[];
  /** Waits before attempts 2 and 3 of a delivery, milliseconds. */
  readonly webhookBackoffMs: readonly number[];
  /** Limit for a whole attempt, milliseconds. */
  readonly webhookTimeoutMs: number;
  /** PEM: the system's certificates, followed by additional ones that are trusted. */
  readonly certificates: readonly string[];
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** null means `pretty` on a terminal, otherwise `json`. */
  readonly logFormat: "json" | "pretty" | null;
  /** First part of every chain's origin. */
  readonly logName: string;
  readonly auditRetentionDays: number;
  /** null if evidence is kept for good. */
  readonly evidenceRetentionDays: number | null;
  /** Retention of runs of the public demo. */
  readonly assessmentRetentionDays: number;
  readonly model: ModelDocument;
  /** A candidate model that runs beside the model in use; null if there is none. */
  readonly shadowModel: ModelDocument | null;
  readonly patent: Patent;
}

/** An OpenID provider, and what its claims lead to. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** null for a public client. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  /** Whether the provider's UserInfo endpoint is asked, too. */
  readonly userInfo: boolean;
  readonly map: ClaimsMap;
}

/** All problems of the configuration, one line for each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

const DEFAULT_PATENT: Patent = { status: "none", filed: null, confirmation: null, claims: 0 };
const MAX_PORT = 65_535;
const MAX_RETENTION_DAYS = 36_500;

/** Collects problems while variables are read, so that all of them are reported at once. */
class Reader {
  readonly problems: string[] = [];

  constructor(private readonly environment: Environment, private readonly readFile: ReadFile) {}

  problem(name: string, message: string): void {
    this.problems.push(`${name} ${message}`);
  }

  /** The variable's text; undefined if it is unset or empty. */
  text(name: string): string | undefined {
    const value = this.environment[name];
    return value === "" ? undefined : value;
  }

  /** Parses a variable. If `parse` throws, that is reported as a problem of the variable. */
  parse<T>(name: string, fallback: T, parse: (text: string) => T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    try {
      return parse(text);
    } catch (error) {
      this.problem(name, (error as Error).message);
      return fallback;
    }
  }

  integer(name: string, fallback: number, [low, high]: readonly [number, number]): number {
    return this.parse(name, fallback, (text) => {
      const value = Number(text);
      if (!/^[0-9]+$/.test(text) || !(value >= low && value <= high)) {
        throw new Error(`must be a whole number from ${low} to ${high}`);
      }
      return value;
    });
  }

  /** The content of a file that a variable names; undefined, with a problem, if it cannot be read. */
  file(name: string, path: string): string | undefined {
    try {
      return this.readFile(path);
    } catch {
      this.problem(name, "names a file that cannot be read: check the path and the file's permissions");
      return undefined;
    }
  }

  /** The name of the variable that holds a secret: `NAME`, or `NAME_FILE` if that is set. */
  variableHolding(name: string): string {
    return this.text(`${name}_FILE`) === undefined ? name : `${name}_FILE`;
  }

  /** A secret, from its variable or from the file that its `…_FILE` form names. */
  secret(name: string): string | undefined {
    const direct = this.text(name);
    const path = this.text(`${name}_FILE`);
    if (direct !== undefined && path !== undefined) {
      this.problem(name, `and ${name}_FILE are both set: keep one of them`);
      return undefined;
    }
    const value = path === undefined ? direct : this.file(`${name}_FILE`, path)?.replace(/\r?\n$/, "");
    if (value === undefined) return undefined;
    // The provider makes it; how long it is, is not this program's to say.
    const isGiven = name === "JISS_OIDC_CLIENT_SECRET";
    if (isGiven && value === "") {
      this.problem(
        this.variableHolding(name),
        "is empty: put the secret there that the identity provider shows",
      );
      return undefined;
    }
    if (!isGiven && value.length < SECRET_MIN_LENGTH) {
      this.problem(
        this.variableHolding(name),
        `must hold at least ${SECRET_MIN_LENGTH} characters: ${
          name === "JISS_DATABASE_AUTH_TOKEN"
            ? "set the token that the libSQL server expects (docs/operate/replicas.md)"
            : "generate one, for example with `jiss init`"
        }`,
      );
      return undefined;
    }
    return value;
  }

  /** The JSON of a file, validated. Every issue is reported as a problem with its place in the document. */
  document<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> | undefined {
    const path = this.text(name);
    const text = path === undefined ? undefined : this.file(name, path);
    if (text === undefined) return undefined;
    return this.json(name, text, schema);
  }

  json<Schema extends z.ZodType>(name: string, text: string, schema: Schema): z.output<Schema> | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.problem(name, "does not hold valid JSON");
      return undefined;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const place = issue.path.length === 0 ? "the document" : issue.path.join(".");
      this.problem(name, `${place}: ${issueInWords(issue, value)}`);
    }
    return undefined;
  }
}

/**
 * Reads the whole configuration.
 * @throws {ConfigError} with every problem.
 */
export function readConfig(environment: Environment, readFile: ReadFile): Config {
  const reader = new Reader(environment, readFile);
  refuseUnknownVariables(reader, environment);

  const secrets = new Map(SECRET_VARIABLES.map((name) => [name, reader.secret(name)]));
  refuseSharedSecrets(reader, secrets);
  refuseUnsendableSecrets(reader, secrets);
  const pepper = requirePepper(reader, secrets);
  const previousPepper = secrets.get("JISS_KEY_PEPPER_PREVIOUS");
  const secretsKey = secrets.get("JISS_SECRETS_KEY");
  const wrappingSecrets = [secretsKey, pepper, previousPepper].filter((secret) => secret !== undefined);

  const model = modelIn(reader);
  const config: Config = {
    ...listenerOf(reader),
    ...storageOf(reader, { environment, readFile, authToken: secrets.get("JISS_DATABASE_AUTH_TOKEN") }),
    secretFiles: secretFilesOf(reader),
    peppers: [pepper, previousPepper].filter((value) => value !== undefined),
    secretsKeys: wrappingSecrets.map(deriveSecretsKey),
    masterSecrets: readMasterSecrets(secrets),
    metrics: reader.parse("JISS_METRICS_ADDR", null, parseMetricsAddress),
    rateLimitIp: reader.integer("JISS_RATE_LIMIT_IP", RATE_LIMIT_IP_DEFAULT, [1, RATE_LIMIT_MAX]),
    rateLimitKey: reader.integer("JISS_RATE_LIMIT_KEY", RATE_LIMIT_KEY_DEFAULT, [1, RATE_LIMIT_MAX]),
    rateLimitSession: reader.integer("JISS_RATE_LIMIT_SESSION", RATE_LIMIT_SESSION_DEFAULT, [
      1,
      RATE_LIMIT_MAX,
    ]),
    sessionHours: reader.integer("JISS_SESSION_HOURS", SESSION_HOURS_DEFAULT, [1, SESSION_HOURS_MAX]),
    sessionIdleMinutes: reader.integer("JISS_SESSION_IDLE_MINUTES", SESSION_IDLE_MINUTES_DEFAULT, [
      1,
      SESSION_IDLE_MINUTES_MAX,
    ]),
    privacy: reader.parse("JISS_PRIVACY", "named", parsePrivacy),
    oidc: oidcOf(reader, secrets.get("JISS_OIDC_CLIENT_SECRET")),
    rateLimitKv: rateLimitKvOf(reader),
    bootstrapOrganization: reader.document("JISS_BOOTSTRAP_ORG_FILE", bootstrapSchema) ?? null,
    trustedProxies: reader.parse("JISS_TRUSTED_PROXIES", [], parseCidrs),
    webhookAllow: reader.parse("JISS_WEBHOOK_ALLOW", [], parseCidrs),
    webhookBackoffMs: reader.parse("JISS_WEBHOOK_BACKOFF_MS", WEBHOOK_BACKOFF_MS_DEFAULT, parseBackoff),
    webhookTimeoutMs: reader.integer("JISS_WEBHOOK_TIMEOUT_MS", WEBHOOK_TIMEOUT_MS_DEFAULT, [
      WEBHOOK_TIMEOUT_MS_MIN,
      WEBHOOK_TIMEOUT_MS_MAX,
    ]),
    tls: readTls(reader),
    adminDashboard: reader.parse("JISS_ADMIN_DASHBOARD", false, parseSwitch),
    logFormat: reader.parse("JISS_LOG", null, parseLogFormat),
    logName: reader.parse("JISS_LOG_NAME", "jiss.local", parseLogName),
    auditRetentionDays: reader.integer("JISS_AUDIT_RETENTION_DAYS", 90, [1, MAX_RETENTION_DAYS]),
    evidenceRetentionDays: reader.parse("JISS_EVIDENCE_RETENTION_DAYS", null, parseEvidenceRetention),
    assessmentRetentionDays: reader.integer("JISS_ASSESSMENT_RETENTION_DAYS", 30, [1, MAX_RETENTION_DAYS]),
    model,
    shadowModel: shadowModelIn(reader, model),
    patent: readPatent(reader),
  };
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return Object.freeze(config);
}

/** The locations of all stored data: sufficient for exporting evidence. */
export type StorageConfig = Pick<
  Config,
  "dataDir" | "database" | "certificates" | "lockFile" | "signingKeyFile" | "previousSigningKeyFile"
>;

/** Reads the storage part of the configuration. @throws {ConfigError} with every problem in it. */
export function readStorage(environment: Environment, readFile: ReadFile): StorageConfig {
  const reader = new Reader(environment, readFile);
  refuseUnknownVariables(reader, environment);
  const storage = storageOf(reader, {
    environment,
    readFile,
    authToken: reader.secret("JISS_DATABASE_AUTH_TOKEN"),
  });
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return storage;
}

interface StorageSources {
  readonly environment: Environment;
  readonly readFile: ReadFile;
  readonly authToken: string | undefined;
}

function storageOf(reader: Reader, { environment, readFile, authToken }: StorageSources): StorageConfig {
  const dataDir = dataDirOf(reader);
  return {
    dataDir,
    database: databaseOf(reader, { dataDir, authToken }),
    certificates: [...systemCertificates(environment, readFile), ...extraCertificatesOf(reader)],
    lockFile: `${dataDir}/lock.db`,
    signingKeyFile: reader.text("JISS_SIGNING_KEY_FILE") ?? `${dataDir}/signing-key.pem`,
    previousSigningKeyFile: reader.text("JISS_SIGNING_KEY_PREVIOUS_FILE") ??
      `${dataDir}/signing-key-previous.pem`,
  };
}

/** Reports a problem if a setting for a server is given with a file: it would have no effect, silently. */
function databaseOf(
  reader: Reader,
  { dataDir, authToken }: { readonly dataDir: string; readonly authToken: string | undefined },
): DatabaseLocation {
  const defaultLocation = { kind: "file", path: `${dataDir}/jiss.db` } as const;
  const location = reader.parse<ParsedDatabaseUrl>("JISS_DATABASE_URL", defaultLocation, parseDatabaseUrl);
  const adminUrl = reader.parse("JISS_DATABASE_ADMIN_URL", null, parseAdminUrl);
  if (location.kind === "server") return { ...location, authToken: authToken ?? null, adminUrl };
  const unused = [
    ...(authToken === undefined ? [] : [reader.variableHolding("JISS_DATABASE_AUTH_TOKEN")]),
    ...(adminUrl === null ? [] : ["JISS_DATABASE_ADMIN_URL"]),
  ];
  for (const name of unused) {
    reader.problem(
      name,
      "is only for a libSQL server, but JISS_DATABASE_URL names none: unset it, or set JISS_DATABASE_URL to the server",
    );
  }
  return location;
}

function secretFilesOf(reader: Reader): readonly string[] {
  return [...SECRET_VARIABLES.map((name) => `${name}_FILE`), "JISS_TLS_KEY_FILE"]
    .map((name) => reader.text(name)).filter((path) => path !== undefined);
}

function dataDirOf(reader: Reader): string {
  return reader.text("JISS_DATA_DIR") ?? "./data";
}

/** The service's listener: sufficient for a health check and the OpenAPI document. */
export type ListenerConfig = Pick<Config, "host" | "port" | "baseUrl"> & { readonly tls: boolean };

/** Reads the listener part of the configuration. @throws {ConfigError} with every problem in it. */
export function readListener(environment: Environment): ListenerConfig {
  const reader = new Reader(environment, () => "");
  const listener = { ...listenerOf(reader), tls: reader.text("JISS_TLS_CERT_FILE") !== undefined };
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return listener;
}

function listenerOf(reader: Reader): Pick<Config, "host" | "port" | "baseUrl"> {
  return {
    host: reader.parse("JISS_HOST", "127.0.0.1", parseHost),
    port: reader.integer("JISS_PORT", 8080, [0, MAX_PORT]),
    baseUrl: reader.parse("JISS_BASE_URL", null, parseBaseUrl),
  };
}

/** The identity provider. Reports a problem if only some of its settings are given, or pages have no address. */
function oidcOf(reader: Reader, clientSecret: string | undefined): OidcConfig | null {
  const names = ["JISS_OIDC_ISSUER", "JISS_OIDC_CLIENT_ID", "JISS_OIDC_MAP_FILE"] as const;
  const [issuer, clientId, mapFile] = names.map((name) => reader.text(name));
  const others = ["JISS_OIDC_SCOPES", "JISS_OIDC_USERINFO"].filter((name) => reader.text(name) !== undefined);
  if (clientSecret !== undefined) others.push(reader.variableHolding("JISS_OIDC_CLIENT_SECRET"));
  if (issuer === undefined && clientId === undefined && mapFile === undefined) {
    for (const name of others) {
      reader.problem(name, "has no effect without JISS_OIDC_ISSUER: set that, or unset this");
    }
    return null;
  }
  const missing = names.filter((name) => reader.text(name) === undefined);
  for (const name of missing) {
    reader.problem(name, "is missing: an identity provider needs its issuer, a client id and a map");
  }
  if (reader.text("JISS_BASE_URL") === undefined) {
    reader.problem("JISS_BASE_URL", "is missing: the identity provider sends people back to this address");
  }
  const map = reader.document("JISS_OIDC_MAP_FILE", claimsMapSchema);
  const scopes = reader.parse(
    "JISS_OIDC_SCOPES",
    ["openid", "profile", "email"],
    (text) => text.trim().split(/\s+/),
  );
  const userInfo = reader.parse("JISS_OIDC_USERINFO", true, parseSwitch);
  if (issuer === undefined || clientId === undefined || map === undefined) return null;
  const config = { issuer, clientId, clientSecret: clientSecret ?? null, scopes, userInfo, map };
  try {
    const baseUrl = reader.parse("JISS_BASE_URL", null, parseBaseUrl);
    checkSettings(oidcSettings(config, baseUrl ?? "https://jiss.invalid"));
  } catch (error) {
    if (!(error instanceof OidcRefused)) throw error;
    reader.problem(
      "JISS_OIDC_ISSUER",
      `and the other settings of the identity provider cannot work: ${error.message}`,
    );
  }
  return config;
}

/** The settings of the client that asks the provider; `baseUrl` is where browsers reach this service. */
export function oidcSettings(
  { issuer, clientId, clientSecret, scopes, userInfo }: OidcConfig,
  baseUrl: string,
): OidcSettings {
  return {
    issuer,
    clientId,
    clientSecret,
    secretMethod: null,
    redirectUri: `${baseUrl}/sign-in/oidc/callback`,
    scopes,
    postLogoutRedirectUri: `${baseUrl}/console`,
    userInfo,
    timeoutMs: PROVIDER_TIMEOUT_MS,
  };
}

/** The model document in use. @throws {ConfigError} if it is invalid. */
export function readModel(environment: Environment, readFile: ReadFile): ModelDocument {
  const reader = new Reader(environment, readFile);
  const model = modelIn(reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return model;
}

/** The certificates of `JISS_EXTRA_CA_FILE`. */
function extraCertificatesOf(reader: Reader): readonly string[] {
  const name = "JISS_EXTRA_CA_FILE";
  const path = reader.text(name);
  const text = path === undefined ? undefined : reader.file(name, path);
  if (text === undefined) return [];
  const certificates = certificatesIn(text);
  if (certificates.length === 0) {
    reader.problem(name, "names a file without a certificate: the file must contain certificates in PEM");
  } else if (certificates.some((pem) => tryParse(pem, (text) => new X509Certificate(text)) === null)) {
    reader.problem(name, "names a file with an invalid certificate: replace it");
  }
  return certificates;
}

function modelIn(reader: Reader): ModelDocument {
  return reader.document("JISS_SCORING_MODEL_FILE", modelSchema) ?? DEFAULT_MODEL_DOCUMENT;
}

/** The candidate model. Reports a problem if it is the model in use: it would compare nothing, silently. */
function shadowModelIn(reader: Reader, inUse: ModelDocument): ModelDocument | null {
  const name = "JISS_SCORING_SHADOW_MODEL_FILE";
  const candidate = reader.document(name, modelSchema) ?? null;
  if (candidate !== null && isDeepStrictEqual(candidate, inUse)) {
    reader.problem(name, "names the model that is in use: unset it, or name a different candidate");
  }
  return candidate;
}

function refuseUnknownVariables(reader: Reader, environment: Environment): void {
  for (const name of Object.keys(environment)) {
    if (!isClaimed(name) || KNOWN_VARIABLES.includes(name)) continue;
    reader.problem(
      name,
      `is not a variable of this program: did you mean ${closest(name, [...KNOWN_VARIABLES])}?`,
    );
  }
}

function refuseSharedSecrets(reader: Reader, secrets: ReadonlyMap<string, string | undefined>): void {
  const named = [...secrets].flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  for (const [first, second] of sharedSecrets(named)) {
    reader.problem(
      reader.variableHolding(second),
      `holds the same value as ${reader.variableHolding(first)}: generate a separate secret for each`,
    );
  }
}

/** A value that a header carries unchanged: printable ASCII without a blank at either end. */
const SENDABLE = /^[!-~](?:[ -~]*[!-~])?$/;

function refuseUnsendableSecrets(reader: Reader, secrets: ReadonlyMap<string, string | undefined>): void {
  for (const name of [...MASTER_SCOPES.flatMap(masterSecretNames), "JISS_DATABASE_AUTH_TOKEN"]) {
    const value = secrets.get(name);
    if (value === undefined || SENDABLE.test(value)) continue;
    reader.problem(
      reader.variableHolding(name),
      "cannot be sent in a header: use ASCII characters, without a space at either end",
    );
  }
}

function requirePepper(reader: Reader, secrets: ReadonlyMap<string, string | undefined>): string | undefined {
  const pepper = secrets.get("JISS_KEY_PEPPER");
  const named = reader.text("JISS_KEY_PEPPER") ?? reader.text("JISS_KEY_PEPPER_FILE");
  if (named === undefined) {
    reader.problem(
      "JISS_KEY_PEPPER",
      "is required: `jiss init` writes it, with the other secrets, to jiss.env",
    );
  }
  return pepper;
}

function readMasterSecrets(secrets: ReadonlyMap<string, string | undefined>): MasterSecrets {
  return Object.fromEntries(MASTER_SCOPES.map((scope) => [
    scope,
    masterSecretNames(scope).map((name) => secrets.get(name)).filter((value) => value !== undefined),
  ]));
}

function readTls(reader: Reader): Config["tls"] {
  const [certName, keyName] = ["JISS_TLS_CERT_FILE", "JISS_TLS_KEY_FILE"] as const;
  const [certPath, keyPath] = [reader.text(certName), reader.text(keyName)];
  if (certPath === undefined && keyPath === undefined) return null;
  if (certPath === undefined) reader.problem(certName, "is missing: HTTPS needs both files");
  if (keyPath === undefined) reader.problem(keyName, "is missing: HTTPS needs both files");
  const cert = certPath === undefined ? undefined : reader.file(certName, certPath);
  const key = keyPath === undefined ? undefined : reader.file(keyName, keyPath);
  const certificate = tryParse(cert, (text) => new X509Certificate(text));
  const privateKey = tryParse(key, createPrivateKey);
  if (certificate === null) reader.problem(certName, "does not hold a certificate in PEM");
  if (privateKey === null) reader.problem(keyName, "does not hold a private key in PEM");
  if (certificate && privateKey && !certificate.checkPrivateKey(privateKey)) {
    reader.problem(keyName, `is not the key of the certificate in ${certName}`);
  }
  return cert === undefined || key === undefined ? null : { cert, key };
}

/** undefined if there is no text; null if it cannot be parsed. */
function tryParse<T>(text: string | undefined, parse: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch {
    return null;
  }
}

function readPatent(reader: Reader): Patent {
  const text = reader.text("JISS_PATENT_JSON");
  return (text === undefined ? undefined : reader.json("JISS_PATENT_JSON", text, patentSchema)) ??
    DEFAULT_PATENT;
}

function rateLimitKvOf(reader: Reader): string | null {
  const store = reader.parse("JISS_RATE_LIMIT_STORE", "memory", parseRateLimitStore);
  if (store === "memory") return null;
  return store === "kv" ? `${dataDirOf(reader)}/kv.db` : store.slice("kv:".length);
}

function parseRateLimitStore(text: string): string {
  if (text === "memory" || text === "kv") return text;
  const address = /^kv:(https?:.+)$/.exec(text)?.[1] ?? "";
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username !== "" || url.password !== "") {
    throw new Error(
      "must be memory, kv, or kv: followed by the address of a KV Connect server, like kv:https://host",
    );
  }
  return text;
}

function parseHost(text: string): string {
  if (/[\s/]/.test(text)) throw new Error("must be a host name or an address, like 127.0.0.1 or 0.0.0.0");
  return text;
}

/** `off`, or `host:port` with an IPv6 address in brackets; port 0 picks a free port. */
function parseMetricsAddress(text: string): Config["metrics"] {
  if (text === "off") return null;
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^\s/:\[\]]+)):([0-9]{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > MAX_PORT) {
    throw new Error("must be off, or a host and a port, like 127.0.0.1:9090 or [::1]:9090");
  }
  return { host, port: Number(port) };
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(text) || url.username !== "" ||
    url.password !== ""
  ) {
    throw new Error("must be an http or https address without query, like https://jiss.example.com");
  }
  return url.href.replace(/\/+$/, "");
}

type ParsedDatabaseUrl =
  | Extract<DatabaseLocation, { kind: "file" }>
  | { readonly kind: "server"; readonly url: string };

function parseDatabaseUrl(text: string): ParsedDatabaseUrl {
  if (/^(https?|libsql):/i.test(text)) {
    const url = URL.canParse(text) ? new URL(text) : null;
    const isPlain = url !== null && url.hostname !== "" && url.username === "" && url.password === "" &&
      url.hash === "" &&
      (url.search === "" || (url.protocol === "libsql:" && /^\?tls=[01]$/.test(url.search)));
    if (!isPlain) {
      throw new Error(
        "must contain only the address of a libSQL server, like https://db.example:8080: set its token in JISS_DATABASE_AUTH_TOKEN",
      );
    }
    return { kind: "server", url: text };
  }
  const path = /^file:(?:\/\/(?=\/))?([^?#]+)$/.exec(text)?.[1];
  if (path === undefined) {
    throw new Error(
      "must be a file: address, like file:/var/lib/jiss/jiss.db, or a libSQL server, like https://db.example:8080",
    );
  }
  return { kind: "file", path };
}

function parseAdminUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(text) || url.username !== "" ||
    url.password !== ""
  ) {
    throw new Error(
      "must be the http or https address of the libSQL server's admin API, like http://127.0.0.1:9090",
    );
  }
  return url.href.replace(/\/+$/, "");
}

function parseEvidenceRetention(text: string): number | null {
  if (text === "keep") return null;
  const days = Number(text);
  if (!/^[0-9]+$/.test(text) || !(days >= 1 && days <= MAX_RETENTION_DAYS)) {
    throw new Error(`must be keep, or a whole number of days from 1 to ${MAX_RETENTION_DAYS}`);
  }
  return days;
}

function parseSwitch(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw new Error("must be on or off");
}

function parsePrivacy(text: string): Privacy {
  const privacy = PRIVACIES.find((name) => name === text);
  if (privacy === undefined) throw new Error(`must be ${PRIVACIES.join(" or ")}`);
  return privacy;
}

function parseLogFormat(text: string): "json" | "pretty" {
  if (text !== "json" && text !== "pretty") throw new Error("must be json or pretty");
  return text;
}

function parseLogName(text: string): string {
  if (text.length > 200 || !/^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9._-]+)*$/.test(text)) {
    throw new Error("must be a name like jiss.bank.example: letters, digits, dots, hyphens, single slashes");
  }
  return text;
}

/** Two waits in milliseconds. */
function parseBackoff(text: string): readonly number[] {
  const waits = text.split(",").map((wait) => wait.trim());
  const isWait = (wait: string) => /^[0-9]{1,8}$/.test(wait) && Number(wait) <= WEBHOOK_BACKOFF_MS_MAX;
  if (waits.length !== WEBHOOK_ATTEMPTS - 1 || !waits.every(isWait)) {
    throw new Error(
      `must be two waits in milliseconds, each from 0 to ${WEBHOOK_BACKOFF_MS_MAX}, like 10000,60000`,
    );
  }
  return waits.map(Number);
}

const CIDR = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]);

function parseCidrs(text: string): readonly string[] {
  const cidrs = text.split(",").map((cidr) => cidr.trim()).filter((cidr) => cidr !== "");
  if (cidrs.some((cidr) => !CIDR.safeParse(cidr).success)) {
    throw new Error("must be networks separated by commas, like 10.0.0.0/8,fd00::/8");
  }
  return cidrs;
}
