import { objectAs } from "../../../schema/api-object.ts";
import type { Conversion } from "../../../schema/kind.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field, json, list, map, quantity, string, time, type LaterFields } from "../../../schema/types.ts";
import { annotationMap, labelMap } from "../../checks/names.ts";
import { unchanged } from "../../checks/values.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { stateText } from "../resource-claim-rules.ts";
import { checkClaimSpec, expressionsOf, type ClaimSpec } from "./claim-rules.ts";
import { checkClaimStatus, currentDeviceStates, type Claim } from "./claim-status-rules.ts";
import { declareClaimSpec, declareAllocatedConfiguration } from "./claim-structs.ts";
import { declareCommonStructs, adminAccess, type CommonStructs } from "./common-structs.ts";
import { checkExpressions } from "./selector-rules.ts";
import type { DeviceVersion, DeviceStruct } from "./versions.ts";
import { since } from "../../../base/release-rows.ts";
import { replacedIn } from "../../../schema/added-fields.ts";
import { NodeSelector } from "../../core/node-selector.ts";
import { Condition } from "../../meta/condition.ts";

/** What differs between the versions of a kind. */
export interface VersionMembers {
  readonly servedByDefault: boolean;
  readonly conversion?: Conversion;
}

/** Declares ResourceClaim in one version. */
export function declareResourceClaim(version: DeviceVersion, members: VersionMembers) {
  const common = declareCommonStructs(version.declarations);
  return version.declarations.kind({
    name: "ResourceClaim",
    resource: "resourceclaims",
    collection: "resourceclaims.v1",
    singular: "resourceclaim",
    scope: "Namespaced",
    returnsDeletedObject: true,
    ...members,
    doc: "A claim for devices that pods can use.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the claim.").emitEmpty(),
      spec: field(2, declareClaimSpec(version, common), "Requested devices; immutable.").emitEmpty(),
      status: field(
        3,
        declareClaimStatus(version, common),
        "Allocation and consumers of the claim.",
      ).emitEmpty(),
    },
    validateCreate({ spec }, report, context) {
      checkClaimSpec((spec ?? {}) as ClaimSpec, report.at("spec"), context);
    },
    validateUpdate(claim, live, report, { subresource }) {
      unchanged(claim.spec, live.spec, report.at("spec"));
      if (subresource === "status") {
        checkClaimStatus(objectAs<Claim>(claim), objectAs<Claim>(live), report.at("status"));
      }
    },
    validateLast({ spec }, live, report, context) {
      if (live !== undefined) return;
      const { devices = {} } = (spec ?? {}) as ClaimSpec;
      const at = report.at("spec", "devices");
      return checkExpressions(expressionsOf(devices, at), context, at);
    },
    status: {
      initial: () => ({}),
      keepsMetadata: "all",
      write: (written, live) =>
        currentDeviceStates(
          (written.status ?? {}) as Claim["status"] & object,
          (live.status ?? {}) as Claim["status"] & object,
        ),
    },
    columns: [
      nameColumn,
      {
        name: "State",
        type: "string",
        doc: "Whether the claim is allocated and reserved.",
        cell: (claim) => stateText(claim as unknown as Parameters<typeof stateText>[0]),
      },
      ageColumn,
    ],
  });
}

/** Declares ResourceClaimTemplate in one version. */
export function declareResourceClaimTemplate(version: DeviceVersion, members: VersionMembers) {
  const { kind, struct } = version.declarations;
  const claimSpec = declareClaimSpec(version, declareCommonStructs(version.declarations));
  const template = struct("ResourceClaimTemplateSpec", "The claims created from a template.", {
    metadata: field(1, ObjectMeta, "Labels and annotations of the claims.").emitEmpty(),
    spec: field(2, claimSpec, "Requested devices.").emitEmpty(),
  });
  return kind({
    name: "ResourceClaimTemplate",
    resource: "resourceclaimtemplates",
    collection: "resourceclaimtemplates.v1",
    singular: "resourceclaimtemplate",
    scope: "Namespaced",
    returnsDeletedObject: true,
    ...members,
    doc: "A template from which claims are created for pods.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the template.").emitEmpty(),
      spec: field(2, template, "The claims to create; immutable.").emitEmpty(),
    },
    validate({ spec }, report, context) {
      const { labels, annotations } = spec?.metadata ?? {};
      labelMap(labels ?? {}, report.at("spec", "metadata", "labels"));
      annotationMap(annotations ?? {}, report.at("spec", "metadata", "annotations"));
      checkClaimSpec((spec?.spec ?? {}) as ClaimSpec, report.at("spec", "spec"), context);
    },
    validateUpdate({ spec }, live, report) {
      unchanged(spec, live.spec, report.at("spec"));
    },
    validateLast({ spec }, live, report, context) {
      if (live !== undefined) return;
      const { devices = {} } = (spec?.spec ?? {}) as ClaimSpec;
      const at = report.at("spec", "spec", "devices");
      return checkExpressions(expressionsOf(devices, at), context, at);
    },
    columns: [nameColumn, ageColumn],
  });
}

