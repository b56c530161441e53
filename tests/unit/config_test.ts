/**
 * The configuration: defaults as in the contract's table, all problems at once, and no value in a message.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import {
  type Config,
  ConfigError,
  oidcSettings,
  readConfig,
  readListener,
  readModel,
  readStorage,
} from "../../src/config/config.ts";
import type { Environment } from "../../src/config/environment.ts";
import { KNOWN_VARIABLES } from "../../src/config/variables.ts";
import { deriveSecretsKey } from "../../src/keys/secrets.ts";
import document from "../../src/scoring/jis-2.0.0.json" with { type: "json" };

const PEPPER = "pepper-SHOWN-NOWHERE-0123456789-0123456789";
const REQUIRED = { JISS_KEY_PEPPER: PEPPER };

/** Self-signed for CN=jiss.test with the key below, valid until 2126. */
const TLS_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBPjCB8aADAgECAhQgE6HZ/22dclq/fwwdXAzrYsYQIjAFBgMrZXAwFDESMBAG
A1UEAwwJamlzcy50ZXN0MCAXDTI2MTEyMDExNTY1OVoYDzIxMjYxMDI3MTE1NjU5
WjAUMRIwEAYDVQQDDAlqaXNzLnRlc3QwKjAFBgMrZXADIQDe+ehrRDFhs4ZAqFBz
DjdYesY3O8afUDRSM2o1RepTWaNTMFEwHQYDVR0OBBYEFGKvat9X0jT1SkBJi21i
L9z65RLqMB8GA1UdIwQYMBaAFGKvat9X0jT1SkBJi21iL9z65RLqMA8GA1UdEwEB
/wQFMAMBAf8wBQYDK2VwA0EAIg+EgXHA3KqJR9JECeBspzyGJE+Ur0TPxmp3hVWt
Lxy18XV4KyfpYy84PbmKeab76jN97cIDZCJ163cc/nAqDA==
-----END CERTIFICATE-----
`;
/** A key for these tests only. */
const TLS_KEY = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIIlm10kLVtqJVZunZsrs+vpl+Rf96f5dHfVoB9wOarSG
-----END PRIVATE KEY-----
`;

type Files = Readonly<Record<string, string>>;

/** Reads files from a record; any other path cannot be read. */
const readerOf = (files: Files) => (path: string) => {
  const text = files[path];
  if (text === undefined) throw new Deno.errors.NotFound(`SHOWN-NOWHERE ${path}`);
  return text;
};

function read(environment: Environment, files: Files = {}): Config {
  return readConfig({ ...REQUIRED, ...environment }, readerOf(files));
}

/**
 * The problems of a configuration that must be refused. None of them may contain a value that the tests mark.
 */
function problemsOf(environment: Environment, files: Files = {}): readonly string[] {
  try {
    readConfig({ ...REQUIRED, ...environment }, readerOf(files));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    assert.equal(error.message, error.problems.join("\n"));
    assert.ok(!error.message.includes("SHOWN-NOWHERE"), error.message);
    return error.problems;
  }
  assert.fail("the configuration was accepted");
}

// ---- defaults ---------------------------------------------------------------------------------------------

Deno.test("with only the pepper set, everything has the default of the contract's table", () => {
  const { model, secretsKeys, ...config } = read({});
  assert.deepEqual(config, {
    host: "127.0.0.1",
    port: 8080,
    baseUrl: null,
    dataDir: "./data",
    database: { kind: "file", path: "./data/jiss.db" },
    lockFile: "./data/lock.db",
    signingKeyFile: "./data/signing-key.pem",
    previousSigningKeyFile: "./data/signing-key-previous.pem",
    secretFiles: [],
    peppers: [PEPPER],
    adminDashboard: false,
    assessmentRetentionDays: 30,
    masterSecrets: {
      ORG_CREATE: [],
      BILLING_SUSPEND: [],
      BILLING_ROTATE: [],
      ORG_USAGE_READ: [],
      ORG_SUSPEND: [],
      ORG_REACTIVATE: [],
      ORG_FORCE_ROTATE: [],
      ORG_FORCE_REVOKE: [],
      ALERT_ACK: [],
    },
    rateLimitIp: 60,
    rateLimitKey: 1000,
    rateLimitSession: 600,
    oidc: null,
    privacy: "named",
    sessionHours: 12,
    sessionIdleMinutes: 30,
    rateLimitKv: null,
    bootstrapOrganization: null,
    trustedProxies: [],
    webhookAllow: [],
    webhookBackoffMs: [10_000, 60_000],
    webhookTimeoutMs: 10_000,
    certificates: [],
    metrics: null,
    tls: null,
    logFormat: null,
    logName: "jiss.local",
    auditRetentionDays: 90,
    evidenceRetentionDays: null,
    patent: { status: "none", filed: null, confirmation: null, claims: 0 },
    shadowModel: null,
  });
  assert.deepEqual(model, document);
  assert.deepEqual(secretsKeys, [deriveSecretsKey(PEPPER)]);
});

Deno.test("the configuration is frozen", () => {
  const config = read({});
  assert.ok(Object.isFrozen(config));
});

Deno.test("an empty variable counts as not set", () => {
  const empty = Object.fromEntries(
    KNOWN_VARIABLES.filter((name) => name !== "JISS_KEY_PEPPER").map((name) => [name, ""]),
  );
  assert.deepEqual(read(empty), read({}));
});

Deno.test("variables with names outside of the program's prefixes are ignored", () => {
  assert.deepEqual(
    read({ PATH: "/bin", JISS: "1", XJISS_PORT: "2", MASTER_KEY: "3", NO_COLOR: "" }),
    read({}),
  );
});

