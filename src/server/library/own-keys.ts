import { clusterInfo } from "../../controllers/bootstrap/signer.ts";
import { apiServiceNamespace } from "../../controllers/api-service/service.ts";
import { Lease } from "../../kinds/coordination/lease.ts";
import { ConfigMap } from "../../kinds/core/config-map.ts";
import { Endpoints } from "../../kinds/core/endpoints.ts";
import { Service } from "../../kinds/core/service/service.ts";
import { EndpointSlice } from "../../kinds/discovery/endpoint-slice.ts";
import { keyOf, resourceOf } from "../../resources/registry/registry.ts";
import type { Kind } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Recognizes the keys of objects with which a server with a socket publishes its address. */
export interface OwnKeys {
  /** Those that it creates when they are missing: its Lease, Endpoints, EndpointSlice, and the ConfigMap `cluster-info`. */
  isRecreated(key: string): boolean;
  /** Those, and the API's own Service, whose ports the server updates. */
  has(key: string): boolean;
}

/** Returns the keys of a vocabulary. */
export function ownKeys(vocabulary: Vocabulary): OwnKeys {
  const { systemNamespace, publicNamespace, apiServiceName, components } = vocabulary;
  const key = (kind: Kind, namespace: string, name: string) =>
    keyOf(resourceOf(kind, vocabulary).stored, namespace, name);
  const leases = key(Lease, systemNamespace, `${components.apiServer}-`);
  const others = new Set([
    key(Endpoints, apiServiceNamespace, apiServiceName),
    key(EndpointSlice, apiServiceNamespace, apiServiceName),
    key(ConfigMap, publicNamespace, clusterInfo.name),
  ]);
  const service = key(Service, apiServiceNamespace, apiServiceName);
  const isRecreated = (one: string) => one.startsWith(leases) || others.has(one);
  return { isRecreated, has: (one) => one === service || isRecreated(one) };
}
