import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list, string } from "../../schema/types.ts";
import { dnsSubdomain, storageDriverName } from "../checks/names.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { NodeSelector } from "../core/node-selector.ts";
import { checkStatusChange, consumers, shortHandle, stateText } from "./resource-claim-rules.ts";

const modes = ["Immediate", "WaitForFirstConsumer"];

const ResourceClaimParametersReference = struct(
  "ResourceClaimParametersReference",
  "Reference to an object with parameters of a claim.",
  {
    apiGroup: field(1, string, "API group of the object; empty for the core group."),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
  },
);

export const ResourceClaimSpec = struct(
  "ResourceClaimSpec",
  "The requested resource and its parameters.",
  {
    resourceClassName: field(
      1,
      string,
      "Name of the ResourceClass, which determines the driver.",
    ).declaredRequired(),
    parametersRef: field(
      2,
      ResourceClaimParametersReference,
      "Object with parameters for the driver; immutable.",
    ).nullable(),
    allocationMode: field(
      3,
      string,
      "Time of the allocation: Immediate, or WaitForFirstConsumer for when a pod needs it. Default: WaitForFirstConsumer.",
    )
      .knownValues("Immediate", "WaitForFirstConsumer")
      .unpublishedDefault("WaitForFirstConsumer"),
  },
  {
    check({ resourceClassName, allocationMode = "" }, report) {
      dnsSubdomain(resourceClassName, report.at("resourceClassName"));
      if (!modes.includes(allocationMode)) report.at("allocationMode").notSupported(allocationMode, modes);
    },
  },
);

const AllocationResult = struct("AllocationResult", "The allocated resource.", {
  resourceHandle: field(1, string, "Driver-specific data about the allocated resource.").check(shortHandle),
  availableOnNodes: field(
    2,
    NodeSelector,
    "Nodes that can use the resource; absent for all nodes.",
  ).nullable(),
  shareable: field(3, bool, "Whether several consumers can use the resource at the same time."),
});

const ResourceClaimConsumerReference = struct(
  "ResourceClaimConsumerReference",
  "Reference to an object that uses a claim.",
  {
    apiGroup: field(1, string, "API group of the resource; empty for the core group."),
    resource: field(3, string, "Resource type of the object, such as `pods`.").required(),
    name: field(4, string, "Name of the object.").required(),
    uid: field(5, string, "Unique identifier of the object.").required(),
  },
);

const ResourceClaimStatus = struct("ResourceClaimStatus", "Observed state of a claim.", {
  driverName: field(1, string, "Name of the driver that allocated the resource.").check(storageDriverName),
  allocation: field(2, AllocationResult, "The allocated resource.").nullable(),
  reservedFor: field(
    3,
    list(ResourceClaimConsumerReference),
    "Objects that may currently use the claim; at most 32.",
  )
    .mapBy("uid")
    .check(consumers),
  deallocationRequested: field(4, bool, "Whether the driver should deallocate the resource."),
});

export const ResourceClaim = kind({
  name: "ResourceClaim",
  resource: "resourceclaims",
  singular: "resourceclaim",
  scope: "Namespaced",
  returnsDeletedObject: true,
  servedByDefault: false,
  doc: "A claim for a resource that pods can use.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the claim.").emitEmpty(),
    spec: field(2, ResourceClaimSpec, "The requested resource; immutable.").required(),
    status: field(3, ResourceClaimStatus, "Observed state of the claim.").emitEmpty(),
  },
  validateUpdate(claim, live, report, { subresource }) {
    unchanged(claim.spec, live.spec, report.at("spec"));
    if (subresource === "status") checkStatusChange(claim, live, report.at("status"));
  },
  status: {
    initial: () => ({}),
  },
  columns: [
    nameColumn,
    {
      name: "ResourceClassName",
      type: "string",
      doc: "Name of the ResourceClass.",
      cell: ({ spec }) => spec.resourceClassName,
    },
    {
      name: "AllocationMode",
      type: "string",
      doc: "Time of the allocation of the resource.",
      cell: ({ spec }) => spec.allocationMode ?? "",
    },
    { name: "State", type: "string", doc: "Allocation and reservation of the claim.", cell: stateText },
    ageColumn,
  ],
});
export type ResourceClaim = ObjectFor<typeof ResourceClaim>;
