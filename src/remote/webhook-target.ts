import { certificatesIn } from "../base/certificates/pem.ts";
import { cleanPath } from "../base/url-path.ts";

/** How a webhook is reached, as objects of the API write it (`clientConfig`; spec: conventions 2.9). */
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

/** A service of the cluster, by one of its ports. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where a webhook is, and how its certificate is verified. */
export interface WebhookTarget {
  /** The same for targets that can share connections. */
  readonly key: string;
  readonly url: URL;
  /** The service behind the URL; undefined where its host is looked up as any other. */
  readonly service: ServicePort | undefined;
  /** Authorities (PEM) that its certificate is verified with; undefined: those that the machine trusts. */
  readonly ca: readonly string[] | undefined;
  /** Host and port, by which its credentials are found: `name.namespace.svc:443`, `example.com:8443`. */
  readonly hostPort: string;
}

const httpsPort = 443;

/**
 * Reads where a webhook is. The certificate of a service must be for `<name>.<namespace>.svc`, that of a URL for its host.
 *
 * @throws {TypeError} it isn't one of a URL and a service, or the URL isn't plain `https`; validation refuses such.
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
