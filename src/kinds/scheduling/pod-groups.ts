import type { FieldReport } from "../../schema/faults.ts";
import { field, int32, list, string } from "../../schema/types.ts";
import { dnsLabel, dnsSubdomain, qualifiedName } from "../checks/names.ts";
import { uniqueBy } from "../checks/values.ts";
import { struct } from "./v1alpha3.ts";

/** Returns a rule that exactly one member is set. */
function exactlyOne(...names: readonly string[]): (value: object, report: FieldReport) => void {
  return (value, report) => {
    const present = names.filter((name) => (value as Record<string, unknown>)[name] !== undefined);
    if (present.length === 0)
      report.invalid("", `must specify one of: ${names.map((name) => `\`${name}\``).join(", ")}`);
    if (present.length > 1)
      report.invalid(
        `{${present.map((name) => `\`${name}\``).join(", ")}}`,
        `must specify exactly one of: ${names.map((name) => `\`${name}\``).join(", ")}`,
      );
  };
}

function atLeastOne(value: number, report: FieldReport): void {
  if (value < 1) report.invalid(value, "must be greater than or equal to 1");
}

function atMost(max: number): (items: readonly unknown[], report: FieldReport) => void {
  return (items, report) => {
    if (items.length > max) report.tooMany(items.length, max);
  };
}

const BasicPolicy = struct(
  "WorkloadPodGroupBasicSchedulingPolicy",
  "Scheduling policy: each pod of the group is scheduled alone.",
  {},
);

const GangPolicy = struct(
  "WorkloadPodGroupGangSchedulingPolicy",
  "Scheduling policy: the pods of the group are scheduled together or not at all.",
  {
    minCount: field(1, int32, "Number of pods that must be schedulable together; by default the parallelism.")
      .nullable()
      .check(atLeastOne),
  },
);

/** How the pods of a group are scheduled. */
export const PodGroupSchedulingPolicy = struct(
  "WorkloadPodGroupSchedulingPolicy",
  "Scheduling policy of the pods of a group.",
  {
    basic: field(1, BasicPolicy, "Policy by which each pod is scheduled alone.").nullable(),
    gang: field(2, GangPolicy, "Policy by which the pods are scheduled together or not at all.").nullable(),
  },
  { check: exactlyOne("basic", "gang") },
);

const TopologyConstraint = struct(
  "TopologyConstraint",
  "Constraint: all pods of a group run in one topology domain.",
  {
    key: field(1, string, "Key of the node label whose value is the domain.").required().check(qualifiedName),
  },
);

/** Where the pods of a group may run. */
export const PodGroupSchedulingConstraints = struct(
  "WorkloadPodGroupSchedulingConstraints",
  "Constraints on the nodes of the pods of a group.",
  {
    topology: field(1, list(TopologyConstraint), "Domains in which all pods of the group must be.")
      .atomic()
      .check(atMost(1)),
  },
);

const SingleMode = struct(
  "WorkloadPodGroupSingleDisruptionMode",
  "Disruption mode: each pod of the group can be disrupted alone.",
  {},
);
const AllMode = struct(
  "WorkloadPodGroupAllDisruptionMode",
  "Disruption mode: the pods of the group are disrupted together.",
  {},
);

/** How the pods of a group can be disrupted. */
export const PodGroupDisruptionMode = struct(
  "WorkloadPodGroupDisruptionMode",
  "Disruption mode of the pods of a group.",
  {
    single: field(1, SingleMode, "Mode in which each pod can be disrupted alone.").nullable(),
    all: field(2, AllMode, "Mode in which all pods are disrupted together.").nullable(),
  },
  { check: exactlyOne("single", "all") },
);

const ResourceClaim = struct(
  "WorkloadPodGroupResourceClaim",
  "Devices that the pods of a group share.",
  {
    name: field(1, string, "Name within the group.").required().check(dnsLabel),
    resourceClaimName: field(2, string, "Name of a ResourceClaim of the namespace.")
      .nullable()
      .checkedWhenEmpty()
      .check(dnsSubdomain),
    resourceClaimTemplateName: field(3, string, "Name of a ResourceClaimTemplate of the namespace.")
      .nullable()
      .checkedWhenEmpty()
      .check(dnsSubdomain),
  },
  { check: exactlyOne("resourceClaimName", "resourceClaimTemplateName") },
);

/** Maximum number of claims of a group. */
const maxClaims = 4;

/** The field for the claims of a group. */
export const podGroupClaims = field(4, list(ResourceClaim), "Devices that the pods of the group share.")
  .mapBy("name")
  .patchMerge("name")
  .check(atMost(maxClaims))
  .check(uniqueBy(({ name }) => name));
