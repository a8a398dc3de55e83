import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../../base/certificates/pem.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import { certificateExpiration } from "../../http/metrics/certificate-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Serving } from "./serving.ts";

/** The certificates of a server whose expiration its metrics show. */
type ShownCertificate =
  "serving" | "client-ca" | "requestheader-client-ca" | "proxy-client" | "kubelet-client" | "kubelet-ca";

/** Certificates in PEM, in one string or several; the same value until they change. */
type Certificates = string | readonly string[];

/** Shows the expiration of the serving certificate, of the CAs of clients, and of the certificates for connections to node agents. */
export function showCertificates(
  metrics: MetricSet,
  vocabulary: Vocabulary,
  { serving, connections }: { readonly serving: Serving | undefined; readonly connections: ConnectionRules },
): void {
  const show = (certificate: ShownCertificate, current: () => Certificates | undefined) =>
    showExpiration(metrics, vocabulary, certificate, current);
  show("serving", () => serving?.certificate);
  show("client-ca", () => serving?.authorities.clients.certificates);
  show("requestheader-client-ca", () => serving?.authorities.proxies?.certificates);
  const { cert, ca } = connections.nodeAgents.tls;
  show("kubelet-client", () => cert);
  show("kubelet-ca", () => ca);
}

/**
 * Shows the expiration of certificates in the metrics: of several, of the one that expires first.
 *
 * @param current returns the certificates at present; undefined if there are none.
 */
export function showExpiration(
  metrics: MetricSet,
  { name }: Vocabulary,
  certificate: ShownCertificate,
  current: () => Certificates | undefined,
): void {
  let last: Certificates | undefined;
  metrics.collectWith(() => {
    const certificates = current();
    if (certificates === last) return;
    last = certificates;
    const seconds = certificates === undefined ? undefined : expirationSeconds(certificates);
    if (seconds !== undefined) metrics.sample(certificateExpiration(name), certificate).set(seconds);
  });
}

/** Returns when the first of the certificates expires, in seconds since 1970; undefined if there are none. */
function expirationSeconds(certificates: Certificates): number | undefined {
  const texts = typeof certificates === "string" ? certificatesIn(certificates) : certificates;
  let first: number | undefined;
  for (const text of texts) {
    const seconds = Date.parse(new X509Certificate(text).validTo) / 1000;
    if (first === undefined || seconds < first) first = seconds;
  }
  return first;
}
