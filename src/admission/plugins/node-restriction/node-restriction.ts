import { isDeepStrictEqual } from "node:util";
import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { nodeNameOf } from "../../../authorization/node/node-authorizer.ts";
import { coordination, storage } from "../../../kinds/groups.ts";
import { groupName, type ApiObject } from "../../../schema/kind.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin, AdmittedType } from "../../admission-chain.ts";
import { forbidden } from "../../forbidden.ts";
import type { ObjectReader } from "../../object-reader.ts";
import { nameOf, reject, type AgentRequest, type Check, type LaterChecks } from "./agent-request.ts";
import { boundPod, checkPod, podReference } from "./pods.ts";
import { type Domain, isInDomain, labelKey, subdomain } from "../../../vocabulary/names.ts";

/**
 * NodeRestriction: limits the agent of a node (user `system:node:NAME` in group `system:nodes`) to its own Node, the pods bound
 * to it, tokens for these pods, its Lease and its CSINode; labels for scheduling, taints and owners of the Node can't be changed
 * (spec: conventions 4.13). In authorization mode Node it is required: an agent could read any Secret by creating a pod on its
 * node that mounts it.
 *
 * @param later undefined in the reference release.
 */
export function nodeRestriction(
  objects: ObjectReader,
  vocabulary: Vocabulary,
  later?: LaterChecks,
): AdmissionPlugin {
  const checks: ReadonlyMap<string, Check> = new Map([
    ["/nodes", checkNode],
    ["/pods", checkPod],
    ["/persistentvolumeclaims", checkClaim],
    ["/serviceaccounts", checkToken],
    [`${groupName(coordination, vocabulary)}/leases`, checkLease],
    [`${groupName(storage, vocabulary)}/csinodes`, checkDriverList],
  ]);
  const typeOf = ({ resource }: AdmittedType) => `${resource.group}/${resource.name}`;
  const referenceOf = later?.podReference ?? podReference;
  return {
    name: "NodeRestriction",
    concerns: (_operation, target) =>
      checks.has(typeOf(target)) || later?.checks.has(typeOf(target)) === true,
    mutate(request) {
      const node = nodeNameOf(vocabulary, request.user);
      if (node === undefined) return;
      if (node === "") {
        throw forbidden(request.target, `could not determine node from user "${request.user.name}"`);
      }
      const type = typeOf(request.target);
      const write = { ...request, node, objects, vocabulary, podReference: referenceOf, later };
      const laterCheck = later?.checks.get(type);
      const checked = checks.get(type)?.(write);
      return laterCheck === undefined ? checked : andThen(checked, () => laterCheck(write));
    },
  };
}

interface Claim extends ApiObject {
  status?: { capacity?: unknown; conditions?: unknown };
}

/** An agent may change only capacity and conditions of a claim, after it has resized a file system. */
function checkClaim(request: AgentRequest): void {
  const { node, target, operation, object, live } = request;
  if (target.subresource !== "status") reject(request, "may only update PVC status");
  if (operation !== "UPDATE") reject(request, `unexpected operation "${operation}"`);
  const fields = request.later?.claimFields ?? [];
  if (isDeepStrictEqual(unreported(object as Claim, fields), unreported(live as Claim, fields))) return;
  reject(
    request,
    `node "${node}" is not allowed to update fields other than status.capacity and status.conditions`,
  );
}

/** A claim without the fields that agents report and those that every write changes. */
function unreported({ metadata, status, ...rest }: Claim, fields: readonly string[]): object {
  const { resourceVersion: _version, managedFields: _managed, ...fixedMetadata } = metadata;
  const { capacity: _capacity, conditions: _conditions, ...others } = status ?? {};
  const fixed = Object.entries(others).filter(([name]) => !fields.includes(name));
  return { ...rest, metadata: fixedMetadata, status: Object.fromEntries(fixed) };
}

interface TokenRequest extends ApiObject {
  readonly spec: {
    readonly boundObjectRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
    } | null;
  };
}

/** An agent may request only tokens that are bound to a pod on its node. */
function checkToken(request: AgentRequest): MaybePromise<void> {
  const { operation, target, object } = request;
  if (operation !== "CREATE" || target.subresource !== "token") return;
  const { apiVersion, kind, name = "", uid = "" } = (object as TokenRequest).spec.boundObjectRef ?? {};
  if (apiVersion !== "v1" || kind !== "Pod" || name === "") {
    reject(request, "node requested token not bound to a pod");
  }
  if (uid === "") reject(request, "node requested token with a pod binding without a uid");
  return andThen(boundPod(request, name), (pod) => {
    if (pod.metadata.uid !== uid) {
      const why = "The object might have been deleted and then recreated";
      reject(
        request,
        `the UID in the bound object reference (${uid}) does not match the UID in record. ${why}`,
      );
    }
    const { nodeName } = pod["spec"] as { nodeName?: string };
    if (nodeName !== request.node) {
      reject(request, "node requested token bound to a pod scheduled on a different node");
    }
    return request.later?.checkToken(request, pod);
  });
}

