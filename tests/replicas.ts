/** Several hosts of one deployment over one libSQL server: the same secrets, a data directory each. */
import { deploymentIn } from "./program.ts";
import { type Sqld, startSqld } from "./sqld.ts";

export interface Host {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface SharedDeployment {
  readonly sqld: Sqld;
  readonly hosts: readonly Host[];
  /** PEM. */
  readonly signingKey: string;
  remove(): Promise<void>;
}

/** `url`: where a host finds the server, if not at its own address. */
export async function sharedDeployment(
  count: number,
  { url, within }: {
    readonly url?: (sqld: Sqld, host: number) => string;
    /** The folder of all files; else a temporary one. */
    readonly within?: string;
  } = {},
): Promise<SharedDeployment> {
  const deployment = await deploymentIn(within ?? await Deno.makeTempDir({ prefix: "jiss-test-" }));
  const sqld = await startSqld({ directory: `${deployment.directory}/sqld` });
  const signingKey = await Deno.readTextFile(`${deployment.directory}/data/signing-key.pem`);
  const hosts: Host[] = [];
  for (let index = 0; index < count; index += 1) {
    const directory = `${deployment.directory}/host-${index}`;
    await Deno.mkdir(directory, { mode: 0o700 });
    await Deno.writeTextFile(`${directory}/signing-key.pem`, signingKey, { mode: 0o600 });
    hosts.push({
      directory,
      env: {
        ...deployment.env,
        JISS_DATA_DIR: directory,
        JISS_DATABASE_URL: url?.(sqld, index) ?? sqld.url,
        JISS_DATABASE_ADMIN_URL: sqld.adminUrl,
      },
    });
  }
  return {
    sqld,
    hosts,
    signingKey,
    async remove() {
      await sqld.stop();
      await deployment.remove();
    },
  };
}
