/** Checks whether the limited addresses are those of the clients. */
import { RATE_LIMIT_IP_DEFAULT } from "../../domain/limits.ts";
import { type Examined, type Finding, ok } from "./check.ts";

const RAISE =
  "raise JISS_RATE_LIMIT_IP to what an application server sends in a minute; behind a proxy set JISS_TRUSTED_PROXIES to its address";

export function trustedProxies({ config }: Examined): Finding {
  const { trustedProxies: networks, rateLimitIp } = config;
  const everybody = networks.filter((network) => network.endsWith("/0"));
  if (everybody.length > 0) {
    return {
      state: "wrong",
      what: `JISS_TRUSTED_PROXIES believes everybody (${
        everybody.join(", ")
      }): whoever sends X-Forwarded-For is limited as whom he likes`,
      mend: "name the proxies' own addresses",
    };
  }
  const limit = `each address may send ${rateLimitIp} requests a minute`;
  if (networks.length > 0) return ok(`${limit}; X-Forwarded-For is believed from ${networks.join(", ")}`);
  return rateLimitIp === RATE_LIMIT_IP_DEFAULT
    ? { state: "note", what: `${limit}, and no proxy is trusted to name others`, mend: RAISE }
    : ok(`${limit}, and no proxy is trusted to name others`);
}
