import { isObject } from "../../base/json/value.ts";
import { baseOfGroup } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { nameOf, objectAt, textOf, type ManifestObject } from "./documents.ts";

/**
 * Kinds whose objects decide about other objects, by the base of their group, in the order in which a server needs them. Kinds in
 * one group of this list are independent of each other.
 */
const order: readonly (readonly string[])[] = [
  ["apiextensions/CustomResourceDefinition"],
  ["/Namespace"],
  [
    "/ServiceAccount",
    "rbac.authorization/ClusterRole",
    "rbac.authorization/Role",
    "rbac.authorization/ClusterRoleBinding",
    "rbac.authorization/RoleBinding",
    "scheduling/PriorityClass",
    "node/RuntimeClass",
    "storage/StorageClass",
    "storage/VolumeAttributesClass",
    "networking/IngressClass",
    "resource/DeviceClass",
  ],
  ["admissionregistration/ValidatingAdmissionPolicy", "admissionregistration/MutatingAdmissionPolicy"],
  [
    "admissionregistration/ValidatingAdmissionPolicyBinding",
    "admissionregistration/MutatingAdmissionPolicyBinding",
  ],
  ["/LimitRange", "/ResourceQuota"],
];

/** The step of {@link order} before which the parameters of policies are needed. */
const parametersBefore = 3;
const rankByKind = new Map(order.flatMap((kinds, rank) => kinds.map((kind) => [kind, rank] as const)));
/** Names of the kinds that decide about other objects, without their groups. */
const contextKindNames: ReadonlySet<string> = new Set(
  order.flat().map((kind) => kind.slice(kind.indexOf("/") + 1)),
);

/** Whether an object decides about other objects. */
export function isContext(object: ManifestObject, vocabulary: Vocabulary): boolean {
  return rankOf(object, vocabulary) !== undefined;
}

function rankOf({ value }: ManifestObject, { groupSuffix }: Vocabulary): number | undefined {
  const { group, kind } = nameOf(value);
  return rankByKind.get(`${baseOfGroup(groupSuffix, group)}/${kind}`);
}

/** Whether an object is an admission policy. */
export function isPolicy({ value }: ManifestObject): boolean {
  return textOf(value["kind"]).endsWith("AdmissionPolicy");
}

/** The kinds of the parameters of policies, as `apiVersion kind`. */
export function parameterKinds(context: readonly ManifestObject[]): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (const object of context) {
    if (!isPolicy(object)) continue;
    const parameters = objectAt(object.value, "spec", "paramKind");
    if (parameters !== undefined)
      kinds.add(`${textOf(parameters["apiVersion"])} ${textOf(parameters["kind"])}`);
  }
  return kinds;
}

/** Groups context in the order in which it is created. Objects that decide about nothing are parameters of policies. */
export function inOrder(
  context: readonly ManifestObject[],
  vocabulary: Vocabulary,
): readonly (readonly ManifestObject[])[] {
  const steps: ManifestObject[][] = [...order.map(() => []), []];
  for (const object of context) {
    const rank = rankOf(object, vocabulary);
    const step = rank === undefined || rank < parametersBefore ? (rank ?? parametersBefore) : rank + 1;
    steps[step]!.push(object);
  }
  return steps;
}

/**
 * Returns the form in which a server can use an object as context: it calls no webhooks for custom objects, and an object of another server
 * has no state of that server.
 */
export function asContext({ value }: ManifestObject): ManifestObject["value"] {
  const { status: _status, metadata, spec, ...rest } = value;
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _creation,
    deletionTimestamp: _deletion,
    managedFields: _managed,
    ownerReferences: _owners,
    finalizers: _finalizers,
    generation: _generation,
    ...meta
  } = isObject(metadata) ? metadata : {};
  const body = spec === undefined ? {} : { spec: withoutWebhook(spec) };
  return { ...rest, metadata: meta, ...body } as ManifestObject["value"];
}

function withoutWebhook(spec: ManifestObject["value"][string]): ManifestObject["value"][string] {
  const strategy = objectAt(spec, "conversion")?.["strategy"];
  return strategy === "Webhook" && isObject(spec) ? { ...spec, conversion: { strategy: "None" } } : spec;
}

/** Whether a kind of this name may decide about other objects, whatever its group. */
export function mayBeContext(kind: string): boolean {
  return contextKindNames.has(kind);
}
