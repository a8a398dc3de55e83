import { labelKey } from "../../vocabulary/names.ts";
import type { Endpoints } from "../../kinds/core/endpoints.ts";
import type { Node } from "../../kinds/core/node/node.ts";
import type { Pod } from "../../kinds/core/pod/pod.ts";
import type { Service } from "../../kinds/core/service/service.ts";
import { EndpointSlice } from "../../kinds/discovery/endpoint-slice.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { Client } from "../../resources/clients/client.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { groupName } from "../../schema/kind.ts";

/** Reads the objects of one namespace, and the nodes, that determine the target of a connection. */
export class Objects {
  private readonly client: Client;
  constructor(
    private readonly engine: Engine,
    private readonly namespace: string,
    user: UserInfo,
  ) {
    this.client = new Client(engine, user);
  }

  /** @throws {StatusError} NotFound */
  pod(name: string): Promise<Pod> {
    return this.client.get<Pod>(this.named("Pod", name));
  }

  /** As {@link Objects.pod}; undefined if it doesn't exist. */
  findPod(name: string): Promise<Pod | undefined> {
    return this.client.find<Pod>(this.named("Pod", name));
  }

  /** @throws {StatusError} NotFound */
  service(name: string): Promise<Service> {
    return this.client.get<Service>(this.named("Service", name));
  }

  /** @throws {StatusError} NotFound */
  node(name: string): Promise<Node> {
    return this.client.get<Node>({ apiVersion: "v1", kind: "Node", name });
  }

  endpoints(service: string): Promise<Endpoints | undefined> {
    return this.client.find<Endpoints>(this.named("Endpoints", service));
  }

  /** Returns the EndpointSlices of a service; none if the kind isn't served. */
  async slices(service: string): Promise<readonly EndpointSlice[]> {
    const { registry, vocabulary } = this.engine;
    const { group, version, name: kind } = EndpointSlice;
    const apiVersion = `${groupName(group, vocabulary)}/${version}`;
    if (registry.findKind(apiVersion, kind) === undefined) return [];
    const labelSelector = `${labelKey(vocabulary.domain, "service-name")}=${service}`;
    const list = { apiVersion, kind, namespace: this.namespace, labelSelector };
    return (await this.client.list<EndpointSlice>(list)).items;
  }

  private named(kind: string, name: string) {
    return { apiVersion: "v1", kind, name, namespace: this.namespace };
  }
}