Deno.test("every variable is taken as it is given", () => {
  const secret = (name: string) => `secret of ${name} 0123456789-0123456789`;
  const config = read({
    JISS_HOST: "0.0.0.0",
    JISS_PORT: "0",
    JISS_BASE_URL: "https://jiss.example.com/api/",
    JISS_DATA_DIR: "/var/lib/jiss",
    JISS_DATABASE_URL: "file:/srv/jiss.db",
    JISS_KEY_PEPPER_PREVIOUS: secret("previous"),
    JISS_SECRETS_KEY: secret("wrapping"),
    JISS_SIGNING_KEY_FILE: "/run/secrets/signing.pem",
    JISS_SIGNING_KEY_PREVIOUS_FILE: "/run/secrets/signing-before.pem",
    MASTER_ADMIN_KEY_ORG_CREATE: secret("active"),
    MASTER_ADMIN_KEY_ORG_CREATE_PREVIOUS: secret("before"),
    MASTER_ADMIN_KEY_ALERT_ACK: secret("ack"),
    JISS_RATE_LIMIT_IP: "1",
    JISS_RATE_LIMIT_KEY: "1000000000",
    JISS_WEBHOOK_ALLOW: "10.0.0.0/8, 127.0.0.1",
    JISS_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8,192.0.2.1,2001:db8::1",
    JISS_LOG: "pretty",
    JISS_LOG_NAME: "jiss.bank.example",
    JISS_AUDIT_RETENTION_DAYS: "365",
    JISS_EVIDENCE_RETENTION_DAYS: "730",
    JISS_PATENT_JSON: '{"status":"pending","filed":"2026-01-02","confirmation":"1234","claims":20}',
  });
  assert.equal(config.host, "0.0.0.0");
  assert.equal(config.port, 0);
  assert.equal(config.baseUrl, "https://jiss.example.com/api");
  assert.equal(config.dataDir, "/var/lib/jiss");
  assert.deepEqual(config.database, { kind: "file", path: "/srv/jiss.db" });
  assert.deepEqual(config.peppers, [PEPPER, secret("previous")]);
  assert.deepEqual(config.secretsKeys, [
    deriveSecretsKey(secret("wrapping")),
    deriveSecretsKey(PEPPER),
    deriveSecretsKey(secret("previous")),
  ]);
  assert.equal(
    config.lockFile,
    "/var/lib/jiss/lock.db",
    "beside the database's file a backup would contain it",
  );
  assert.equal(config.signingKeyFile, "/run/secrets/signing.pem");
  assert.equal(config.previousSigningKeyFile, "/run/secrets/signing-before.pem");
  assert.deepEqual(config.masterSecrets.ORG_CREATE, [secret("active"), secret("before")]);
  assert.deepEqual(config.masterSecrets.ALERT_ACK, [secret("ack")]);
  assert.deepEqual(config.masterSecrets.ORG_SUSPEND, []);
  assert.equal(config.rateLimitIp, 1);
  assert.equal(config.rateLimitKey, 1_000_000_000);
  assert.deepEqual(config.trustedProxies, ["10.0.0.0/8", "fd00::/8", "192.0.2.1", "2001:db8::1"]);
  assert.deepEqual(config.webhookAllow, ["10.0.0.0/8", "127.0.0.1"]);
  assert.equal(config.logFormat, "pretty");
  assert.equal(config.logName, "jiss.bank.example");
  assert.equal(config.auditRetentionDays, 365);
  assert.equal(config.evidenceRetentionDays, 730);
  assert.deepEqual(config.patent, {
    status: "pending",
    filed: "2026-01-02",
    confirmation: "1234",
    claims: 20,
  });
});

Deno.test("the database, its lock and the signing keys follow the data directory", () => {
  const config = read({ JISS_DATA_DIR: "/data" });
  assert.deepEqual(config.database, { kind: "file", path: "/data/jiss.db" });
  assert.equal(config.lockFile, "/data/lock.db");
  assert.equal(config.signingKeyFile, "/data/signing-key.pem");
  assert.equal(config.previousSigningKeyFile, "/data/signing-key-previous.pem");
});

Deno.test("a database address is a file: address, relative or absolute, or a libSQL server", () => {
  assert.deepEqual(read({ JISS_DATABASE_URL: "file:jiss.db" }).database, { kind: "file", path: "jiss.db" });
  assert.deepEqual(read({ JISS_DATABASE_URL: "file:///srv/jiss.db" }).database, {
    kind: "file",
    path: "/srv/jiss.db",
  });
  for (const url of ["/srv/jiss.db", "file:", "file:a?mode=ro", "sqlite:a"]) {
    assert.deepEqual(problemsOf({ JISS_DATABASE_URL: url }), [
      "JISS_DATABASE_URL must be a file: address, like file:/var/lib/jiss/jiss.db, or a libSQL server, like https://db.example:8080",
    ]);
  }
  for (
    const url of [
      "http://db.example:8080",
      "https://db.example",
      "libsql://db.example",
      "libsql://db:1?tls=0",
    ]
  ) {
    assert.deepEqual(read({ JISS_DATABASE_URL: url }).database, {
      kind: "server",
      url,
      authToken: null,
      adminUrl: null,
    });
  }
  for (
    const url of [
      "https://SHOWN:NOWHERE@db.example",
      "http://db?authToken=SHOWN-NOWHERE",
      "libsql://db#x",
      "http:",
    ]
  ) {
    assert.deepEqual(problemsOf({ JISS_DATABASE_URL: url }), [
      "JISS_DATABASE_URL must contain only the address of a libSQL server, like https://db.example:8080: set its token in JISS_DATABASE_AUTH_TOKEN",
    ]);
  }
});

Deno.test("a libSQL server has a token, from its variable or its file, and an admin API", () => {
  const token = "a-token-0123456789-0123456789-0123456789";
  const server = {
    JISS_DATABASE_URL: "https://db.example",
    JISS_DATABASE_ADMIN_URL: "http://db.example:9090/",
  };
  const expected = {
    kind: "server",
    url: "https://db.example",
    authToken: token,
    adminUrl: "http://db.example:9090",
  };
  assert.deepEqual(read({ ...server, JISS_DATABASE_AUTH_TOKEN: token }).database, expected);
  assert.deepEqual(
    read({ ...server, JISS_DATABASE_AUTH_TOKEN_FILE: "/t" }, { "/t": `${token}\n` }).database,
    expected,
  );
  assert.deepEqual(problemsOf({ ...server, JISS_DATABASE_AUTH_TOKEN: "SHOWN-NOWHERE" }), [
    "JISS_DATABASE_AUTH_TOKEN must hold at least 32 characters: set the token that the libSQL server expects (docs/operate/replicas.md)",
  ]);
  assert.deepEqual(problemsOf({ ...server, JISS_DATABASE_AUTH_TOKEN: `SHOWN NOWHERE\n${token}` }), [
    "JISS_DATABASE_AUTH_TOKEN cannot be sent in a header: use ASCII characters, without a space at either end",
  ]);
  assert.deepEqual(problemsOf({ ...server, JISS_DATABASE_ADMIN_URL: "SHOWN-NOWHERE" }), [
    "JISS_DATABASE_ADMIN_URL must be the http or https address of the libSQL server's admin API, like http://127.0.0.1:9090",
  ]);
});

