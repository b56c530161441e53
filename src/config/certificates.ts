/**
 * The certificates that are trusted for receivers of webhooks: the system's, and those that the administrator
 * adds.
 */
import type { Environment, ReadFile } from "./environment.ts";

/**
 * Files in which systems keep their certificates, if OpenSSL's variable names none. In the order of Go's
 * `crypto/x509`: Debian and Alpine, Fedora and RHEL, openSUSE, OpenELEC, newer RHEL, Alpine and macOS. Read
 * as files, because Deno gives access to them only together with all that it knows about the system.
 */
const CERTIFICATE_FILES: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** The certificates of the system, each PEM; empty if it has no such file, or the file cannot be read. */
export function systemCertificates(environment: Environment, readFile: ReadFile): readonly string[] {
  const named = environment.SSL_CERT_FILE;
  for (const path of named === undefined || named === "" ? CERTIFICATE_FILES : [named]) {
    try {
      const found = certificatesIn(readFile(path));
      if (found.length > 0) return found;
    } catch {
      // The next file may exist.
    }
  }
  return [];
}

const CERTIFICATE = /-----BEGIN ?CERTIFICATE-----[^-]+-----END ?CERTIFICATE-----/g;

export function certificatesIn(text: string): readonly string[] {
  return text.match(CERTIFICATE) ?? [];
}
