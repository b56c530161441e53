/** Checks whether the limited addresses are those of the clients. */
import { RATE_LIMIT_IP_DEFAULT } from "../../domain/limits.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";

const RAISE_LIMIT =
  "raise JISS_RATE_LIMIT_IP to the number of requests that an application server sends in a minute; behind a proxy, set JISS_TRUSTED_PROXIES to its address";

export function trustedProxies({ config }: CheckInput): Finding {
  const { trustedProxies: networks, rateLimitIp } = config;
  const wholeInternet = networks.filter((network) => network.endsWith("/0"));
  if (wholeInternet.length > 0) {
    return {
      state: "wrong",
      what: `JISS_TRUSTED_PROXIES contains every address (${
        wholeInternet.join(", ")
      }): any client can choose the address that is limited by sending X-Forwarded-For`,
      mend: "set it to the addresses of the proxies",
    };
  }
  const limit = `each address may send ${rateLimitIp} requests a minute`;
  if (networks.length > 0) return ok(`${limit}; X-Forwarded-For is trusted from ${networks.join(", ")}`);
  return rateLimitIp === RATE_LIMIT_IP_DEFAULT
    ? { state: "note", what: `${limit}, and no proxy is trusted`, mend: RAISE_LIMIT }
    : ok(`${limit}, and no proxy is trusted`);
}