Deno.test("variables for a libSQL server are refused beside a file", () => {
  const token = "a-token-SHOWN-NOWHERE-0123456789-0123456789";
  const problem =
    "is only for a libSQL server, but JISS_DATABASE_URL names none: unset it, or set JISS_DATABASE_URL to the server";
  assert.deepEqual(problemsOf({ JISS_DATABASE_AUTH_TOKEN: token }), [`JISS_DATABASE_AUTH_TOKEN ${problem}`]);
  assert.deepEqual(problemsOf({ JISS_DATABASE_AUTH_TOKEN_FILE: "/t" }, { "/t": token }), [
    `JISS_DATABASE_AUTH_TOKEN_FILE ${problem}`,
  ]);
  assert.deepEqual(problemsOf({ JISS_DATABASE_ADMIN_URL: "http://127.0.0.1:9090" }), [
    `JISS_DATABASE_ADMIN_URL ${problem}`,
  ]);
});

// ---- problems ---------------------------------------------------------------------------------------------

Deno.test("without a pepper nothing starts, and the problem says how to get one", () => {
  for (const environment of [{}, { JISS_KEY_PEPPER: "" }]) {
    assert.throws(() => readConfig(environment, readerOf({})), {
      name: "ConfigError",
      message: "JISS_KEY_PEPPER is required: `jiss init` writes it, with the other secrets, to jiss.env",
    });
  }
});

Deno.test("all problems are listed at once, each under the name of its variable", () => {
  const problems = problemsOf({
    JISS_KEY_PEPPER: "SHOWN-NOWHERE",
    JISS_HOST: "a host SHOWN-NOWHERE",
    JISS_PORT: "70000",
    JISS_BASE_URL: "SHOWN-NOWHERE",
    JISS_DATABASE_URL: "SHOWN-NOWHERE",
    JISS_RATE_LIMIT_IP: "0",
    JISS_RATE_LIMIT_KEY: "1000000001",
    JISS_BOOTSTRAP_ORG_FILE: "/SHOWN-NOWHERE",
    JISS_TRUSTED_PROXIES: "10.0.0.0/8,SHOWN-NOWHERE",
    JISS_TLS_CERT_FILE: "/SHOWN-NOWHERE",
    JISS_LOG: "SHOWN-NOWHERE",
    JISS_LOG_NAME: "SHOWN NOWHERE",
    JISS_AUDIT_RETENTION_DAYS: "0",
    JISS_EVIDENCE_RETENTION_DAYS: "SHOWN-NOWHERE",
    JISS_SCORING_MODEL_FILE: "/SHOWN-NOWHERE",
    JISS_PATENT_JSON: "SHOWN-NOWHERE",
    JISS_METRICS_ADDR: "SHOWN-NOWHERE",
    JISS_PROT: "SHOWN-NOWHERE",
    MASTER_ADMIN_KEY_ORG_CREATE_FILE: "/SHOWN-NOWHERE",
  });
  assert.deepEqual(
    problems.map((problem) => problem.split(" ")[0]).sort(),
    [
      "JISS_AUDIT_RETENTION_DAYS",
      "JISS_BASE_URL",
      "JISS_BOOTSTRAP_ORG_FILE",
      "JISS_DATABASE_URL",
      "JISS_EVIDENCE_RETENTION_DAYS",
      "JISS_HOST",
      "JISS_KEY_PEPPER",
      "JISS_LOG",
      "JISS_LOG_NAME",
      "JISS_METRICS_ADDR",
      "JISS_PORT",
      "JISS_PROT",
      "JISS_RATE_LIMIT_IP",
      "JISS_RATE_LIMIT_KEY",
      "JISS_SCORING_MODEL_FILE",
      "JISS_TLS_CERT_FILE",
      "JISS_TLS_KEY_FILE",
      "JISS_TRUSTED_PROXIES",
      "JISS_PATENT_JSON",
      "MASTER_ADMIN_KEY_ORG_CREATE_FILE",
    ].sort(),
  );
});

Deno.test("no problem shows the value of any variable", () => {
  for (const name of KNOWN_VARIABLES) {
    for (const value of ["SHOWN-NOWHERE", "SHOWN-NOWHERE and more: {]\n1.2.3.4/99", "/SHOWN-NOWHERE"]) {
      try {
        readConfig({ ...REQUIRED, [name]: value }, readerOf({ "/SHOWN-NOWHERE": "SHOWN-NOWHERE" }));
      } catch (error) {
        assert.ok(error instanceof ConfigError, `${name}: ${error}`);
        assert.ok(!error.message.includes("SHOWN-NOWHERE"), error.message);
      }
    }
  }
});

Deno.test("an unknown name is reported as a typing mistake, with the nearest known name", () => {
  const problems = problemsOf({
    JISS_PROT: "8080",
    JISS_KEY_PEPER: "SHOWN-NOWHERE",
    JISS_TRUSTED_PROXY: "10.0.0.0/8",
    MASTER_ADMIN_KEY_ORG_CRATE: "SHOWN-NOWHERE",
    MASTER_ADMIN_KEY_ORG_CREATE_FLIE: "/SHOWN-NOWHERE",
    JISS_PORT_FILE: "/SHOWN-NOWHERE",
  });
  assert.deepEqual(problems, [
    "JISS_PROT is not a variable of this program: did you mean JISS_PORT?",
    "JISS_KEY_PEPER is not a variable of this program: did you mean JISS_KEY_PEPPER?",
    "JISS_TRUSTED_PROXY is not a variable of this program: did you mean JISS_TRUSTED_PROXIES?",
    "MASTER_ADMIN_KEY_ORG_CRATE is not a variable of this program: did you mean MASTER_ADMIN_KEY_ORG_CREATE?",
    "MASTER_ADMIN_KEY_ORG_CREATE_FLIE is not a variable of this program: did you mean MASTER_ADMIN_KEY_ORG_CREATE_FILE?",
    "JISS_PORT_FILE is not a variable of this program: did you mean JISS_PORT?",
  ]);
});