function checkLease(request: AgentRequest): void {
  const { target, vocabulary } = request;
  const { nodeLeaseNamespace } = vocabulary;
  if (target.namespace !== nodeLeaseNamespace) {
    reject(request, `can only access leases in the "${nodeLeaseNamespace}" system namespace`);
  }
  if (nameOf(request) !== request.node) {
    reject(request, "can only access node lease with the same name as the requesting node");
  }
}

function checkDriverList(request: AgentRequest): void {
  if (nameOf(request) !== request.node) {
    reject(request, "can only access CSINode with the same name as the requesting node");
  }
}

interface Node extends ApiObject {
  readonly spec?: { readonly taints?: unknown };
}

/**
 * Checks writes of Nodes: an agent may create and update its own Node only, without changes of taints, owners or restricted
 * labels, and may not delete it.
 */
function checkNode(request: AgentRequest): void {
  const { node, operation } = request;
  const name = nameOf(request);
  if (name !== node) reject(request, `node "${node}" is not allowed to modify node "${name}"`);
  if (operation === "DELETE") reject(request, `node "${node}" is not allowed to delete its node`);
  const now = request.object as Node;
  if (request.live === undefined) checkNew(request, now);
  else checkChange(request, now, request.live as Node);
}

function checkNew(request: AgentRequest, { metadata }: Node): void {
  const { node, vocabulary } = request;
  const labels = forbiddenLabels(metadata.labels ?? {}, {}, vocabulary);
  if (labels.length > 0) {
    reject(request, `node "${node}" is not allowed to set the following labels: ${labels.join(", ")}`);
  }
}

function checkChange(request: AgentRequest, now: Node, before: Node): void {
  const { node, vocabulary } = request;
  if (!isDeepStrictEqual(now.spec?.taints, before.spec?.taints)) {
    reject(request, `node "${node}" is not allowed to modify taints`);
  }
  const labels = forbiddenLabels(now.metadata.labels ?? {}, before.metadata.labels ?? {}, vocabulary);
  if (labels.length > 0) {
    reject(request, `node "${node}" is not allowed to modify labels: ${labels.join(", ")}`);
  }
  // The garbage collector deletes a Node with a missing owner.
  if (!isDeepStrictEqual(now.metadata.ownerReferences, before.metadata.ownerReferences)) {
    reject(request, `node "${node}" is not allowed to modify ownerReferences`);
  }
}

type Labels = Readonly<Record<string, string>>;

/**
 * Returns the changed labels that an agent may not change on its Node: those of the domain `node-restriction.*`, and those of the
 * product's domains except the ones that agents maintain.
 */
export function forbiddenLabels(now: Labels, before: Labels, vocabulary: Vocabulary): string[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...keys]
    .filter((key) => now[key] !== before[key] || Object.hasOwn(now, key) !== Object.hasOwn(before, key))
    .filter((key) => isRestricted(key, vocabulary))
    .toSorted();
}

function isRestricted(key: string, { domain, groupSuffix }: Vocabulary): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return false;
  const prefix = key.slice(0, slash);
  if (isInDomain(subdomain(domain, "node-restriction"), prefix)) return true;
  if (!isInDomain(domain, prefix) && !isInDomain(groupSuffix, prefix)) return false;
  return (
    !maintained(domain).has(key) &&
    !isInDomain(subdomain(domain, "kubelet"), prefix) &&
    !isInDomain(subdomain(domain, "node"), prefix)
  );
}

/** Labels by which agents describe their node. */
function maintained(domain: Domain): ReadonlySet<string> {
  return new Set([
    labelKey(domain, "hostname"),
    labelKey(domain, "arch"),
    labelKey(domain, "os"),
    labelKey(domain, "arch", "beta"),
    labelKey(domain, "os", "beta"),
    labelKey(domain, "instance-type", "beta"),
    labelKey(domain, "instance-type", "node"),
    labelKey(domain, "region", "failure-domain.beta"),
    labelKey(domain, "zone", "failure-domain.beta"),
    labelKey(domain, "region", "topology"),
    labelKey(domain, "zone", "topology"),
  ]);
}
