import { certificatesIn } from "../base/certificates/pem.ts";
import { cleanPath } from "../base/network/url-path.ts";

/** `clientConfig` of a webhook in API objects (spec: conventions 2.9). */
export interface WebhookClientConfig {
  readonly url?: string | null | undefined;
  readonly service?:
    | {
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly path?: string | null | undefined;
        readonly port?: number | null | undefined;
      }
    | null
    | undefined;
  /** PEM in base64. */
  readonly caBundle?: string | undefined;
}

/** One port of a Service. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Address of a webhook and the CA for its certificate. */
export interface WebhookTarget {
  /** Equal for targets that can share connections. */
  readonly key: string;
  readonly url: URL;
  /** The service behind the URL; undefined if the host is resolved by DNS. */
  readonly service: ServicePort | undefined;
  /** CA certificates (PEM) for verifying the webhook; undefined: the system's. */
  readonly ca: readonly string[] | undefined;
  /** Host and port, the key of its credentials: `name.namespace.svc:443`, `example.com:8443`. */
  readonly hostPort: string;
}

const httpsPort = 443;

/**
 * Resolves a `clientConfig`. The certificate of a service must be for `<name>.<namespace>.svc`, that of a URL for its host.
 *
 * @throws {TypeError} neither a URL nor a service, or the URL isn't plain `https`; validation rejects such objects.
 */
export function webhookTarget({ url, service, caBundle = "" }: WebhookClientConfig): WebhookTarget {
  const ca = caBundle === "" ? undefined : certificatesIn(Buffer.from(caBundle, "base64").toString("latin1"));
  const endpoint = service === undefined || service === null ? ofUrl(url ?? "") : ofService(service);
  const key = JSON.stringify([endpoint.url.origin, endpoint.service ?? null, caBundle]);
  return { key, ...endpoint, ca };
}

type Endpoint = Pick<WebhookTarget, "url" | "service" | "hostPort">;

function ofUrl(text: string): Endpoint {
  const url = new URL(text);
  const plain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url.protocol !== "https:" || !plain) {
    throw new TypeError("the URL must begin with https and have neither a user, a query nor a fragment");
  }
  const hostPort = `${url.hostname}:${url.port === "" ? httpsPort : url.port}`;
  return { url: cleanPath(url), service: undefined, hostPort };
}

function ofService({
  namespace = "",
  name = "",
  path,
  port,
}: NonNullable<WebhookClientConfig["service"]>): Endpoint {
  const number = port ?? httpsPort;
  const hostPort = `${name}.${namespace}.svc:${number}`;
  const absolute = (path ?? "").startsWith("/") ? path! : `/${path ?? ""}`;
  const url = cleanPath(new URL(`https://${hostPort}${absolute}`));
  return { url, service: { namespace, name, port: number }, hostPort };
}