Deno.test("a port is a whole number from 0 to 65535", () => {
  assert.equal(read({ JISS_PORT: "65535" }).port, 65_535);
  for (const port of ["65536", "-1", "80.5", "0x50", "1e3", " 80", "80 ", "http", "99999999999999999999"]) {
    assert.deepEqual(
      problemsOf({ JISS_PORT: port }),
      ["JISS_PORT must be a whole number from 0 to 65535"],
      port,
    );
  }
});

Deno.test('the audit log\'s retention is 1 to 36,500 days, and "keep" is refused', () => {
  assert.equal(read({ JISS_AUDIT_RETENTION_DAYS: "36500" }).auditRetentionDays, 36_500);
  for (const days of ["0", "36501", "-1", "1.5", "1e2", "keep"]) {
    assert.deepEqual(
      problemsOf({ JISS_AUDIT_RETENTION_DAYS: days }),
      ["JISS_AUDIT_RETENTION_DAYS must be a whole number from 1 to 36500"],
      days,
    );
  }
});

Deno.test("evidence is kept without end, or for 1 to 36,500 days", () => {
  assert.equal(read({ JISS_EVIDENCE_RETENTION_DAYS: "keep" }).evidenceRetentionDays, null);
  assert.equal(read({ JISS_EVIDENCE_RETENTION_DAYS: "1" }).evidenceRetentionDays, 1);
  assert.equal(read({ JISS_EVIDENCE_RETENTION_DAYS: "36500" }).evidenceRetentionDays, 36_500);
  for (const days of ["0", "36501", "-1", "1.5", "1e2", " 30", "KEEP", "keep ", "off", "9".repeat(400)]) {
    assert.deepEqual(
      problemsOf({ JISS_EVIDENCE_RETENTION_DAYS: days }),
      ["JISS_EVIDENCE_RETENTION_DAYS must be keep, or a whole number of days from 1 to 36500"],
      days,
    );
  }
});

Deno.test("a rate limit is 1 to 1,000,000,000, and 0 is refused", () => {
  for (const name of ["JISS_RATE_LIMIT_IP", "JISS_RATE_LIMIT_KEY"]) {
    for (const limit of ["0", "1000000001", "-5", "many", "1.5"]) {
      assert.deepEqual(
        problemsOf({ [name]: limit }),
        [`${name} must be a whole number from 1 to 1000000000`],
        limit,
      );
    }
  }
});

Deno.test("trusted proxies are networks or addresses, and one bad one is a problem", () => {
  const bad = [
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "010.0.0.0/8",
    "10.0.0.0/08",
    "2001:db8::/129",
    "fe80::1%eth0",
    "proxy.example",
    "10.0.0.1:80",
    "*",
  ];
  for (const cidr of bad) {
    assert.deepEqual(
      problemsOf({ JISS_TRUSTED_PROXIES: `192.0.2.0/24,${cidr}` }),
      ["JISS_TRUSTED_PROXIES must be networks separated by commas, like 10.0.0.0/8,fd00::/8"],
      cidr,
    );
  }
});

Deno.test("a base address is http or https, without query, fragment or user", () => {
  assert.equal(read({ JISS_BASE_URL: "http://127.0.0.1:8080" }).baseUrl, "http://127.0.0.1:8080");
  assert.equal(read({ JISS_BASE_URL: "https://jiss.example.com/a//" }).baseUrl, "https://jiss.example.com/a");
  const bad = [
    "jiss.example.com",
    "ftp://a",
    "https://a/?b=c",
    "https://a/#b",
    "https://SHOWN-NOWHERE@a",
    "https://:SHOWN-NOWHERE@a",
    "https://a/?",
    "https://a/#",
    "https://a/?#",
    "//a",
  ];
  for (const url of bad) {
    assert.deepEqual(
      problemsOf({ JISS_BASE_URL: url }),
      ["JISS_BASE_URL must be an http or https address without query, like https://jiss.example.com"],
      url,
    );
  }
});

Deno.test("a log name has only characters of an origin: no space, no plus sign", () => {
  for (const name of ["a b", "a+b", "-a", "/a", "a/", "a//b", "a\n", "é", "a".repeat(202)]) {
    assert.deepEqual(
      problemsOf({ JISS_LOG_NAME: name }),
      ["JISS_LOG_NAME must be a name like jiss.bank.example: letters, digits, dots, hyphens, single slashes"],
      name,
    );
  }
});

// ---- secrets ----------------------------------------------------------------------------------------------

/** Those of others have tests of their own: a server's token, and what an identity provider has given. */
const OF_OTHERS = ["JISS_DATABASE_AUTH_TOKEN", "JISS_OIDC_CLIENT_SECRET"];
const SECRETS = KNOWN_VARIABLES.filter((name) =>
  KNOWN_VARIABLES.includes(`${name}_FILE`) && !OF_OTHERS.includes(name)
);

Deno.test("the secrets are the pepper and the one before, the wrapping key, and eighteen master keys", () => {
  assert.equal(SECRETS.length, 3 + 18);
});

Deno.test("every secret can be read from a file, without its last line end", () => {
  const value = "a secret in a file, 0123456789-0123456789";
  for (const name of SECRETS) {
    const base: Environment = name === "JISS_KEY_PEPPER" ? {} : REQUIRED;
    for (const ending of ["", "\n", "\r\n"]) {
      const fromFile = readConfig({ ...base, [`${name}_FILE`]: "/s" }, readerOf({ "/s": value + ending }));
      const direct = readConfig({ ...base, [name]: value }, readerOf({}));
      assert.deepEqual(fromFile, { ...direct, secretFiles: ["/s"] }, name);
    }
  }
});

