import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Decision, ResourceAttributes } from "../authorizer.ts";
import { objectKey, type NeededType, type NodeGraph } from "./node-graph.ts";

/** Source of the graph of nodes and the objects they need. */
export interface NodeNeeds {
  /** Resolves when the graph reflects every write acknowledged before the call. */
  sync(): MaybePromise<void>;
  readonly graph: NodeGraph;
}

/** Decides a request of the agent of a node for one type of resources. */
export type Decide = (node: string, request: ResourceAttributes) => MaybePromise<Decision>;

export const allowed: Decision = { verdict: "allow", reason: "", evaluationError: "" };

export function noOpinion(reason: string): Decision {
  return { verdict: "noOpinion", reason, evaluationError: "" };
}

/** Decisions that depend on the objects that a node needs. */
export class NodeRelations {
  constructor(private readonly needs: NodeNeeds) {}

  get graph(): NodeGraph {
    return this.needs.graph;
  }

  /** Allows get, list and watch of a single namespaced object that the node needs. */
  authorizeRead(node: string, request: ResourceAttributes, type: NeededType): MaybePromise<Decision> {
    if (request.verb !== "get" && request.verb !== "list" && request.verb !== "watch")
      return noOpinion("can only read resources of this type");
    if (request.subresource !== "") return noOpinion("cannot read subresource");
    if (request.namespace === "") return noOpinion("can only read namespaced object of this type");
    return this.authorizeRelated(node, request, () => this.hasObject(node, request, type));
  }

  /** Allows get of an object for which `has` is true. */
  authorizeGet(node: string, request: ResourceAttributes, has: () => boolean): MaybePromise<Decision> {
    if (request.verb !== "get") return noOpinion("can only get individual resources of this type");
    if (request.subresource !== "") return noOpinion("cannot get subresource");
    return this.authorizeRelated(node, request, has);
  }

  /** Allows the request if `has` is true once the graph is in sync. */
  authorizeRelated(node: string, { name }: ResourceAttributes, has: () => boolean): MaybePromise<Decision> {
    if (name === "") return noOpinion("No Object name found");
    return andThen(this.needs.sync(), () =>
      has() ? allowed : noOpinion(`no relationship found between node '${node}' and this object`),
    );
  }

  /** Whether a pod of the node, or a volume of such a pod, refers to the object of the request. */
  hasObject(node: string, { namespace, name }: ResourceAttributes, type: NeededType): boolean {
    return this.graph.needs(node, objectKey(type, namespace, name));
  }
}
