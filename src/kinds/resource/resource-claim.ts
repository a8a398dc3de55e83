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
  "Names an object with the parameters of a claim.",
  {
    apiGroup: field(1, string, "Group of the object's kind; empty for the core group."),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
  },
);

export const ResourceClaimSpec = struct(
  "ResourceClaimSpec",
  "What resource is claimed, and how.",
  {
    resourceClassName: field(
      1,
      string,
      "Name of the class that says who provides the resource.",
    ).declaredRequired(),
    parametersRef: field(
      2,
      ResourceClaimParametersReference,
      "The object with parameters for the driver.",
    ).nullable(),
    allocationMode: field(3, string, "Whether the resource is provided at once or when a pod needs it.")
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

const AllocationResult = struct("AllocationResult", "The resource that was provided.", {
  resourceHandle: field(1, string, "What the driver must know about the resource.").check(shortHandle),
  availableOnNodes: field(
    2,
    NodeSelector,
    "Nodes on which the resource can be used; absent for all.",
  ).nullable(),
  shareable: field(3, bool, "Several consumers may use the resource at one time."),
});

const ResourceClaimConsumerReference = struct(
  "ResourceClaimConsumerReference",
  "A reference to a user of a claim.",
  {
    apiGroup: field(1, string, "Group of the resource; empty for the core group."),
    resource: field(3, string, "Type of the object, such as `pods`.").required(),
    name: field(4, string, "Name of the object.").required(),
    uid: field(5, string, "Unique identifier of the object.").required(),
  },
);

const ResourceClaimStatus = struct("ResourceClaimStatus", "What became of a claim.", {
  driverName: field(1, string, "Name of the driver that provided the resource.").check(storageDriverName),
  allocation: field(2, AllocationResult, "The resource that was provided.").nullable(),
  reservedFor: field(3, list(ResourceClaimConsumerReference), "Who may use the claim now; at most 32.")
    .mapBy("uid")
    .check(consumers),
  deallocationRequested: field(4, bool, "The driver should take the resource back."),
});

export const ResourceClaim = kind({
  name: "ResourceClaim",
  resource: "resourceclaims",
  singular: "resourceclaim",
  scope: "Namespaced",
  returnsDeletedObject: true,
  servedByDefault: false,
  doc: "A claim for a resource that pods use.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the claim.").emitEmpty(),
    spec: field(2, ResourceClaimSpec, "What is claimed; it can't be changed.").required(),
    status: field(3, ResourceClaimStatus, "What became of the claim.").emitEmpty(),
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
      doc: "Class of the claim.",
      cell: ({ spec }) => spec.resourceClassName,
    },
    {
      name: "AllocationMode",
      type: "string",
      doc: "When the resource is provided.",
      cell: ({ spec }) => spec.allocationMode ?? "",
    },
    { name: "State", type: "string", doc: "What became of the claim.", cell: stateText },
    ageColumn,
  ],
});
export type ResourceClaim = ObjectFor<typeof ResourceClaim>;
