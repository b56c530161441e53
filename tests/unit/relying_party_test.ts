/** The name under which passkeys are made, for every kind of address that a service can have. */
import assert from "node:assert/strict";
import { relyingPartyOf } from "../../src/identity/relying_party.ts";

function accepts(baseUrl: string, rpId: string, origin: string): void {
  Deno.test(`passkeys at ${baseUrl} belong to ${rpId}`, () => {
    assert.deepEqual(relyingPartyOf(baseUrl), { rpId, origin });
  });
}

function refuses(baseUrl: string, reason: string, message: RegExp): void {
  Deno.test(`there are no passkeys at ${JSON.stringify(baseUrl)}: ${reason}`, () => {
    const found = relyingPartyOf(baseUrl);
    assert.ok(found.rpId === null);
    assert.equal(found.reason, reason);
    assert.match(found.message, message);
    assert.match(found.message, /Set JISS_BASE_URL to the address by which people open the service/);
  });
}

accepts("https://jiss.bank.example", "jiss.bank.example", "https://jiss.bank.example");
accepts("https://JISS.Bank.Example:443/", "jiss.bank.example", "https://jiss.bank.example");
accepts("https://jiss.bank.example:8443", "jiss.bank.example", "https://jiss.bank.example:8443");
accepts("https://apps.bank.example/jiss", "apps.bank.example", "https://apps.bank.example");
accepts("https://prüfung.bank.example", "xn--prfung-4ya.bank.example", "https://xn--prfung-4ya.bank.example");
accepts("https://jiss", "jiss", "https://jiss");
accepts("http://localhost:8080", "localhost", "http://localhost:8080");
accepts("http://jiss.localhost:8080", "jiss.localhost", "http://jiss.localhost:8080");
// `jiss dev` and `jiss serve` listen there if nobody says otherwise.
accepts("http://127.0.0.1:8080", "localhost", "http://localhost:8080");
accepts("http://[::1]:8080", "localhost", "http://localhost:8080");
accepts("http://[0:0:0:0:0:0:0:1]:8080", "localhost", "http://localhost:8080");
accepts("https://127.0.0.1:8443", "localhost", "https://localhost:8443");

refuses("http://jiss.bank.example", "plain_http", /^Browsers use passkeys over https and on localhost only/);
refuses("http://jiss:8080", "plain_http", /http:\/\/jiss:8080 is neither/);
refuses("http://notlocalhost:8080", "plain_http", /http:\/\/notlocalhost:8080 is neither/);
refuses("http://localhost.bank.example", "plain_http", /is neither/);
refuses("https://10.0.0.5:8443", "ip_address", /a host name, and 10\.0\.0\.5 is an IP address/);
refuses("https://0xa000005", "ip_address", /10\.0\.0\.5 is an IP address/);
refuses("http://0.0.0.0:8080", "ip_address", /0\.0\.0\.0 is an IP address/);
refuses("http://[::]:8080", "ip_address", /\[::\] is an IP address/);
refuses("http://127.0.0.2:8080", "ip_address", /127\.0\.0\.2 is an IP address/);
refuses("https://[2001:db8::5]", "ip_address", /\[2001:db8::5\] is an IP address/);
refuses("", "unreadable", /^Passkeys need an address of http or https/);
refuses("jiss.bank.example", "unreadable", /http or https/);
refuses("ftp://jiss.bank.example", "unreadable", /http or https/);
refuses("file:///jiss", "unreadable", /http or https/);