Deno.test("a secret that is set twice, directly and by file, is a problem", () => {
  for (const name of SECRETS) {
    const environment = { [name]: `${PEPPER} of its own`, [`${name}_FILE`]: "/SHOWN-NOWHERE" };
    assert.deepEqual(problemsOf(environment), [`${name} and ${name}_FILE are both set: keep one of them`]);
  }
});

Deno.test("a secret below 32 characters is a problem, from its variable or its file", () => {
  for (const name of SECRETS) {
    const problem = "must hold at least 32 characters: generate one, for example with `jiss init`";
    const short = "SHOWN-NOWHERE".padEnd(31, "x");
    assert.deepEqual(problemsOf({ [name]: short }), [`${name} ${problem}`]);
    const base: Environment = name === "JISS_KEY_PEPPER" ? {} : REQUIRED;
    for (const content of [short, `${short}\n`, "", "\n"]) {
      assert.throws(
        () => readConfig({ ...base, [`${name}_FILE`]: "/s" }, readerOf({ "/s": content })),
        { message: `${name}_FILE ${problem}` },
      );
    }
  }
  assert.equal(read({ JISS_SECRETS_KEY: "x".repeat(32) }).secretsKeys.length, 2);
});

Deno.test("a secret's file that cannot be read is a problem, without its path", () => {
  assert.deepEqual(problemsOf({ MASTER_ADMIN_KEY_ORG_CREATE_FILE: "/SHOWN-NOWHERE" }), [
    "MASTER_ADMIN_KEY_ORG_CREATE_FILE names a file that cannot be read: check the path and the file's permissions",
  ]);
  assert.throws(() => readConfig({ JISS_KEY_PEPPER_FILE: "/nowhere" }, readerOf({})), {
    message:
      "JISS_KEY_PEPPER_FILE names a file that cannot be read: check the path and the file's permissions",
  });
});

Deno.test("no two secrets may have the same value: across scopes, active and previous, file and pepper", () => {
  const problem = (name: string, first: string) =>
    `${name} holds the same value as ${first}: generate a separate secret for each`;
  const same = "one value SHOWN-NOWHERE in two places 0123456789";
  assert.deepEqual(
    problemsOf({ MASTER_ADMIN_KEY_ORG_CREATE: same, MASTER_ADMIN_KEY_ALERT_ACK: same }),
    [problem("MASTER_ADMIN_KEY_ALERT_ACK", "MASTER_ADMIN_KEY_ORG_CREATE")],
  );
  assert.deepEqual(
    problemsOf({ MASTER_ADMIN_KEY_ORG_CREATE: same, MASTER_ADMIN_KEY_ORG_CREATE_PREVIOUS: same }),
    [problem("MASTER_ADMIN_KEY_ORG_CREATE_PREVIOUS", "MASTER_ADMIN_KEY_ORG_CREATE")],
  );
  assert.deepEqual(
    problemsOf({ MASTER_ADMIN_KEY_ORG_CREATE: PEPPER }),
    [problem("MASTER_ADMIN_KEY_ORG_CREATE", "JISS_KEY_PEPPER")],
  );
  assert.deepEqual(
    problemsOf({ JISS_KEY_PEPPER_PREVIOUS: PEPPER, JISS_SECRETS_KEY: PEPPER }),
    [problem("JISS_KEY_PEPPER_PREVIOUS", "JISS_KEY_PEPPER"), problem("JISS_SECRETS_KEY", "JISS_KEY_PEPPER")],
  );
  assert.deepEqual(
    problemsOf(
      { MASTER_ADMIN_KEY_ORG_SUSPEND: same, MASTER_ADMIN_KEY_BILLING_SUSPEND_PREVIOUS_FILE: "/s" },
      { "/s": `${same}\n` },
    ),
    [problem("MASTER_ADMIN_KEY_ORG_SUSPEND", "MASTER_ADMIN_KEY_BILLING_SUSPEND_PREVIOUS_FILE")],
  );
});

Deno.test("a master key that a header cannot carry is refused, and a pepper may have any characters", () => {
  const problem = (name: string) =>
    `${name} cannot be sent in a header: use ASCII characters, without a space at either end`;
  const plain = "a master key of SHOWN-NOWHERE 0123456789";
  for (const value of [`${plain} `, ` ${plain}`, `${plain}\t`, "é".repeat(40), `${plain}\u{7f}`]) {
    assert.deepEqual(problemsOf({ MASTER_ADMIN_KEY_ALERT_ACK: value }), [
      problem("MASTER_ADMIN_KEY_ALERT_ACK"),
    ]);
    assert.deepEqual(
      problemsOf({ MASTER_ADMIN_KEY_ALERT_ACK_PREVIOUS_FILE: "/s" }, { "/s": `${value}\n` }),
      [problem("MASTER_ADMIN_KEY_ALERT_ACK_PREVIOUS_FILE")],
    );
  }
  const accepted = { MASTER_ADMIN_KEY_ALERT_ACK: plain, JISS_KEY_PEPPER_PREVIOUS: "é ".repeat(40) };
  assert.deepEqual(readConfig({ ...REQUIRED, ...accepted }, readerOf({})).masterSecrets.ALERT_ACK, [plain]);
});

// ---- documents --------------------------------------------------------------------------------------------

Deno.test("an invalid model document is refused with every problem and its path", () => {
  const changed = structuredClone(document) as Record<string, unknown>;
  changed.version = "SHOWN-NOWHERE";
  changed.bands = { ...document.bands, exemplary: "SHOWN-NOWHERE" };
  changed.more = "SHOWN-NOWHERE";
  const problems = problemsOf({ JISS_SCORING_MODEL_FILE: "/m" }, { "/m": JSON.stringify(changed) });
  assert.deepEqual(problems.map((problem) => problem.split(":")[0]), [
    "JISS_SCORING_MODEL_FILE version",
    "JISS_SCORING_MODEL_FILE bands.exemplary",
    "JISS_SCORING_MODEL_FILE the document",
  ]);
  assert.deepEqual(problemsOf({ JISS_SCORING_MODEL_FILE: "/m" }, { "/m": "{SHOWN-NOWHERE" }), [
    "JISS_SCORING_MODEL_FILE does not hold valid JSON",
  ]);
  assert.deepEqual(problemsOf({ JISS_SCORING_MODEL_FILE: "/SHOWN-NOWHERE" }), [
    "JISS_SCORING_MODEL_FILE names a file that cannot be read: check the path and the file's permissions",
  ]);
});

