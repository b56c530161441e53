/** The certificates that receivers of webhooks are trusted by: the system's, and those that the administrator adds. */
import type { Environment, ReadFile } from "./environment.ts";

/**
 * Where systems keep their certificates, as OpenSSL's variable says or in the order of Go's `crypto/x509`: Debian and
 * Alpine, Fedora and RHEL, openSUSE, OpenELEC, newer RHEL, Alpine and macOS. Read as files, because Deno gives them
 * out only together with all that it knows of the system.
 */
const FILES: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** PEM, each by itself; none where the system has no file of them, or it may not be read. */
export function systemCertificates(environment: Environment, readFile: ReadFile): readonly string[] {
  const own = environment.SSL_CERT_FILE;
  for (const path of own === undefined || own === "" ? FILES : [own]) {
    try {
      const found = certificatesIn(readFile(path));
      if (found.length > 0) return found;
    } catch {
      // The next may be there.
    }
  }
  return [];
}

const CERTIFICATE = /-----BEGIN ?CERTIFICATE-----[^-]+-----END ?CERTIFICATE-----/g;

export function certificatesIn(text: string): readonly string[] {
  return text.match(CERTIFICATE) ?? [];
}
