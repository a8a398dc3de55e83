import type { Difference, Held } from "./comparison.ts";

const codes = ({ theirs, ours }: Difference): string => `${theirs.status} ${ours.status}`;

/** How the reference spells some places, and where they are. */
const spellings: readonly (readonly [string, string])[] = [
  ["metadata.taints", "spec.taints"],
  ["scheduling.tolerations.tolerations", "scheduling.tolerations"],
  ["matchResouces", "matchResources"],
  ["labelSelector.match", "objectSelector.match"],
  ["volumeMounts.mountPropagation", "volumeMounts[0].mountPropagation"],
  ["metadata.conditions[0].Type", "status.conditions[0].type"],
  ["status.conditions[0].Type", "status.conditions[0].type"],
  ["status.Phase", "status.phase"],
  ["reservedFor[1].uid", "reservedFor[1]"],
  ["].basic.attributes[", "].attributes["],
];

function respelled(line: string): string {
  return spellings.reduce((text, [theirs, ours]) => text.replace(theirs, ours), line);
}

/** Of single members: the first one that fits is the reason. Each has to be the reason for something. */
export const heldOfMembers: readonly Held[] = [
  {
    because: "the reference calls the group of workloads by the name that it had before",
    releases: ["1.26"],
    when: ({ missing, more }) =>
      missing.length === 1 && missing[0]!.replace("group extensions", "group apps") === more.join(),
  },
  {
    because: "a fault is told where it stands",
    when: ({ missing, more }) =>
      missing.length > 0 && missing.map(respelled).toSorted().join() === more.toSorted().join(),
  },
  {
    because: "the name and the namespace of a webhook's service are told of by their own names",
    when: ({ kind, missing, more }) =>
      kind.includes("webhookconfigurations") &&
      [...missing, ...more].every((line) => /clientConfig\.service\.(name|namespace)$/.test(line)),
  },
  {
    because:
      "lists with an item twice, or one without its key, can't be owned there: nobody owns anything any more",
    when: ({ missing, more }) =>
      missing.length === 1 &&
      /^owner .* is gone$/.test(missing[0]!) &&
      more.every((line) => line.startsWith("owner ")),
  },
  {
    because:
      "a port that can't be given is refused in a dry run too, and one that is taken twice is told as that",
    when: ({ kind, step, ours }) =>
      kind === "api/v1/services" && /spec\.ports/.test(step) && ours.status === 422,
  },
  {
    because:
      "autoscalers are stored in the older version there, and come back with items that were never sent",
    releases: ["1.26"],
    when: ({ kind, missing, more }) =>
      kind.endsWith("v2/horizontalpodautoscalers") &&
      (missing.some((line) => /^spec\.metrics\[\d\]/.test(line)) ||
        more.some((line) =>
          /^spec\.(metrics\[1\]|behavior\.scaleDown\.policies\[0\]\.type is gone)/.test(line),
        )),
  },
  {
    because: "an empty list of scaling policies is none, so there are the usual ones",
    when: (difference) =>
      /policies(\.0)? (empty|left out)$/.test(difference.step) && /^422 20[01]$/.test(codes(difference)),
  },
  {
    because: "who says what can be allotted of a node owns it, also where it is left to what there is",
    when: ({ kind, step }) => kind === "api/v1/nodes" && step.startsWith("status.allocatable"),
  },
  {
    because: "a webhook that is the same after its defaults has not changed",
    when: ({ step, missing, more }) =>
      step.includes("clientConfig.service.port") &&
      missing.join() === "metadata.generation = 2" &&
      more.length === 0,
  },
  {
    because: "the data of a revision are declared as an object",
    when: ({ kind, step }) => kind.endsWith("controllerrevisions") && /^(put|post) data /.test(step),
  },
  {
    because: "each server says once which versions it stores",
    releases: ["1.26"],
    when: ({ kind, step }) => kind.endsWith("storageversions") && step === "status.storageVersions twice",
  },
  {
    because: "what may not change in a job may not change from nothing to an empty list",
    releases: ["1.26"],
    when: ({ kind, step }) =>
      kind.endsWith("jobs") && step.includes("onPodConditions") && step.endsWith("a list"),
  },
  {
    because:
      "of an item that is in a list twice, or has an empty key, all members are owned; the reference owns it as a whole",
    releases: ["1.37"],
    when: ({ missing, more }) => {
      const lines = [...missing, ...more];
      return lines.every((line) => line.startsWith("owner ")) && lines.some((line) => line.includes("k:{"));
    },
  },
  {
    because:
      "the affinity of a volume can't change to one that isn't valid, which the reference calls no change",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind === "api/v1/persistentvolumes" &&
      missing.length === 0 &&
      more.join() === "cause: FieldValueInvalid at nodeAffinity",
  },
  {
    because: "an empty name of a volume is told once",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind.endsWith("volumeattachments") &&
      missing.join() === "cause: FieldValueInvalid at spec.source.persistentVolumeName" &&
      more.length === 0,
  },
  {
    because: "a member that only balancers have is told of where the type is left out",
    releases: ["1.37"],
    when: ({ kind, step, missing, more }) =>
      kind === "api/v1/services" &&
      step.startsWith("post spec.type ") &&
      missing.length === 0 &&
      more.join() === "cause: FieldValueInvalid at spec.externalTrafficPolicy",
  },
  {
    because: "an address of a service that is given twice is told where it stands too",
    releases: ["1.37"],
    when: ({ kind, step, missing }) =>
      kind === "api/v1/services" && step.endsWith("spec.clusterIPs twice") && missing.length === 0,
  },
  {
    because: "a request of v1beta1 has the default of the number of devices also without a class",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind.endsWith("v1beta1/resourceclaims") &&
      more.length === 0 &&
      /^cause: FieldValueNotSupported at .*\.exactly\.allocationMode$/.test(missing.join()),
  },
  {
    because: "the warnings of an update are about the new pod template; the reference asks about the old one",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind === "api/v1/replicationcontrollers" && missing.length === 0 && more.join() === "warnings: 1",
  },
];