Deno.test("a valid model document is used, and can be read alone by commands that need nothing else", () => {
  const calibrated = { ...document, version: "jis-2.0.0-acme" };
  const files = { "/m": JSON.stringify(calibrated) };
  assert.deepEqual(read({ JISS_SCORING_MODEL_FILE: "/m" }, files).model, calibrated);
  assert.deepEqual(readModel({ JISS_SCORING_MODEL_FILE: "/m" }, readerOf(files)), calibrated);
  assert.deepEqual(readModel({}, readerOf({})), document);
  assert.throws(
    () => readModel({ JISS_SCORING_MODEL_FILE: "/m" }, readerOf({ "/m": "{}" })),
    ConfigError,
  );
});

Deno.test("a candidate model is validated like the one in use, and must differ from it", () => {
  const name = "JISS_SCORING_SHADOW_MODEL_FILE";
  const candidate = { ...document, version: "jis-1.0.0-candidate" };
  const files = {
    "/same": JSON.stringify(Object.fromEntries(Object.entries(document).toReversed())),
    "/candidate": JSON.stringify(candidate),
    "/bad": JSON.stringify({ ...candidate, bands: { ...document.bands, exemplary: "SHOWN-NOWHERE" } }),
  };
  const taken = read({ [name]: "/candidate" }, files);
  assert.deepEqual([taken.shadowModel, taken.model], [candidate, document]);
  assert.deepEqual(problemsOf({ [name]: "/bad" }, files).map((problem) => problem.split(":")[0]), [
    `${name} bands.exemplary`,
  ]);
  assert.deepEqual(problemsOf({ [name]: "/SHOWN-NOWHERE" }), [
    `${name} names a file that cannot be read: check the path and the file's permissions`,
  ]);
  const same = [`${name} names the model that is in use: unset it, or name a different candidate`];
  assert.deepEqual(problemsOf({ [name]: "/same" }, files), same);
  assert.deepEqual(problemsOf({ [name]: "/candidate", JISS_SCORING_MODEL_FILE: "/candidate" }, files), same);
  assert.deepEqual(
    read({ [name]: "/same", JISS_SCORING_MODEL_FILE: "/candidate" }, files).shadowModel,
    document,
  );
});

const BOOTSTRAP = {
  org_id: "acme",
  name: " Acme Bank ",
  domain: "financial",
  tier: "standard",
  allowed_origins: "https://b.example, https://A.example:443/",
  api_key_file: "/run/secrets/acme.key",
};

Deno.test("a bootstrap organization is parsed like a request of org/create", () => {
  const good = {
    ...BOOTSTRAP,
    domain: "government",
    allowed_origins: "https://b.example, https://A.example:443",
  };
  const config = read({ JISS_BOOTSTRAP_ORG_FILE: "/b" }, { "/b": JSON.stringify(good) });
  assert.deepEqual(config.bootstrapOrganization, {
    org_id: "acme",
    name: "Acme Bank",
    domain: "public_sector",
    tier: "standard",
    allowed_origins: ["https://a.example", "https://b.example"],
    api_key_file: "/run/secrets/acme.key",
  });
});

Deno.test("an invalid bootstrap organization is refused field by field", () => {
  const bad = { ...BOOTSTRAP, org_id: "SHOWN-NOWHERE!", domain: "SHOWN-NOWHERE", api_key_file: "" };
  const problems = problemsOf({ JISS_BOOTSTRAP_ORG_FILE: "/b" }, { "/b": JSON.stringify(bad) });
  assert.deepEqual(problems.map((problem) => problem.split(":")[0]), [
    "JISS_BOOTSTRAP_ORG_FILE org_id",
    "JISS_BOOTSTRAP_ORG_FILE domain",
    "JISS_BOOTSTRAP_ORG_FILE allowed_origins",
    "JISS_BOOTSTRAP_ORG_FILE api_key_file",
  ]);
  assert.deepEqual(
    problemsOf({ JISS_BOOTSTRAP_ORG_FILE: "/b" }, { "/b": "{}" }).map((problem) => problem.split(":")[0]),
    ["org_id", "name", "domain", "tier", "allowed_origins", "api_key_file"].map((field) =>
      `JISS_BOOTSTRAP_ORG_FILE ${field}`
    ),
  );
});

Deno.test("the patent object is exactly its four members", () => {
  const bad = ["[]", "null", '{"status":"none"}', '{"status":1,"filed":2,"confirmation":3,"claims":-1}'];
  for (const text of bad) {
    for (const problem of problemsOf({ JISS_PATENT_JSON: text })) assert.match(problem, /^JISS_PATENT_JSON /);
  }
  assert.deepEqual(problemsOf({ JISS_PATENT_JSON: "{" }), ["JISS_PATENT_JSON does not hold valid JSON"]);
});

// ---- TLS --------------------------------------------------------------------------------------------------

const TLS_PATHS = { JISS_TLS_CERT_FILE: "/cert", JISS_TLS_KEY_FILE: "/key" };

Deno.test("a certificate and its key are used together", () => {
  const { tls } = read(TLS_PATHS, { "/cert": TLS_CERTIFICATE, "/key": TLS_KEY });
  assert.deepEqual(tls, { cert: TLS_CERTIFICATE, key: TLS_KEY });
});

Deno.test("one TLS file without the other is a problem of the missing one", () => {
  const files = { "/cert": TLS_CERTIFICATE, "/key": TLS_KEY };
  assert.deepEqual(problemsOf({ JISS_TLS_CERT_FILE: "/cert" }, files), [
    "JISS_TLS_KEY_FILE is missing: HTTPS needs both files",
  ]);
  assert.deepEqual(problemsOf({ JISS_TLS_KEY_FILE: "/key" }, files), [
    "JISS_TLS_CERT_FILE is missing: HTTPS needs both files",
  ]);
});

