import type { Clock } from "../base/time/clock.ts";
import type { Client } from "../resources/clients/client.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { mergeCertificates } from "./certificate-bundle.ts";
import { createOrUpdate, retryRaced } from "./create-or-update.ts";

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}

const name = "extension-apiserver-authentication";
const clientKey = "client-ca-file";
const proxyPrefix = "requestheader-";
/** The number of attempts if other servers write at the same time. */
const maxAttempts = 5;

/** The CA certificates by which a server verifies clients and authenticating proxies. */
export interface ClusterTrust {
  /** PEM of the CA certificates for client certificates. */
  readonly clients: readonly string[];
  /** Settings of the authenticating proxies; undefined without any. */
  readonly proxies:
    | {
        /** PEM of the CA certificates for the proxies' certificates. */
        readonly certificates: readonly string[];
        readonly usernameHeaders: readonly string[];
        readonly uidHeaders?: readonly string[] | undefined;
        readonly groupHeaders?: readonly string[] | undefined;
        readonly extraHeaderPrefixes?: readonly string[] | undefined;
        readonly allowedNames?: readonly string[] | undefined;
      }
    | undefined;
}

/**
 * Publishes the trust in the ConfigMap `extension-apiserver-authentication` of the system namespace, with which
 * extension API servers authenticate callers. Values of other servers over the same store remain, except expired
 * certificates.
 *
 * @throws {StatusError} the ConfigMap can't be written.
 */
export async function publishClusterTrust(
  { vocabulary, clock }: { readonly vocabulary: Vocabulary; readonly clock: Clock },
  client: Client,
  trust: ClusterTrust,
): Promise<void> {
  const reference = {
    apiVersion: "v1",
    kind: "ConfigMap",
    namespace: vocabulary.systemNamespace,
    name,
  };
  const facts = factsOf(trust);
  const { apiVersion, kind, namespace } = reference;
  const merged = (live: ConfigMap | undefined) => {
    const data = { ...live?.data, ...mergedFacts(live?.data ?? {}, facts, clock.now()) };
    const isUpToDate = Object.entries(data).every(([key, text]) => live?.data?.[key] === text);
    if (live !== undefined && isUpToDate) return undefined;
    return { apiVersion, kind, metadata: { ...live?.metadata, name, namespace }, data };
  };
  await retryRaced(maxAttempts, () => createOrUpdate<ConfigMap>(client, reference, merged));
}

/** Lists of values by their key in the ConfigMap. */
type Facts = ReadonlyMap<string, readonly string[]>;

function factsOf({ clients, proxies }: ClusterTrust): Facts {
  const facts = new Map<string, readonly string[]>();
  if (clients.length > 0) facts.set(clientKey, clients);
  if (proxies === undefined) return facts;
  facts.set(`${proxyPrefix}${clientKey}`, proxies.certificates);
  facts.set(`${proxyPrefix}username-headers`, proxies.usernameHeaders);
  const { uidHeaders = [] } = proxies;
  if (uidHeaders.length > 0) facts.set(`${proxyPrefix}uid-headers`, uidHeaders);
  facts.set(`${proxyPrefix}group-headers`, proxies.groupHeaders ?? []);
  facts.set(`${proxyPrefix}extra-headers-prefix`, proxies.extraHeaderPrefixes ?? []);
  facts.set(`${proxyPrefix}allowed-names`, proxies.allowedNames ?? []);
  return facts;
}

/** Merges the facts of this server with the published ones. */
function mergedFacts(
  published: Readonly<Record<string, string>>,
  facts: Facts,
  nowMs: number,
): Record<string, string> {
  const entries = [...facts].map(([key, values]) => {
    const before = published[key] ?? "";
    if (key.endsWith(clientKey)) return [key, mergeCertificates(before, values, nowMs)];
    return [key, JSON.stringify([...new Set([...listIn(before), ...values])])];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function listIn(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
