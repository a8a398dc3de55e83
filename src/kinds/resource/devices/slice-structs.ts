import { since } from "../../../base/release-rows.ts";
import {
  bool,
  field,
  int64,
  list,
  map,
  string,
  type Field,
  type LaterFields,
} from "../../../schema/types.ts";
import { NodeSelector } from "../../core/node-selector.ts";
import type { CommonStructs } from "./common-structs.ts";
import {
  declareAttribute,
  declareCapacity,
  declareCounterSets,
  declareNodeResource,
  type CounterStructs,
} from "./slice-value-structs.ts";
import type { DeviceStruct, DeviceVersion } from "./versions.ts";

/** The spec of a slice: devices of one pool. */
export function declareSliceSpec(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  const { isFirst, declarations } = version;
  const { struct } = declarations;
  const counters = declareCounterSets(version);
  const pool = struct("ResourcePool", "The pool of the devices.", {
    name: field(1, string, "Name of the pool: DNS subdomains separated by slashes.").declaredRequired(),
    generation: field(
      2,
      int64,
      "Generation of the pool, incremented on each change; slices of older generations are ignored.",
    ).declaredRequired(),
    resourceSliceCount: field(
      3,
      int64,
      "Number of slices of this generation of the pool.",
    ).declaredRequired(),
  });
  const nodeName = field(3, string, "Name of the node that has the devices.");
  const allNodes = field(5, bool, "Whether all nodes can use the devices.");
  return struct(
    "ResourceSliceSpec",
    "The devices of one pool and driver.",
    {
      driver: field(1, string, "Name of the driver; immutable.").declaredRequired(),
      pool: field(2, pool, "Pool of the devices.").declaredRequired(),
      nodeName: isFirst ? nodeName : nodeName.nullable(),
      nodeSelector: field(
        4,
        NodeSelector,
        "Node selector with one term, for the nodes that can use the devices.",
      ).nullable(),
      allNodes: isFirst ? allNodes : allNodes.nullable(),
      devices: field(
        6,
        list(declareDevice(version, common, counters)),
        "Devices of the pool; at most 128.",
      ).atomic(),
    },
    {
      later: (): LaterFields => ({
        perDeviceNodeSelection: since(
          "1.33",
          field(7, bool, "Whether each device specifies its own nodes.")
            .nullable()
            .gated("DRAPartitionableDevices"),
        ),
        sharedCounters: since(
          "1.33",
          field(8, list(counters.set), "Sets of counters from which devices consume; at most 8.")
            .atomic()
            .gated("DRAPartitionableDevices"),
        ),
        partitionTypeAttribute: since(
          "1.37",
          field(9, string, "Name of the attribute that holds the partition type of a device.")
            .nullable()
            .gated("DRAPartitionableDevicesType"),
        ),
        skipNodeOperations: since("1.37", skipNodeOperations(10)),
      }),
    },
  );
}

function skipNodeOperations(number: number): Field {
  return field(number, list(string), "Node operations that the driver does not need.")
    .set()
    .gated("DRAOptionalNodeOperations");
}

/** The members of a device besides its name; `first` is the protobuf number of its attributes. */
function deviceFields(version: DeviceVersion, first: number) {
  const { struct } = version.declarations;
  return {
    attributes: field(
      first,
      map(declareAttribute({ struct })),
      "Attributes by name; at most 32 together with the capacities.",
    ),
    capacity: field(first + 1, map(declareCapacity({ struct })), "Capacities by name."),
  };
}

function laterDeviceFields(
  version: DeviceVersion,
  common: CommonStructs,
  counters: CounterStructs,
  first: number,
): LaterFields {
  const partition = <F extends Field>(one: F) => since("1.33", one.gated("DRAPartitionableDevices"));
  const binding = <F extends Field>(one: F) => since("1.34", one.gated("DRADeviceBindingConditions"));
  return {
    consumesCounters: partition(
      field(
        first + 2,
        list(counters.consumption),
        "Shared counters that the device consumes; at most 2 sets.",
      ).atomic(),
    ),
    nodeName: partition(field(first + 3, string, "Name of the node that has the device.").nullable()),
    nodeSelector: partition(
      field(
        first + 4,
        NodeSelector,
        "Node selector with one term, for the nodes that can use the device.",
      ).nullable(),
    ),
    allNodes: partition(field(first + 5, bool, "Whether all nodes can use the device.").nullable()),
    taints: since(
      "1.33",
      field(first + 6, list(common.taint), "Taints of the device; at most 16.")
        .atomic()
        .gated("DRADeviceTaints"),
    ),
    bindsToNode: binding(
      field(first + 7, bool, "Whether an allocation restricts the claim to the chosen node.").nullable(),
    ),
    bindingConditions: binding(
      field(
        first + 8,
        list(string),
        "Conditions that must be true before the pod is bound to a node; at most 4.",
      ).atomic(),
    ),
    bindingFailureConditions: binding(
      field(
        first + 9,
        list(string),
        "Conditions that abort the binding of the pod when true; at most 4.",
      ).atomic(),
    ),
    allowMultipleAllocations: since(
      "1.34",
      field(first + 10, bool, "Whether the device can be allocated several times.")
        .nullable()
        .gated("DRAConsumableCapacity"),
    ),
    nodeAllocatableResources: since(
      "1.37",
      field(
        14,
        map(declareNodeResource(version)),
        "Resources of the node that the device uses, by name.",
      ).gated("DRANodeAllocatableResources"),
    ),
  };
}

function declareDevice(
  version: DeviceVersion,
  common: CommonStructs,
  counters: CounterStructs,
): DeviceStruct {
  const { isFirst, declarations } = version;
  const { struct } = declarations;
  const name = field(1, string, "Name of the device, unique in the pool; a DNS label.").declaredRequired();
  const first = isFirst ? 1 : 2;
  const members = deviceFields(version, first);
  const rules = { later: () => laterDeviceFields(version, common, counters, first) };
  if (!isFirst) return struct("Device", "A device of a pool.", { name, ...members }, rules);
  const basic = struct("BasicDevice", "A device with attributes and capacities.", members, rules);
  return struct("Device", "A device of a pool.", {
    name,
    basic: field(2, basic, "Attributes and capacities of the device.").nullable(),
  });
}