Deno.test("TLS files with other content are named, both at once, without their content", () => {
  assert.deepEqual(problemsOf(TLS_PATHS, { "/cert": "SHOWN-NOWHERE", "/key": "SHOWN-NOWHERE" }), [
    "JISS_TLS_CERT_FILE does not hold a certificate in PEM",
    "JISS_TLS_KEY_FILE does not hold a private key in PEM",
  ]);
  assert.deepEqual(problemsOf(TLS_PATHS, { "/cert": TLS_KEY, "/key": TLS_CERTIFICATE }), [
    "JISS_TLS_CERT_FILE does not hold a certificate in PEM",
    "JISS_TLS_KEY_FILE does not hold a private key in PEM",
  ]);
  assert.deepEqual(problemsOf(TLS_PATHS), [
    "JISS_TLS_CERT_FILE names a file that cannot be read: check the path and the file's permissions",
    "JISS_TLS_KEY_FILE names a file that cannot be read: check the path and the file's permissions",
  ]);
});

Deno.test("a TLS key that does not fit the certificate is refused at the start, not when the port is opened", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const other = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  assert.deepEqual(problemsOf(TLS_PATHS, { "/cert": TLS_CERTIFICATE, "/key": other }), [
    "JISS_TLS_KEY_FILE is not the key of the certificate in JISS_TLS_CERT_FILE",
  ]);
});

// ---- the store of rate limits -----------------------------------------------------------------------------

Deno.test("rate limits are counted in memory, in the data directory's kv.db, or at a KV Connect server", () => {
  assert.equal(read({ JISS_RATE_LIMIT_STORE: "memory" }).rateLimitKv, null);
  assert.equal(read({ JISS_RATE_LIMIT_STORE: "kv" }).rateLimitKv, "./data/kv.db");
  const elsewhere = read({ JISS_RATE_LIMIT_STORE: "kv", JISS_DATA_DIR: "/var/lib/jiss" });
  assert.equal(elsewhere.rateLimitKv, "/var/lib/jiss/kv.db");
  const address = "https://kv.bank.example:4512/";
  assert.equal(read({ JISS_RATE_LIMIT_STORE: `kv:${address}` }).rateLimitKv, address);
});

Deno.test("an invalid store of rate limits is refused, and its value is not shown", () => {
  for (
    const text of [
      "redis",
      "KV",
      "kv:",
      "kv:kv.example",
      "kv:file:///kv.db",
      "kv:https://user:word@kv.example",
    ]
  ) {
    assert.deepEqual(problemsOf({ JISS_RATE_LIMIT_STORE: text }), [
      "JISS_RATE_LIMIT_STORE must be memory, kv, or kv: followed by the address of a KV Connect server, like kv:https://host",
    ]);
  }
});

Deno.test("the metrics listener has a host and a port, or is off", () => {
  const metricsOf = (text: string) => read({ JISS_METRICS_ADDR: text }).metrics;
  assert.equal(metricsOf("off"), null);
  assert.deepEqual(metricsOf("127.0.0.1:9090"), { host: "127.0.0.1", port: 9090 });
  assert.deepEqual(metricsOf("[::1]:0"), { host: "::1", port: 0 });
  assert.deepEqual(metricsOf("localhost:65535"), { host: "localhost", port: 65_535 });
  for (
    const text of ["on", "9090", ":9090", "127.0.0.1", "127.0.0.1:", "::1:9090", "a b:1", "h:65536", "h:1/x"]
  ) {
    assert.deepEqual(problemsOf({ JISS_METRICS_ADDR: text }), [
      "JISS_METRICS_ADDR must be off, or a host and a port, like 127.0.0.1:9090 or [::1]:9090",
    ], text);
  }
});

// ---- webhooks ---------------------------------------------------------------------------------------------

Deno.test("a delivery waits 10 s and 60 s and may take 10 s, or as it is configured", () => {
  const { webhookBackoffMs, webhookTimeoutMs } = read({});
  assert.deepEqual([webhookBackoffMs, webhookTimeoutMs], [[10_000, 60_000], 10_000]);
  const set = read({ JISS_WEBHOOK_BACKOFF_MS: " 0, 86400000", JISS_WEBHOOK_TIMEOUT_MS: "120000" });
  assert.deepEqual([set.webhookBackoffMs, set.webhookTimeoutMs], [[0, 86_400_000], 120_000]);
  for (const text of ["10000", "1,2,3", "1,-2", "1,2.5", "a,b", "1,86400001", ",", "1,"]) {
    assert.deepEqual(problemsOf({ JISS_WEBHOOK_BACKOFF_MS: text }), [
      "JISS_WEBHOOK_BACKOFF_MS must be two waits in milliseconds, each from 0 to 86400000, like 10000,60000",
    ], text);
  }
  for (const text of ["99", "120001", "1e3", "ten"]) {
    assert.deepEqual(problemsOf({ JISS_WEBHOOK_TIMEOUT_MS: text }), [
      "JISS_WEBHOOK_TIMEOUT_MS must be a whole number from 100 to 120000",
    ], text);
  }
});

