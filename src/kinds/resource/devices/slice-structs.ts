import { since } from "../../../schema/later-fields.ts";
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
  const pool = struct("ResourcePool", "The pool to which the devices belong.", {
    name: field(1, string, "Name of the pool: DNS subdomains with slashes between them.").declaredRequired(),
    generation: field(
      2,
      int64,
      "Incremented with each change of the pool; others are older.",
    ).declaredRequired(),
    resourceSliceCount: field(
      3,
      int64,
      "Number of slices of the pool in this generation.",
    ).declaredRequired(),
  });
  const nodeName = field(3, string, "Node that has the devices.");
  const allNodes = field(5, bool, "Whether all nodes can use the devices.");
  return struct(
    "ResourceSliceSpec",
    "Devices of one pool and driver.",
    {
      driver: field(1, string, "Name of the driver; it can't be changed.").declaredRequired(),
      pool: field(2, pool, "Pool of the devices.").declaredRequired(),
      nodeName: isFirst ? nodeName : nodeName.nullable(),
      nodeSelector: field(4, NodeSelector, "Nodes that can use the devices; it has one term.").nullable(),
      allNodes: isFirst ? allNodes : allNodes.nullable(),
      devices: field(6, list(declareDevice(version, common, counters)), "Devices; at most 128.").atomic(),
    },
    {
      later: (): LaterFields => ({
        perDeviceNodeSelection: since(
          "1.33",
          field(7, bool, "Whether each device names its nodes.").nullable().gated("DRAPartitionableDevices"),
        ),
        sharedCounters: since(
          "1.33",
          field(8, list(counters.set), "Counters from which devices consume; at most 8 sets.")
            .atomic()
            .gated("DRAPartitionableDevices"),
        ),
        partitionTypeAttribute: since(
          "1.37",
          field(9, string, "Attribute with the type of the partition that a device is.")
            .nullable()
            .gated("DRAPartitionableDevicesType"),
        ),
        skipNodeOperations: since("1.37", skipNodeOperations(10)),
      }),
    },
  );
}

function skipNodeOperations(number: number): Field {
  return field(number, list(string), "Operations on the node that the driver doesn't need.")
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
      "Attributes by name; at most 32 with the capacities.",
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
      field(first + 2, list(counters.consumption), "Consumed counters; at most 2.").atomic(),
    ),
    nodeName: partition(field(first + 3, string, "Node that has the device.").nullable()),
    nodeSelector: partition(field(first + 4, NodeSelector, "Nodes that can use the device.").nullable()),
    allNodes: partition(field(first + 5, bool, "Whether all nodes can use the device.").nullable()),
    taints: since(
      "1.33",
      field(first + 6, list(common.taint), "Taints; at most 16.")
        .atomic()
        .gated("DRADeviceTaints"),
    ),
    bindsToNode: binding(
      field(
        first + 7,
        bool,
        "Whether an allocation restricts a claim to the node that was chosen.",
      ).nullable(),
    ),
    bindingConditions: binding(
      field(
        first + 8,
        list(string),
        "Conditions that must be true before a pod is bound; at most 4.",
      ).atomic(),
    ),
    bindingFailureConditions: binding(
      field(first + 9, list(string), "Conditions that end the attempt to bind a pod; at most 4.").atomic(),
    ),
    allowMultipleAllocations: since(
      "1.34",
      field(first + 10, bool, "Whether several claims can share the device.")
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
  const name = field(1, string, "Name, unique in the pool; a DNS label.").declaredRequired();
  const first = isFirst ? 1 : 2;
  const members = deviceFields(version, first);
  const rules = { later: () => laterDeviceFields(version, common, counters, first) };
  if (!isFirst) return struct("Device", "A device of a pool.", { name, ...members }, rules);
  const basic = struct("BasicDevice", "A device with attributes and capacities.", members, rules);
  return struct("Device", "A device of a pool.", {
    name,
    basic: field(2, basic, "Members of the device.").nullable(),
  });
}
