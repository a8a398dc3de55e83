import { clusterInfo } from "../../controllers/bootstrap/signer.ts";
import { apiServiceNamespace } from "../../controllers/api-service/service.ts";
import { Lease } from "../../kinds/coordination/lease.ts";
import { ConfigMap } from "../../kinds/core/config-map.ts";
import { Endpoints } from "../../kinds/core/endpoints.ts";
import { Service } from "../../kinds/core/service/service.ts";
import { EndpointSlice } from "../../kinds/discovery/endpoint-slice.ts";
import { keyOf, resourceOf } from "../../resources/registry/registry.ts";
import type { Kind } from "../../schema/kind.ts";
import type { MemoryStore } from "../../storage/memory/memory-store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Recognizes the keys of objects with which a server with a socket publishes its address. */
export interface OwnKeys {
  /** Whether the key is that of a Lease of a server, the Endpoints, EndpointSlice or Service of the API, or `cluster-info`. */
  has(key: string): boolean;
  /** Returns the keys in a store of all of these but the Service: a server creates them when they are missing. */
  recreatedIn(store: MemoryStore): string[];
}

/** Returns the keys of a vocabulary. */
export function ownKeys(vocabulary: Vocabulary): OwnKeys {
  const { systemNamespace, publicNamespace, apiServiceName, components } = vocabulary;
  const key = (kind: Kind, namespace: string, name: string) =>
    keyOf(resourceOf(kind, vocabulary).stored, namespace, name);
  const leases = key(Lease, systemNamespace, `${components.apiServer}-`);
  const leaseFolder = leases.slice(0, leases.lastIndexOf("/") + 1);
  const others = [
    key(Endpoints, apiServiceNamespace, apiServiceName),
    key(EndpointSlice, apiServiceNamespace, apiServiceName),
    key(ConfigMap, publicNamespace, clusterInfo.name),
  ];
  const service = key(Service, apiServiceNamespace, apiServiceName);
  const all = new Set([service, ...others]);
  return {
    has: (one) => one.startsWith(leases) || all.has(one),
    recreatedIn(store) {
      const inFolder = store.range({ prefix: leaseFolder }).entries.map((entry) => entry.key);
      const stored = others.filter((one) => store.get(one) !== undefined);
      return [...inFolder.filter((one) => one.startsWith(leases)), ...stored];
    },
  };
}
