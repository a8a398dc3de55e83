import { since } from "../../../schema/later-fields.ts";
import { field, int32, int64, list, quantity, string, type LaterFields } from "../../../schema/types.ts";
import { Condition } from "../../meta/condition.ts";
import type { DeviceDeclarations } from "./versions.ts";

type Struct = Pick<DeviceDeclarations, "struct">;

/** Number of pools in the answer to a request without a limit. */
const defaultLimit = 100;

/** Declares the filters of a request. */
export function declareRequestSpec({ struct }: Struct) {
  return struct(
    "ResourcePoolStatusRequestSpec",
    "Selects the pools.",
    {
      driver: field(1, string, "Driver of the pools.").declaredRequired(),
      poolName: field(2, string, "Name of one pool; without it all pools of the driver.").nullable(),
      limit: field(3, int32, "Maximum number of pools in the status, from 1 to 1000.")
        .nullable()
        .default(defaultLimit),
    },
    {
      later: (): LaterFields => ({
        defaultPartitionTypeAttribute: since(
          "1.37",
          field(4, string, "Attribute that groups partitions whose slice names none.")
            .nullable()
            .gated("DRAPartitionableDevicesType"),
        ),
      }),
    },
  );
}

/** Declares the answer to a request. */
export function declareRequestStatus({ struct }: Struct) {
  return struct("ResourcePoolStatusRequestStatus", "The state of the pools at one time.", {
    pools: field(2, list(declarePoolStatus({ struct })), "The first pools, by driver and name.").atomic(),
    conditions: field(3, list(Condition), "Complete or Failed; at most 10.").mapBy("type").patchMerge("type"),
    poolCount: field(6, int32, "Number of pools that match.").required().nullable(),
  });
}

function declarePoolStatus({ struct }: Struct) {
  const count = (number: number, doc: string) => field(number, int32, doc).nullable();
  return struct(
    "PoolStatus",
    "The state of a pool.",
    {
      driver: field(1, string, "Driver of the pool.").required(),
      poolName: field(2, string, "Name of the pool.").required(),
      nodeName: field(3, string, "Node of the pool.").nullable(),
      totalDevices: count(4, "Number of devices."),
      allocatedDevices: count(5, "Number of allocated devices."),
      availableDevices: count(6, "Number of devices that can be allocated."),
      unavailableDevices: count(7, "Number of devices that are neither allocated nor available."),
      resourceSliceCount: count(8, "Number of slices of the pool."),
      generation: field(9, int64, "Newest generation of the pool.").declaredRequired(),
      validationError: field(
        10,
        string,
        "Why the pool couldn't be read completely; at most 256 bytes.",
      ).nullable(),
    },
    {
      later: (): LaterFields => ({
        partitionSummary: since(
          "1.37",
          field(
            11,
            list(declarePartitionStatus({ struct })),
            "Devices by type of partition; at most 32.",
          ).atomic(),
        ),
        shareableSummary: since(
          "1.37",
          field(
            13,
            declareShareableSummary({ struct }),
            "Capacity of devices with several allocations.",
          ).nullable(),
        ),
      }),
    },
  );
}

function declarePartitionStatus({ struct }: Struct) {
  return struct("PartitionTypeStatus", "The devices of one type of partition.", {
    type: field(1, string, "Value of the attribute.").required(),
    total: field(2, int32, "Number of devices of the type.").required().nullable(),
    allocatable: field(3, int32, "Number of further devices of the type that can be allocated.")
      .required()
      .nullable(),
    attribute: field(4, string, "Attribute whose values are the types, with its domain.").required(),
  });
}

function declareShareableSummary({ struct }: Struct) {
  const amount = (number: number, doc: string) => field(number, quantity, doc).required().nullable();
  const capacity = struct("ShareableCapacityStatus", "Sums of one capacity.", {
    name: field(1, string, "Name of the capacity.").required(),
    total: amount(2, "Sum of the devices' capacity."),
    consumed: amount(3, "Allocated amount."),
    available: amount(4, "Amount that is not allocated."),
  });
  const devices = (number: number, doc: string) => field(number, int32, doc).required().nullable();
  return struct("ShareableSummaryStatus", "Capacity of devices with several allocations.", {
    fullyAvailableDevices: devices(1, "Number of devices without allocations."),
    partiallyAvailableDevices: devices(2, "Number of devices that are partly allocated."),
    capacity: field(3, list(capacity), "Sums by capacity; at most 32.").atomic(),
  });
}
