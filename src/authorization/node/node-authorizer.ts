import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { coordination, storage } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type {
  Attributes,
  Authorizer,
  Decision,
  ResourceAttributes,
  RuleList,
  RuleResolver,
  ScopeResolver,
} from "../authorizer.ts";
import { AccessScopes } from "../access-scopes.ts";
import { nodeRules } from "../rbac/default-roles/component-roles.ts";
import { policyNames } from "../rbac/default-roles/declare.ts";
import type { Rule } from "../rbac/policy.ts";
import { ruleAllows, ruleQuery } from "../rbac/rule-match.ts";
import { nodeNameOf } from "./node-name.ts";
import { objectKey, type NeededType, type NodeGraph } from "./node-graph.ts";

/** Source of the graph of nodes and the objects they need. */
export interface NodeNeeds {
  /** Resolves when the graph reflects every write acknowledged before the call. */
  sync(): MaybePromise<void>;
  readonly graph: NodeGraph;
}

const allowed: Decision = { verdict: "allow", reason: "", evaluationError: "" };
const nothing: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "" };

/**
 * Allows the agent of a node (user `system:node:NAME` in group `system:nodes`) what it needs for the pods on its node, and
 * has no opinion on anything else (mode Node). The NodeRestriction admission plugin limits an agent to its own Node and Pods.
 */
export class NodeAuthorizer implements Authorizer, RuleResolver, ScopeResolver {
  private readonly leaseNamespace: string;
  private readonly rules: readonly Rule[];
  private readonly deciders: ReadonlyMap<
    string,
    (node: string, request: ResourceAttributes) => MaybePromise<Decision>
  >;

  constructor(
    private readonly needs: NodeNeeds,
    private readonly vocabulary: Vocabulary,
  ) {
    this.leaseNamespace = vocabulary.nodeLeaseNamespace;
    this.rules = nodeRules(policyNames(vocabulary));
    this.deciders = new Map([
      ["/secrets", (node, request) => this.authorizeRead(node, request, "secret")],
      ["/configmaps", (node, request) => this.authorizeRead(node, request, "configmap")],
      ["/persistentvolumeclaims", (node, request) => this.authorizeClaim(node, request)],
      [
        "/persistentvolumes",
        (node, request) => this.authorizeGet(node, request, () => this.hasVolume(node, request)),
      ],
      ["/serviceaccounts", (node, request) => this.authorizeToken(node, request)],
      [
        `${groupName(storage, vocabulary)}/volumeattachments`,
        (node, request) =>
          this.authorizeGet(node, request, () => this.needs.graph.isAttachedTo(node, request.name)),
      ],
      [
        `${groupName(coordination, vocabulary)}/leases`,
        (node, request) => this.authorizeLease(node, request),
      ],
      [`${groupName(storage, vocabulary)}/csinodes`, (node, request) => this.authorizeCsiNode(node, request)],
    ]);
  }

  authorize(attributes: Attributes): MaybePromise<Decision> {
    const node = nodeNameOf(this.vocabulary, attributes.user);
    if (node === undefined) return noOpinion("");
    if (node === "") return noOpinion(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const decide =
      attributes.kind === "resource"
        ? this.deciders.get(`${attributes.group}/${attributes.resource}`)
        : undefined;
    if (decide !== undefined) return decide(node, attributes as ResourceAttributes);
    const query = ruleQuery(attributes);
    return this.rules.some((rule) => ruleAllows(rule, query)) ? allowed : noOpinion("");
  }

  /** Rules of a node can't be listed, because they depend on its pods. */
  rulesFor(user: UserInfo): RuleList {
    if (nodeNameOf(this.vocabulary, user) === undefined) return nothing;
    const evaluationError = "node authorizer does not support user rule resolution";
    return { ...nothing, incomplete: true, evaluationError };
  }

  /** Objects of a node can't be enumerated, because they depend on its pods. Other users have none. */
  scopesFor({ user }: ResourceAttributes): AccessScopes | undefined {
    return nodeNameOf(this.vocabulary, user) === undefined ? new AccessScopes() : undefined;
  }

  private authorizeRead(node: string, request: ResourceAttributes, type: NeededType): MaybePromise<Decision> {
    if (request.verb !== "get" && request.verb !== "list" && request.verb !== "watch")
      return noOpinion("can only read resources of this type");
    if (request.subresource !== "") return noOpinion("cannot read subresource");
    if (request.namespace === "") return noOpinion("can only read namespaced object of this type");
    return this.authorizeRelated(node, request, () => this.hasObject(node, request, type));
  }

  private authorizeClaim(node: string, request: ResourceAttributes): MaybePromise<Decision> {
    if (request.subresource !== "status")
      return this.authorizeGet(node, request, () => this.hasObject(node, request, "claim"));
    if (request.verb !== "get" && request.verb !== "update" && request.verb !== "patch")
      return noOpinion("can only get/update/patch this type");
    return this.authorizeRelated(node, request, () => this.hasObject(node, request, "claim"));
  }

  private authorizeGet(
    node: string,
    request: ResourceAttributes,
    has: () => boolean,
  ): MaybePromise<Decision> {
    if (request.verb !== "get") return noOpinion("can only get individual resources of this type");
    if (request.subresource !== "") return noOpinion("cannot get subresource");
    return this.authorizeRelated(node, request, has);
  }

  private authorizeToken(node: string, request: ResourceAttributes): MaybePromise<Decision> {
    if (request.verb !== "create" || request.name === "")
      return noOpinion("can only create tokens for individual service accounts");
    if (request.subresource !== "token")
      return noOpinion("can only create token subresource of serviceaccount");
    return this.authorizeRelated(node, request, () => this.hasObject(node, request, "serviceaccount"));
  }

  private authorizeLease(node: string, request: ResourceAttributes): Decision {
    if (!ownVerbs.has(request.verb))
      return noOpinion("can only get, create, update, patch, or delete a node lease");
    if (request.namespace !== this.leaseNamespace)
      return noOpinion(`can only access leases in the "${this.leaseNamespace}" system namespace`);
    // The request for a create has no name; NodeRestriction checks the name.
    if (request.verb === "create" || request.name === node) return allowed;
    return noOpinion("can only access node lease with the same name as the requesting node");
  }

  private authorizeCsiNode(node: string, request: ResourceAttributes): Decision {
    if (!ownVerbs.has(request.verb))
      return noOpinion("can only get, create, update, patch, or delete a CSINode");
    if (request.subresource !== "") return noOpinion("cannot authorize CSINode subresources");
    if (request.verb === "create" || request.name === node) return allowed;
    return noOpinion("can only access CSINode with the same name as the requesting node");
  }

  private hasObject(node: string, { namespace, name }: ResourceAttributes, type: NeededType): boolean {
    return this.needs.graph.needs(node, objectKey(type, namespace, name));
  }

  private hasVolume(node: string, { name }: ResourceAttributes): boolean {
    return this.needs.graph.needsVolume(node, name);
  }

  /** Allows the request if `has` is true once the graph is in sync. */
  private authorizeRelated(
    node: string,
    { name }: ResourceAttributes,
    has: () => boolean,
  ): MaybePromise<Decision> {
    if (name === "") return noOpinion("No Object name found");
    return andThen(this.needs.sync(), () =>
      has() ? allowed : noOpinion(`no relationship found between node '${node}' and this object`),
    );
  }
}

const ownVerbs = new Set(["get", "create", "update", "patch", "delete"]);

function noOpinion(reason: string): Decision {
  return { verdict: "noOpinion", reason, evaluationError: "" };
}
