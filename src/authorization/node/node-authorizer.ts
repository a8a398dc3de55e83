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
} from "../authorizer.ts";
import { nodeRules } from "../rbac/default-roles/component-roles.ts";
import { wordsOf } from "../rbac/default-roles/declare.ts";
import type { Rule } from "../rbac/policy.ts";
import { ruleAllows, ruleQuery } from "../rbac/rule-match.ts";
import { nodeNameOf } from "./node-name.ts";
import { objectKey, type NeededType, type NodeGraph } from "./node-graph.ts";

/** Says which node needs what, as of every write acknowledged before the question. */
export interface NodeNeeds {
  /** Resolves when every such write is known. */
  sync(): MaybePromise<void>;
  readonly graph: NodeGraph;
}

const allowed: Decision = { verdict: "allow", reason: "", evaluationError: "" };
const nothing: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "" };

/**
 * Allows the agent of a node (user `system:node:NAME` in group `system:nodes`) what it needs for the pods on its node, and
 * has no opinion on anything else (mode Node). The NodeRestriction admission plugin limits an agent to its own Node and Pods.
 */
export class NodeAuthorizer implements Authorizer, RuleResolver {
  private readonly leaseNamespace: string;
  private readonly rules: readonly Rule[];
  private readonly ask: ReadonlyMap<
    string,
    (node: string, asked: ResourceAttributes) => MaybePromise<Decision>
  >;

  constructor(
    private readonly needs: NodeNeeds,
    private readonly vocabulary: Vocabulary,
  ) {
    this.leaseNamespace = vocabulary.nodeLeaseNamespace;
    this.rules = nodeRules(wordsOf(vocabulary));
    this.ask = new Map([
      ["/secrets", (node, asked) => this.readOne(node, asked, "secret")],
      ["/configmaps", (node, asked) => this.readOne(node, asked, "configmap")],
      ["/persistentvolumeclaims", (node, asked) => this.claim(node, asked)],
      ["/persistentvolumes", (node, asked) => this.getOne(node, asked, () => this.hasVolume(node, asked))],
      ["/serviceaccounts", (node, asked) => this.createToken(node, asked)],
      [
        `${groupName(storage, vocabulary)}/volumeattachments`,
        (node, asked) => this.getOne(node, asked, () => this.needs.graph.isAttachedTo(node, asked.name)),
      ],
      [`${groupName(coordination, vocabulary)}/leases`, (node, asked) => this.lease(node, asked)],
      [`${groupName(storage, vocabulary)}/csinodes`, (node, asked) => this.ownDriverList(node, asked)],
    ]);
  }

  authorize(attributes: Attributes): MaybePromise<Decision> {
    const node = nodeNameOf(this.vocabulary, attributes.user);
    if (node === undefined) return noOpinion("");
    if (node === "") return noOpinion(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const one =
      attributes.kind === "resource" ? this.ask.get(`${attributes.group}/${attributes.resource}`) : undefined;
    if (one !== undefined) return one(node, attributes as ResourceAttributes);
    const query = ruleQuery(attributes);
    return this.rules.some((rule) => ruleAllows(rule, query)) ? allowed : noOpinion("");
  }

  /** What a node may do depends on its pods, so its rules can't be listed. */
  rulesFor(user: UserInfo): RuleList {
    if (nodeNameOf(this.vocabulary, user) === undefined) return nothing;
    const evaluationError = "node authorizer does not support user rule resolution";
    return { ...nothing, incomplete: true, evaluationError };
  }

  private readOne(node: string, asked: ResourceAttributes, type: NeededType): MaybePromise<Decision> {
    if (asked.verb !== "get" && asked.verb !== "list" && asked.verb !== "watch")
      return noOpinion("can only read resources of this type");
    if (asked.subresource !== "") return noOpinion("cannot read subresource");
    if (asked.namespace === "") return noOpinion("can only read namespaced object of this type");
    return this.related(node, asked, () => this.hasObject(node, asked, type));
  }

  private claim(node: string, asked: ResourceAttributes): MaybePromise<Decision> {
    if (asked.subresource !== "status")
      return this.getOne(node, asked, () => this.hasObject(node, asked, "claim"));
    if (asked.verb !== "get" && asked.verb !== "update" && asked.verb !== "patch")
      return noOpinion("can only get/update/patch this type");
    return this.related(node, asked, () => this.hasObject(node, asked, "claim"));
  }

  private getOne(node: string, asked: ResourceAttributes, has: () => boolean): MaybePromise<Decision> {
    if (asked.verb !== "get") return noOpinion("can only get individual resources of this type");
    if (asked.subresource !== "") return noOpinion("cannot get subresource");
    return this.related(node, asked, has);
  }

  private createToken(node: string, asked: ResourceAttributes): MaybePromise<Decision> {
    if (asked.verb !== "create" || asked.name === "")
      return noOpinion("can only create tokens for individual service accounts");
    if (asked.subresource !== "token")
      return noOpinion("can only create token subresource of serviceaccount");
    return this.related(node, asked, () => this.hasObject(node, asked, "serviceaccount"));
  }

  private lease(node: string, asked: ResourceAttributes): Decision {
    if (!ownVerbs.has(asked.verb))
      return noOpinion("can only get, create, update, patch, or delete a node lease");
    if (asked.namespace !== this.leaseNamespace)
      return noOpinion(`can only access leases in the "${this.leaseNamespace}" system namespace`);
    // The name of what is created isn't known yet; admission looks at it.
    if (asked.verb === "create" || asked.name === node) return allowed;
    return noOpinion("can only access node lease with the same name as the requesting node");
  }

  private ownDriverList(node: string, asked: ResourceAttributes): Decision {
    if (!ownVerbs.has(asked.verb))
      return noOpinion("can only get, create, update, patch, or delete a CSINode");
    if (asked.subresource !== "") return noOpinion("cannot authorize CSINode subresources");
    if (asked.verb === "create" || asked.name === node) return allowed;
    return noOpinion("can only access CSINode with the same name as the requesting node");
  }

  private hasObject(node: string, { namespace, name }: ResourceAttributes, type: NeededType): boolean {
    return this.needs.graph.needs(node, objectKey(type, namespace, name));
  }

  private hasVolume(node: string, { name }: ResourceAttributes): boolean {
    return this.needs.graph.needsVolume(node, name);
  }

  /** Looks into the graph when it knows all that is stored. */
  private related(node: string, { name }: ResourceAttributes, has: () => boolean): MaybePromise<Decision> {
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
