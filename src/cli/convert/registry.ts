import { type Kind, groupName } from "../../schema/kind.ts";
import type { Group, GroupVersion } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { builtInKinds } from "../../kinds/all.ts";
import { lifeCycles } from "../../kinds/life-cycle-table.ts";
import { isLater } from "../../base/releases.ts";
import { lifeCycleOf } from "../../kinds/life-cycles.ts";
import { Eviction } from "../../kinds/policy/eviction.ts";
import { admissionregistrationChanges } from "./admissionregistration.ts";
import { apiextensionsChanges } from "./apiextensions.ts";
import { appsChanges } from "./apps.ts";
import { autoscalingChanges } from "./autoscaling.ts";
import { discoveryChanges } from "./discovery.ts";
import { policyChanges } from "./policy.ts";
import { rbacChanges } from "./rbac.ts";
import { unchangedForms } from "./unchanged.ts";
import {
  type Rule,
  type VersionChange,
  at,
  change,
  rename,
  isSet,
  keepDefault,
  hasMembers,
  move,
} from "./notes.ts";
import { authorization, flowcontrol, certificates, batch, node, networking } from "../../kinds/groups.ts";
import { groupVersion, extensions } from "./group-versions.ts";
import { labelKey } from "../../vocabulary/names.ts";

const networkingV1 = groupVersion(networking, "v1");
const networkingV1beta1 = groupVersion(networking, "v1beta1");
const extensionsV1beta1 = groupVersion(extensions, "v1beta1");

/** A port was a number or a name in one field; the new version has a field for each. */
const portByForm: Rule = (part) => {
  const form = typeof part.value["servicePort"] === "number" ? "number" : "name";
  move("servicePort", `service.port.${form}`)(part);
};

const backend: readonly Rule[] = [move("serviceName", "service.name"), portByForm];

const ingress: readonly Rule[] = [
  at("spec.backend", ...backend),
  at("spec", rename("backend", "defaultBackend")),
  at("spec.rules[].http.paths[].backend", ...backend),
  at("spec.rules[].http.paths[]", keepDefault("pathType", "ImplementationSpecific", undefined)),
];

const networkingChanges: readonly VersionChange[] = [
  change(extensionsV1beta1, networkingV1, ["Ingress"], ...ingress),
  change(networkingV1beta1, networkingV1, ["Ingress"], ...ingress),
  change(networkingV1beta1, networkingV1, ["IngressClass"]),
  change(extensionsV1beta1, networkingV1, ["NetworkPolicy"]),
];

const nodeV1 = groupVersion(node, "v1");

/** Removes a spec that is empty after its members were moved. */
const emptySpec: Rule = ({ value }) => {
  if (!hasMembers(value["spec"])) delete value["spec"];
};

const nodeChanges: readonly VersionChange[] = [
  change(groupVersion(node, "v1beta1"), nodeV1, ["RuntimeClass"]),
  change(
    groupVersion(node, "v1alpha1"),
    nodeV1,
    ["RuntimeClass"],
    move("spec.runtimeHandler", "handler"),
    move("spec.overhead", "overhead"),
    move("spec.scheduling", "scheduling"),
    emptySpec,
  ),
];

const batchV1 = groupVersion(batch, "v1");
/** The older version kept all finished Jobs. */
const all = 2_147_483_647;

const batchChanges: readonly VersionChange[] = [
  change(groupVersion(batch, "v1beta1"), batchV1, ["CronJob"]),
  change(
    groupVersion(batch, "v2alpha1"),
    batchV1,
    ["CronJob"],
    at(
      "spec",
      keepDefault("successfulJobsHistoryLimit", all, 3),
      keepDefault("failedJobsHistoryLimit", all, 1),
    ),
  ),
];