/** The status of a claim: its allocation, its consumers, and the states of its devices. */
function declareClaimStatus(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  const { struct } = version.declarations;
  const consumer = struct("ResourceClaimConsumerReference", "Reference to an object that uses a claim.", {
    apiGroup: field(1, string, "API group of the resource; empty for the core group."),
    resource: field(3, string, "Resource type of the object, such as `pods`.").declaredRequired(),
    name: field(4, string, "Name of the object.").declaredRequired(),
    uid: field(5, string, "Unique identifier of the object.").declaredRequired(),
  });
  const state = declareDeviceStatus(version);
  const devices = (...keys: readonly string[]) =>
    field(4, list(state), "Status of each allocated device, reported by its driver.")
      .mapBy(...keys)
      .gated("DRAResourceClaimDeviceStatus");
  return struct(
    "ResourceClaimStatus",
    "Allocation and consumers of a claim.",
    {
      allocation: field(1, declareAllocation(version, common), "The allocated devices.").nullable(),
      reservedFor: field(2, list(consumer), "Objects that may currently use the claim; at most 256.")
        .mapBy("uid")
        .patchMerge("uid"),
      devices: devices("driver", "device", "pool"),
    },
    {
      later: (): LaterFields => ({
        devices: replacedIn("1.34", devices("driver", "device", "pool", "shareID")),
      }),
    },
  );
}

function declareAllocation(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  const { struct } = version.declarations;
  const devices = struct("DeviceAllocationResult", "Allocated devices and their configuration.", {
    results: field(1, list(declareResult(version, common)), "Allocated devices; at most 32.").atomic(),
    config: field(
      2,
      list(declareAllocatedConfiguration(version, common)),
      "Configuration from the device class and the claim.",
    ).atomic(),
  });
  return struct(
    "AllocationResult",
    "Allocated devices and the nodes that can use them.",
    {
      devices: field(1, devices, "The allocated devices.").emitEmpty(),
      nodeSelector: field(
        3,
        NodeSelector,
        "Nodes that can use the devices; absent for all nodes.",
      ).nullable(),
    },
    {
      later: (): LaterFields => ({
        allocationTimestamp: since(
          "1.34",
          field(5, time, "Time of the allocation.").nullable().gated("DRADeviceBindingConditions"),
        ),
      }),
    },
  );
}

function declareResult(
  { declarations: { struct } }: DeviceVersion,
  { toleration }: CommonStructs,
): DeviceStruct {
  const conditions = (number: number, doc: string) =>
    field(number, list(string), doc).atomic().gated("DRADeviceBindingConditions");
  return struct(
    "DeviceRequestAllocationResult",
    "An allocated device.",
    {
      request: field(
        1,
        string,
        "Name of the request, or `<request>/<subrequest>` for an alternative.",
      ).declaredRequired(),
      driver: field(2, string, "Name of the driver of the device.").declaredRequired(),
      pool: field(3, string, "Name of the device's pool.").declaredRequired(),
      device: field(4, string, "Name of the device in the pool.").declaredRequired(),
      adminAccess: adminAccess(5),
    },
    {
      later: (): LaterFields => ({
        tolerations: since(
          "1.33",
          field(6, list(toleration), "Tolerations of the request.").atomic().gated("DRADeviceTaints"),
        ),
        bindingConditions: since(
          "1.34",
          conditions(7, "Conditions that must be true before the pod is bound to a node; at most 4."),
        ),
        bindingFailureConditions: since(
          "1.34",
          conditions(8, "Conditions that abort the binding of the pod when true; at most 4."),
        ),
        shareID: since(
          "1.34",
          field(9, string, "Identifier of this share of a device that can be allocated several times.")
            .nullable()
            .gated("DRAConsumableCapacity"),
        ),
        consumedCapacity: since(
          "1.34",
          field(10, map(quantity), "Consumed amount of each capacity.").gated("DRAConsumableCapacity"),
        ),
        skipNodeOperations: since(
          "1.37",
          field(11, list(string), "Node operations that the driver does not need.")
            .set()
            .gated("DRAOptionalNodeOperations"),
        ),
      }),
    },
  );
}

function declareDeviceStatus({ declarations: { struct } }: DeviceVersion): DeviceStruct {
  const network = struct("NetworkDeviceData", "Network data of a device.", {
    interfaceName: field(1, string, "Name of the network interface; at most 256 bytes."),
    ips: field(
      2,
      list(string),
      "IP addresses with prefix lengths, such as `192.0.2.5/24`; at most 16.",
    ).atomic(),
    hardwareAddress: field(3, string, "Hardware address of the interface; at most 128 bytes."),
  });
  return struct(
    "AllocatedDeviceStatus",
    "Status of an allocated device.",
    {
      driver: field(1, string, "Name of the driver of the device.").declaredRequired(),
      pool: field(2, string, "Name of the device's pool.").declaredRequired(),
      device: field(3, string, "Name of the device in the pool.").declaredRequired(),
      conditions: field(4, list(Condition), "Conditions of the device; at most 8.").mapBy("type").emitEmpty(),
      data: field(5, json, "Driver-specific data; at most 10 KiB.").nullable(),
      networkData: field(6, network, "Network data of the device.").nullable(),
    },
    {
      later: (): LaterFields => ({
        shareID: since(
          "1.34",
          field(7, string, "Identifier of this share of a device that can be allocated several times.")
            .nullable()
            .gated("DRAConsumableCapacity"),
        ),
      }),
    },
  );
}