Deno.test("receivers are trusted by the system's certificates, if there are any, and by the added ones", () => {
  const plain = TLS_CERTIFICATE.trim();
  assert.deepEqual(read({}).certificates, []);
  const files = {
    "/etc/ssl/certs/ca-certificates.crt": `# one\n${plain}\n# two\n${plain}\n`,
    "/etc/ssl/cert.pem": plain,
    "/own.pem": `# ours\n${plain}\n\n${plain}\n`,
    "/system.pem": plain,
    "/nothing.pem": "no certificate",
    "/broken.pem": "-----BEGIN CERTIFICATE-----\nSHOWN+NOWHERE\n-----END CERTIFICATE-----\n",
  };
  assert.deepEqual(read({}, files).certificates, [plain, plain]);
  assert.deepEqual(read({ JISS_EXTRA_CA_FILE: "/own.pem" }, files).certificates, [
    plain,
    plain,
    plain,
    plain,
  ]);
  assert.deepEqual(read({ SSL_CERT_FILE: "/system.pem" }, files).certificates, [plain]);
  assert.deepEqual(read({ SSL_CERT_FILE: "/missing.pem" }, files).certificates, []);
  assert.deepEqual(problemsOf({ JISS_EXTRA_CA_FILE: "/nothing.pem" }, files), [
    "JISS_EXTRA_CA_FILE names a file without a certificate: the file must contain certificates in PEM",
  ]);
  assert.deepEqual(problemsOf({ JISS_EXTRA_CA_FILE: "/broken.pem" }, files), [
    "JISS_EXTRA_CA_FILE names a file with an invalid certificate: replace it",
  ]);
  assert.deepEqual(problemsOf({ JISS_EXTRA_CA_FILE: "/missing.pem" }, files), [
    "JISS_EXTRA_CA_FILE names a file that cannot be read: check the path and the file's permissions",
  ]);
});

// ---- configuration of commands ----------------------------------------------------------------------------

Deno.test("a command that exports evidence needs the database's place, and no secret", () => {
  assert.deepEqual(readStorage({}, readerOf({})), {
    certificates: [],
    dataDir: "./data",
    database: { kind: "file", path: "./data/jiss.db" },
    lockFile: "./data/lock.db",
    signingKeyFile: "./data/signing-key.pem",
    previousSigningKeyFile: "./data/signing-key-previous.pem",
  });
  assert.deepEqual(
    readStorage({
      JISS_DATA_DIR: "/data",
      JISS_DATABASE_URL: "file:/srv/jiss.db",
      JISS_SIGNING_KEY_FILE: "/run/now.pem",
      JISS_SIGNING_KEY_PREVIOUS_FILE: "/run/before.pem",
      JISS_PORT: "nonsense",
    }, readerOf({})),
    {
      certificates: [],
      dataDir: "/data",
      database: { kind: "file", path: "/srv/jiss.db" },
      lockFile: "/data/lock.db",
      signingKeyFile: "/run/now.pem",
      previousSigningKeyFile: "/run/before.pem",
    },
  );
  assert.throws(() => readStorage({ JISS_DATABASE_URL: "/srv/jiss.db" }, readerOf({})), ConfigError);
  assert.throws(
    () => readStorage({ JISS_DATADIR: "/srv" }, readerOf({})),
    /JISS_DATADIR is not a variable of this program/,
  );
});

// ---- the listener alone -----------------------------------------------------------------------------------

Deno.test("a health check needs the service's address, and nothing else", () => {
  assert.deepEqual(readListener({}), { host: "127.0.0.1", port: 8080, baseUrl: null, tls: false });
  assert.deepEqual(
    readListener({
      JISS_HOST: "0.0.0.0",
      JISS_PORT: "9",
      JISS_TLS_CERT_FILE: "/c",
      JISS_KEY_PEPPER: "short",
    }),
    { host: "0.0.0.0", port: 9, baseUrl: null, tls: true },
  );
  assert.throws(() => readListener({ JISS_PORT: "x" }), ConfigError);
});

// ---- identity provider ------------------------------------------------------------------------------------

const MAP = { rules: [{ when: { groups: "officers" }, organization: "acme", role: "officer" }] };
const PROVIDER = {
  JISS_BASE_URL: "https://jiss.acme.example",
  JISS_OIDC_ISSUER: "https://sso.acme.example",
  JISS_OIDC_CLIENT_ID: "jiss",
  JISS_OIDC_CLIENT_SECRET: "short",
  JISS_OIDC_MAP_FILE: "/map",
};

Deno.test("an identity provider has an issuer, a client and a map; its secret may be of any length", () => {
  const { oidc } = readConfig({ ...REQUIRED, ...PROVIDER }, readerOf({ "/map": JSON.stringify(MAP) }));
  assert.deepEqual(oidc, {
    issuer: "https://sso.acme.example",
    clientId: "jiss",
    clientSecret: "short",
    scopes: ["openid", "profile", "email"],
    userInfo: true,
    map: { ...MAP, default: null },
  });
  const { redirectUri, postLogoutRedirectUri } = oidcSettings(oidc!, "https://jiss.acme.example");
  assert.deepEqual([redirectUri, postLogoutRedirectUri], [
    "https://jiss.acme.example/sign-in/oidc/callback",
    "https://jiss.acme.example/console",
  ]);
});

Deno.test("an identity provider that cannot work is a problem, and its secret is never shown", () => {
  const rows: readonly (readonly [Environment, string])[] = [
    [
      { JISS_OIDC_CLIENT_ID: "" },
      "JISS_OIDC_CLIENT_ID is missing: an identity provider needs its issuer, a client id and a map",
    ],
    [
      { JISS_OIDC_MAP_FILE: "" },
      "JISS_OIDC_MAP_FILE is missing: an identity provider needs its issuer, a client id and a map",
    ],
    [
      { JISS_BASE_URL: "" },
      "JISS_BASE_URL is missing: the identity provider sends people back to this address",
    ],
    [
      { JISS_OIDC_ISSUER: "http://sso.acme.example" },
      "JISS_OIDC_ISSUER and the other settings of the identity provider cannot work: The issuer must be an address with https, or with http on this machine itself.",
    ],
    [
      { JISS_OIDC_SCOPES: "profile" },
      "JISS_OIDC_ISSUER and the other settings of the identity provider cannot work: The scopes must contain openid.",
    ],
  ];
  for (const [change, problem] of rows) {
    const environment = { ...REQUIRED, ...PROVIDER, JISS_OIDC_CLIENT_SECRET: "SHOWN-NOWHERE", ...change };
    assert.throws(() => readConfig(environment, readerOf({ "/map": JSON.stringify(MAP) })), {
      message: problem,
    });
  }
  assert.deepEqual(problemsOf({ JISS_OIDC_CLIENT_SECRET: "SHOWN-NOWHERE" }), [
    "JISS_OIDC_CLIENT_SECRET has no effect without JISS_OIDC_ISSUER: set that, or unset this",
  ]);
});
