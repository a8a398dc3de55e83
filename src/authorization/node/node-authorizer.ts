import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
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
  FixedScopeResolver,
} from "../authorizer.ts";
import { AccessScopes } from "../access-scopes.ts";
import { nodeRules } from "../rbac/default-roles/component-roles.ts";
import { policyNames } from "../rbac/default-roles/declare.ts";
import type { Rule } from "../rbac/policy.ts";
import { ruleAllows, ruleQuery } from "../rbac/rule-match.ts";
import type { LaterDecisions } from "./release-decisions.ts";
import { allowed, noOpinion, NodeRelations, type Decide, type NodeNeeds } from "./relations.ts";

const nothing: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "" };

/**
 * Allows the agent of a node (user `system:node:NAME` in group `system:nodes`) what it needs for the pods on its node, and
 * has no opinion on anything else (mode Node). The NodeRestriction admission plugin limits an agent to its own Node and Pods.
 */
export class NodeAuthorizer implements Authorizer, RuleResolver, FixedScopeResolver {
  private readonly leaseNamespace: string;
  private readonly rules: readonly Rule[];
  private readonly deciders: ReadonlyMap<string, Decide>;
  private readonly relations: NodeRelations;

  /** @param later undefined in the reference release. */
  constructor(
    needs: NodeNeeds,
    private readonly vocabulary: Vocabulary,
    private readonly later?: LaterDecisions,
  ) {
    const relations = (this.relations = new NodeRelations(needs));
    this.leaseNamespace = vocabulary.nodeLeaseNamespace;
    this.rules = later?.rules ?? nodeRules(policyNames(vocabulary));
    this.deciders = new Map([
      ["/secrets", (node, request) => relations.authorizeRead(node, request, "secret")],
      ["/configmaps", (node, request) => relations.authorizeRead(node, request, "configmap")],
      ["/persistentvolumeclaims", (node, request) => this.authorizeClaim(node, request)],
      [
        "/persistentvolumes",
        (node, request) => relations.authorizeGet(node, request, () => this.hasVolume(node, request)),
      ],
      ["/serviceaccounts", (node, request) => this.authorizeServiceAccount(node, request)],
      [
        `${groupName(storage, vocabulary)}/volumeattachments`,
        (node, request) =>
          relations.authorizeGet(node, request, () => this.relations.graph.isAttachedTo(node, request.name)),
      ],
      [
        `${groupName(coordination, vocabulary)}/leases`,
        (node, request) => this.authorizeLease(node, request),
      ],
      [`${groupName(storage, vocabulary)}/csinodes`, (node, request) => this.authorizeCsiNode(node, request)],
      ...(later?.deciders ?? []),
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

  private authorizeClaim(node: string, request: ResourceAttributes): MaybePromise<Decision> {
    if (request.subresource !== "status")
      return this.relations.authorizeGet(node, request, () =>
        this.relations.hasObject(node, request, "claim"),
      );
    if (request.verb !== "get" && request.verb !== "update" && request.verb !== "patch")
      return noOpinion("can only get/update/patch this type");
    return this.relations.authorizeRelated(node, request, () =>
      this.relations.hasObject(node, request, "claim"),
    );
  }

  private authorizeServiceAccount(node: string, request: ResourceAttributes): MaybePromise<Decision> {
    const read = this.later?.readServiceAccount;
    if (read !== undefined && request.verb === "get" && request.subresource === "")
      return read(node, request);
    if (request.verb !== "create" || request.name === "")
      return noOpinion("can only create tokens for individual service accounts");
    if (request.subresource !== "token")
      return noOpinion("can only create token subresource of serviceaccount");
    return this.relations.authorizeRelated(node, request, () =>
      this.relations.hasObject(node, request, "serviceaccount"),
    );
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

  private hasVolume(node: string, { name }: ResourceAttributes): boolean {
    return this.relations.graph.needsVolume(node, name);
  }
}

const ownVerbs = new Set(["get", "create", "update", "patch", "delete"]);

/**
 * Returns the node name of a node agent: a user `system:node:NAME` in the group `system:nodes`. Empty if the agent's name has no
 * node name; undefined for any other user.
 */
export function nodeNameOf({ systemPrefix }: Vocabulary, { name, groups }: UserInfo): string | undefined {
  const prefix = `${systemPrefix}node:`;
  if (!name.startsWith(prefix) || !groups.includes(`${systemPrefix}nodes`)) return undefined;
  return name.slice(prefix.length);
}
