import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { applies, gate, rowsIn, since } from "../../base/release-rows.ts";
import { certificates, resource, storage } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Decision, ResourceAttributes } from "../authorizer.ts";
import { nodeRules } from "../rbac/default-roles/component-roles.ts";
import { policyNames } from "../rbac/default-roles/declare.ts";
import { declarationsOfRelease, type RoleOptions } from "../rbac/default-roles/release-roles.ts";
import type { Rule } from "../rbac/policy.ts";
import { selectsFieldValue } from "../request-selectors.ts";
import { needsNodeSelectors } from "./selector-needs.ts";
import { objectKey } from "./node-graph.ts";
import { allowed, noOpinion, NodeRelations, type Decide, type NodeNeeds } from "./relations.ts";

/** What a later release decides in another way than the reference release. */
export interface LaterDecisions {
  /** Rules of the role of nodes. */
  readonly rules: readonly Rule[];
  /** Decisions for types of resources, by `group/resource`; they replace those of the reference release. */
  readonly deciders: readonly (readonly [type: string, decide: Decide])[];
  /** Decides requests for service accounts that create no token; undefined if nodes can't read service accounts. */
  readonly readServiceAccount: Decide | undefined;
}

const hasCertificateRequests = applies(since("1.34", gate("PodCertificateRequest")));
const reportsVolumeHealth = applies(since("1.37", gate("CSIVolumeHealth")));
const readsServiceAccounts = applies(since("1.33"));
const deletesSlices = applies(since("1.31"));

/** Returns the decisions of a release after the reference release. */
export function laterDecisions(
  needs: NodeNeeds,
  vocabulary: Vocabulary,
  options: RoleOptions,
): LaterDecisions {
  const relations = new NodeRelations(needs);
  const withSelectors = needsNodeSelectors(options);
  const resources = groupName(resource, vocabulary);
  const claims: Decide = (node, request) =>
    relations.authorizeGet(node, request, () => relations.hasObject(node, request, "resourceclaim"));
  const certificateRequests: Decide = (node, request) => decideCertificateRequest(relations, node, request);
  const deciders = rowsIn<readonly [type: string, decide: Decide]>(
    [
      since("1.28", [`${resources}/resourceclaims`, claims]),
      since("1.30", [`${resources}/resourceslices`, slices(relations, options)]),
      since("1.34", [
        `${groupName(certificates, vocabulary)}/podcertificaterequests`,
        withSelectors && hasCertificateRequests(options) ? certificateRequests : () => noOpinion(""),
      ]),
      since("1.37", [`${groupName(storage, vocabulary)}/csinodes`, csiNodes(reportsVolumeHealth(options))]),
    ],
    options,
  );
  const withOwn: readonly (readonly [type: string, decide: Decide])[] = [
    ["/nodes", decideNode],
    ["/pods", (node, request) => decidePod(relations, node, request)],
  ];
  return {
    rules: rulesOf(vocabulary, options),
    deciders: withSelectors ? [...deciders, ...withOwn] : deciders,
    readServiceAccount: readsServiceAccounts(options) ? serviceAccounts(relations, options) : undefined,
  };
}

function rulesOf(vocabulary: Vocabulary, options: RoleOptions): readonly Rule[] {
  const names = policyNames(vocabulary);
  const name = `${names.prefix}node`;
  const role = { name, rules: nodeRules(names) };
  const { roles } = declarationsOfRelease({ roles: [role], bindings: [] }, "cluster", names, options);
  return roles.find((one) => one.name === name)?.rules ?? [];
}

function serviceAccounts(relations: NodeRelations, { enabled }: RoleOptions): Decide {
  const mayRead =
    enabled("KubeletServiceAccountTokenForCredentialProviders") || enabled("PodCertificateRequest");
  return (node, request) =>
    mayRead
      ? relations.authorizeRead(node, request, "serviceaccount")
      : noOpinion("not allowed to get service accounts");
}

/** A node reads its own Node, also before it exists. NodeRestriction limits writes to its own. */
function decideNode(node: string, { verb, name, subresource }: ResourceAttributes): Decision {
  if (subresource === "status") return verb === "update" || verb === "patch" ? allowed : noOpinion("");
  if (subresource !== "") return noOpinion("");
  switch (verb) {
    case "create":
    case "update":
    case "patch":
      return allowed;
    case "get":
    case "list":
    case "watch":
      if (name === node) return allowed;
      if (name === "") return noOpinion(`node '${node}' cannot read all nodes, only its own Node object`);
      return noOpinion(`node '${node}' cannot read '${name}', only its own Node object`);
    default:
      return noOpinion("");
  }
}

