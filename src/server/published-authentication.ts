import { X509Certificate } from "node:crypto";
import type { IdentityHeaders } from "../authentication/authenticating-proxy.ts";
import { certificatesIn } from "../base/pem.ts";
import type { Client } from "../resources/client.ts";
import { isRaced } from "../resources/races.ts";
import type { ApiObject } from "../schema/kind.ts";
import { defaultAuthentication } from "./authentication-options.ts";
import type { ServerOptions } from "./options.ts";
import type { ClientAuthorities } from "./serving.ts";

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}

const name = "extension-apiserver-authentication";
const clientKey = "client-ca-file";
const proxyPrefix = "requestheader-";
/** How often a write is tried again that another server's came before. */
const attempts = 5;

/**
 * Tells, in a config map of the system's namespace, by which authorities this server knows clients and proxies, and in
 * which headers proxies say who somebody is: servers that extend the API let callers in by the same (as the reference).
 * What other servers over the same store have told stays, but for certificates that have expired.
 *
 * @throws {StatusError} when it can't be written.
 */
export async function publishAuthentication(
  options: ServerOptions,
  client: Client,
  authorities: ClientAuthorities,
  headers: IdentityHeaders | undefined,
): Promise<void> {
  const reference = {
    apiVersion: "v1",
    kind: "ConfigMap",
    namespace: options.vocabulary.systemNamespace,
    name,
  };
  const facts = factsOf(options, authorities, headers);
  for (let attempt = 1; ; attempt++) {
    const live = await client.find<ConfigMap>(reference);
    const data = { ...live?.data, ...joined(live?.data ?? {}, facts, options.clock.now()) };
    if (live !== undefined && Object.entries(data).every(([key, text]) => live.data?.[key] === text)) return;
    const { apiVersion, kind, namespace } = reference;
    const metadata = { ...live?.metadata, name, namespace };
    try {
      if (live === undefined) await client.add({ apiVersion, kind, metadata, data });
      else await client.update({ apiVersion, kind, metadata, data });
      return;
    } catch (error) {
      if (!isRaced(error) || attempt === attempts) throw error;
    }
  }
}

/** Lists by the key under which they are told. */
type Facts = ReadonlyMap<string, readonly string[]>;

function factsOf(
  { authentication: { proxy } = defaultAuthentication }: ServerOptions,
  { clients, proxies }: ClientAuthorities,
  headers: IdentityHeaders | undefined,
): Facts {
  const facts = new Map<string, readonly string[]>();
  if (clients.certificates.length > 0) facts.set(clientKey, clients.certificates);
  if (proxy === undefined || proxies === undefined || headers === undefined) return facts;
  facts.set(`${proxyPrefix}${clientKey}`, proxies.certificates);
  facts.set(`${proxyPrefix}username-headers`, proxy.usernameHeaders);
  facts.set(`${proxyPrefix}group-headers`, proxy.groupHeaders ?? []);
  facts.set(`${proxyPrefix}extra-headers-prefix`, proxy.extraHeaderPrefixes ?? []);
  facts.set(`${proxyPrefix}allowed-names`, proxy.allowedNames ?? []);
  return facts;
}

/** This server's facts with those that are told already. */
function joined(told: Readonly<Record<string, string>>, facts: Facts, nowMs: number): Record<string, string> {
  const entries = [...facts].map(([key, values]) => {
    const before = told[key] ?? "";
    if (key.endsWith(clientKey)) return [key, joinedCertificates(before, values, nowMs)];
    return [key, JSON.stringify([...new Set([...listIn(before), ...values])])];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function joinedCertificates(told: string, own: readonly string[], nowMs: number): string {
  const blocks = certificatesIn(told);
  const all = [...blocks, ...own].map((pem) => pem.trim()).filter((pem) => isValid(pem, nowMs));
  return [...new Set(all)].map((pem) => `${pem}\n`).join("");
}

/** What somebody else wrote there may be anything. */
function isValid(pem: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(pem).validTo) > nowMs;
  } catch {
    return false;
  }
}

function listIn(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
