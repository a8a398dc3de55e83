import { decodedText } from "../model/base64.ts";
import { certificateExpiry } from "../model/certificates.ts";
import { recordAt, textAt } from "../model/containers.ts";
import type { Metadata } from "../model/metadata.ts";
import { parseMetrics } from "../model/metrics.ts";
import { builtInType, type KnownTypes } from "../model/references.ts";
import { pathOf, type ResourceType } from "../model/resource-types.ts";
import { getJson, send } from "./client.ts";

/** A certificate that the user may know of. */
export interface KnownCertificate {
  readonly title: string;
  /** The object that has it; undefined for certificates of the server. */
  readonly object?: { readonly type: ResourceType; readonly namespace: string; readonly name: string };
  readonly expiresMs: number;
}

interface ListedObject {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

const limit = 200;

/**
 * Returns the certificates of the server, of TLS secrets and of certificate requests, the first to expire first. What the user may not
 * read is left out.
 */
export async function readCertificates(
  types: KnownTypes,
  signal: AbortSignal,
): Promise<readonly KnownCertificate[]> {
  const groups = await Promise.all([
    ofServer(signal),
    ofObjects(
      types,
      ["", "Secret"],
      `&fieldSelector=${encodeURIComponent("type=kubernetes.io/tls")}`,
      signal,
      (one) => textAt(recordAt(one, "data"), "tls.crt"),
    ),
    ofObjects(types, ["certificates", "CertificateSigningRequest"], "", signal, (one) =>
      textAt(recordAt(one, "status"), "certificate"),
    ),
  ]);
  signal.throwIfAborted();
  return groups.flat().toSorted((one, other) => one.expiresMs - other.expiresMs);
}

async function ofServer(signal: AbortSignal): Promise<KnownCertificate[]> {
  const response = await send("/metrics", { accept: "text/plain", signal }).catch(() => undefined);
  if (response === undefined) return [];
  const certificates: KnownCertificate[] = [];
  for (const [name, samples] of parseMetrics(await response.text())) {
    if (!name.endsWith("_certificate_expiration_timestamp_seconds")) continue;
    for (const { labels, value } of samples) {
      const use = Object.values(labels).join(" ");
      certificates.push({ title: `the server's ${use} certificate`, expiresMs: value * 1000 });
    }
  }
  return certificates;
}

async function ofObjects(
  types: KnownTypes,
  builtIn: readonly [string, string],
  query: string,
  signal: AbortSignal,
  pemOf: (object: ListedObject) => string,
): Promise<KnownCertificate[]> {
  const type = builtInType(types, builtIn);
  if (type === undefined) return [];
  const list = await getJson<{ items: ListedObject[] }>(`${pathOf(type, "")}?limit=${limit}${query}`, {
    signal,
  }).catch(() => undefined);
  return (list?.items ?? []).flatMap((one) => {
    const expiresMs = certificateExpiry(decodedText(pemOf(one)) ?? "");
    const { name, namespace = "" } = one.metadata;
    return expiresMs === undefined ? [] : [{ title: name, object: { type, namespace, name }, expiresMs }];
  });
}