/** The older version derived the signer from the request, and had one for unknown requests. */
const signer: Rule = (part) => {
  const name = part.value["signerName"];
  if (!isSet(name)) {
    part.unresolved("signerName", "the older version chose a signer by itself; set the one to use");
  } else if (name === labelKey(part.vocabulary.domain, "legacy-unknown")) {
    part.unresolved("signerName", `the new version has no signer ${JSON.stringify(name)}; set another one`);
  }
};

const certificatesChanges: readonly VersionChange[] = [
  change(
    groupVersion(certificates, "v1beta1"),
    groupVersion(certificates, "v1"),
    ["CertificateSigningRequest"],
    at("spec", keepDefault("usages", ["digital signature", "key encipherment"], undefined), signer),
    at("status.conditions[]", keepDefault("status", "True", undefined)),
  ),
];

const v1beta3 = groupVersion(flowcontrol, "v1beta3");

/** The kinds of v1beta2, which is served, have their own conversion. */
const flowcontrolChanges: readonly VersionChange[] = ["v1alpha1", "v1beta1"].flatMap((version) => [
  change(groupVersion(flowcontrol, version), v1beta3, ["FlowSchema"]),
  change(
    groupVersion(flowcontrol, version),
    v1beta3,
    ["PriorityLevelConfiguration"],
    at("spec.limited", rename("assuredConcurrencyShares", "nominalConcurrencyShares")),
  ),
]);

const v1beta1 = groupVersion(authorization, "v1beta1");
const v1 = groupVersion(authorization, "v1");

const authorizationChanges: readonly VersionChange[] = [
  change(
    v1beta1,
    v1,
    ["SubjectAccessReview", "LocalSubjectAccessReview"],
    at("spec", rename("group", "groups")),
  ),
  change(v1beta1, v1, ["SelfSubjectAccessReview", "SelfSubjectRulesReview"]),
];

/** The conversions from removed versions to their replacements (spec: conventions 9.3). */
export const versionChanges: readonly VersionChange[] = [
  ...admissionregistrationChanges,
  ...apiextensionsChanges,
  ...appsChanges,
  ...authorizationChanges,
  ...autoscalingChanges,
  ...batchChanges,
  ...certificatesChanges,
  ...discoveryChanges,
  ...flowcontrolChanges,
  ...networkingChanges,
  ...nodeChanges,
  ...policyChanges,
  ...rbacChanges,
  ...unchangedForms,
];

/** One step of a conversion: by rules, or by the conversion function that a declared kind has. */
export type Step = { readonly to: GroupVersion } & (
  | { readonly rules: readonly Rule[] }
  | { readonly by: "toStored" | "fromStored"; readonly kind: Kind; readonly source: Kind }
);

/** Returns a map key for a kind in a version. */
function keyOf({ group, version }: GroupVersion, kind: string): string {
  return `${group.base}/${version} ${kind}`;
}

/** The built-in kinds of this release, and Eviction, which is only a request body. */
const declared = new Map([...builtInKinds, Eviction].map((one) => [keyOf(one, one.name), one] as const));

const steps = stepsBySource();

function stepsBySource(): ReadonlyMap<string, readonly Step[]> {
  const result = new Map<string, Step[]>();
  const add = (from: GroupVersion, kind: string, step: Step): void => {
    result.set(keyOf(from, kind), [...(result.get(keyOf(from, kind)) ?? []), step]);
  };
  for (const { from, to, kinds, rules } of versionChanges) {
    for (const kind of kinds) add(from, kind, { to, rules });
  }
  for (const kind of declared.values()) {
    const stored = kind.conversion?.stored();
    if (stored === undefined) continue;
    add(kind, kind.name, { to: stored, by: "toStored", kind, source: kind });
    add(stored, kind.name, { to: kind, by: "fromStored", kind, source: stored });
  }
  return result;
}

/** Returns the declaration of a kind in a version, if this release has one. */
export function declaredKind(groupVersion: GroupVersion, kind: string): Kind | undefined {
  return declared.get(keyOf(groupVersion, kind));
}