/** A node reads its own pods. NodeRestriction limits writes to them. */
function decidePod(
  relations: NodeRelations,
  node: string,
  request: ResourceAttributes,
): MaybePromise<Decision> {
  const { verb, namespace, name, subresource, selectors } = request;
  const isWrite = podWrites.get(subresource)?.includes(verb) === true;
  if (isWrite) return allowed;
  if (subresource !== "") return noOpinion("");
  const has = () => relations.graph.isPodOn(node, objectKey("pod", namespace, name));
  if (verb === "get") return relations.authorizeGet(node, request, has);
  if (verb !== "list" && verb !== "watch") return noOpinion("");
  if (selectsFieldValue(selectors, nodeNameField, node)) return allowed;
  if (name !== "") return relations.authorizeRelated(node, request, has);
  return noOpinion("can only list/watch pods with spec.nodeName field selector");
}

const nodeNameField = "spec.nodeName";

/** Verbs of writes by subresource of pods. */
const podWrites: ReadonlyMap<string, readonly string[]> = new Map([
  ["", ["create", "delete"]],
  ["status", ["update", "patch"]],
  ["eviction", ["create"]],
]);

/** A node writes its own slices; NodeRestriction checks the node of new ones. */
function slices(relations: NodeRelations, options: RoleOptions): Decide {
  const withCollections = deletesSlices(options);
  const withSelectors = needsNodeSelectors(options);
  const unknownVerb = withCollections
    ? "only the following verbs are allowed for a ResourceSlice: " +
      "get, watch, list, create, update, patch, delete, deletecollection"
    : "can only get, create, update, patch, or delete a ResourceSlice";
  return (node, request) => {
    const { verb, name, subresource, selectors } = request;
    if (subresource !== "") return noOpinion("cannot authorize ResourceSlice subresources");
    if (verb === "create") return allowed;
    if (verb === "get" || verb === "update" || verb === "patch" || verb === "delete") {
      const has = () => relations.graph.belongsTo(node, objectKey("resourceslice", "", name));
      return relations.authorizeRelated(node, request, has);
    }
    if (verb !== "list" && verb !== "watch" && !(withCollections && verb === "deletecollection"))
      return noOpinion(unknownVerb);
    if (!withSelectors || selectsFieldValue(selectors, nodeNameField, node)) return allowed;
    return noOpinion("can only list/watch/deletecollection resourceslices with nodeName field selector");
  };
}

function decideCertificateRequest(
  relations: NodeRelations,
  node: string,
  request: ResourceAttributes,
): MaybePromise<Decision> {
  const { verb, namespace, name, subresource, selectors } = request;
  if (subresource !== "")
    return noOpinion("nodes may not access the status subresource of PodCertificateRequests");
  if (verb === "create") return allowed;
  if (verb === "get") {
    const key = objectKey("podcertificaterequest", namespace, name);
    return relations.authorizeRelated(node, request, () => relations.graph.belongsTo(node, key));
  }
  if (verb !== "list" && verb !== "watch") return noOpinion(`nodes may not ${verb} podcertificaterequests`);
  if (selectsFieldValue(selectors, nodeNameField, node)) return allowed;
  return noOpinion("can only list/watch podcertificaterequests with nodeName field selector");
}

/** @param withStatus whether nodes report the health of volumes in the status. */
function csiNodes(withStatus: boolean): Decide {
  return (node, { verb, name, subresource }) => {
    if (subresource === "status") {
      if (!withStatus) return noOpinion("CSINode status access requires CSIVolumeHealth feature");
      if (verb !== "get" && verb !== "update" && verb !== "patch")
        return noOpinion("can only get, update, or patch CSINode status");
    } else if (subresource !== "") {
      return noOpinion("cannot authorize CSINode subresources");
    } else if (!["get", "create", "update", "patch", "delete"].includes(verb)) {
      return noOpinion("can only get, create, update, patch, or delete a CSINode");
    }
    if (verb === "create" || name === node) return allowed;
    return noOpinion("can only access CSINode with the same name as the requesting node");
  };
}