/** Returns the shortest sequence of steps between two versions of a kind; undefined if there is none. */
export function findSteps(from: GroupVersion, to: GroupVersion, kind: string): readonly Step[] | undefined {
  const seen = new Set([keyOf(from, kind)]);
  let ways: { readonly end: GroupVersion; readonly steps: readonly Step[] }[] = [{ end: from, steps: [] }];
  while (ways.length > 0) {
    const arrived = ways.find(({ end }) => keyOf(end, kind) === keyOf(to, kind));
    if (arrived !== undefined) return arrived.steps;
    ways = ways.flatMap((way) =>
      (steps.get(keyOf(way.end, kind)) ?? [])
        .filter((step) => !seen.has(keyOf(step.to, kind)))
        .map((step) => {
          seen.add(keyOf(step.to, kind));
          return { end: step.to, steps: [...way.steps, step] };
        }),
    );
  }
  return undefined;
}

/**
 * Returns the version of a kind in a release: its own version if that is served and not deprecated, otherwise its
 * replacement. May be a removed version if nothing replaced it.
 */
export function currentGroupVersion(groupVersion: GroupVersion, kind: string, release: string): GroupVersion {
  let current = groupVersion;
  for (;;) {
    const cycle = lifeCycleOf(current.group, current.version, kind);
    const deprecated = cycle?.deprecated !== undefined && !isLater(cycle.deprecated, release);
    if (declaredKind(current, kind) !== undefined && !deprecated) return current;
    // Objects aren't converted to another kind, such as Endpoints to EndpointSlices.
    const replacement = cycle?.replacementKind === undefined ? cycle?.replacement : undefined;
    const next = replacement ?? changeFrom(current, kind)?.to;
    if (next === undefined) return current;
    current = next;
  }
}

function changeFrom(groupVersion: GroupVersion, kind: string): VersionChange | undefined {
  const key = keyOf(groupVersion, kind);
  return versionChanges.find((one) => one.kinds.includes(kind) && keyOf(one.from, kind) === key);
}

/** Whether the kind may exist: a known kind, or an unknown one of a served version. */
export function mayExist(groupVersion: GroupVersion, kind: string): boolean {
  const { group, version } = groupVersion;
  const isServed = [...declared.values()].some(
    (one) => one.group.base === group.base && one.version === version,
  );
  return (
    isServed ||
    lifeCycleOf(group, version, kind) !== undefined ||
    changeFrom(groupVersion, kind) !== undefined
  );
}

/** Returns all versions of the built-in groups, including removed ones. */
function allGroupVersions(): readonly GroupVersion[] {
  return [...lifeCycles, ...declared.values(), ...versionChanges.map(({ from }) => from)];
}

/** Returns the group with a name in a vocabulary. */
function groupNamed(name: string, vocabulary: Vocabulary): Group | undefined {
  return allGroupVersions().find(({ group }) => groupName(group, vocabulary) === name)?.group;
}

/** Parses an apiVersion; returns undefined if the group isn't built in. */
export function groupVersionOf(apiVersion: string, vocabulary: Vocabulary): GroupVersion | undefined {
  const slash = apiVersion.indexOf("/");
  const group = groupNamed(apiVersion.slice(0, Math.max(0, slash)), vocabulary);
  return group === undefined ? undefined : { group, version: apiVersion.slice(slash + 1) };
}

/** An apiVersion. */
export function apiVersionOf({ group, version }: GroupVersion, vocabulary: Vocabulary): string {
  const name = groupName(group, vocabulary);
  return name === "" ? version : `${name}/${version}`;
}

/** Versions of a group into which objects can be converted. */
export function targetsIn(group: Group): readonly string[] {
  const reached = [...steps.values()].flat().map(({ to }) => to);
  const all = [...reached, ...declared.values()];
  return [...new Set(all.filter((one) => one.group.base === group.base).map((one) => one.version))];
}
