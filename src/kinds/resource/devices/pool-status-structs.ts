import { since } from "../../../base/release-rows.ts";
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
    "The pools to report.",
    {
      driver: field(1, string, "Driver of the pools.").declaredRequired(),
      poolName: field(2, string, "Name of the pool; absent for all pools of the driver.").nullable(),
      limit: field(3, int32, "Maximum number of pools to report, 1 to 1000. Default: 100.")
        .nullable()
        .default(defaultLimit),
    },
    {
      later: (): LaterFields => ({
        defaultPartitionTypeAttribute: since(
          "1.37",
          field(4, string, "Attribute for grouping partitions whose slice specifies none.")
            .nullable()
            .gated("DRAPartitionableDevicesType"),
        ),
      }),
    },
  );
}

/** Declares the answer to a request. */
export function declareRequestStatus({ struct }: Struct) {
  return struct("ResourcePoolStatusRequestStatus", "Status of the pools at one point in time.", {
    pools: field(
      2,
      list(declarePoolStatus({ struct })),
      "The first pools, sorted by driver and name.",
    ).atomic(),
    conditions: field(3, list(Condition), "Conditions of the request: Complete or Failed; at most 10.")
      .mapBy("type")
      .patchMerge("type"),
    poolCount: field(6, int32, "Number of matching pools, including those not reported.")
      .required()
      .nullable(),
  });
}

function declarePoolStatus({ struct }: Struct) {
  const count = (number: number, doc: string) => field(number, int32, doc).nullable();
  return struct(
    "PoolStatus",
    "Status of a pool.",
    {
      driver: field(1, string, "Driver of the pool.").required(),
      poolName: field(2, string, "Name of the pool.").required(),
      nodeName: field(3, string, "Name of the pool's node.").nullable(),
      totalDevices: count(4, "Number of devices."),
      allocatedDevices: count(5, "Number of allocated devices."),
      availableDevices: count(6, "Number of devices that can be allocated."),
      unavailableDevices: count(7, "Number of devices that are neither allocated nor available."),
      resourceSliceCount: count(8, "Number of ResourceSlices of the pool."),
      generation: field(9, int64, "Latest generation of the pool.").declaredRequired(),
      validationError: field(10, string, "Reason for incomplete data; at most 256 bytes.").nullable(),
    },
    {
      later: (): LaterFields => ({
        partitionSummary: since(
          "1.37",
          field(
            11,
            list(declarePartitionStatus({ struct })),
            "Devices by partition type; at most 32.",
          ).atomic(),
        ),
        shareableSummary: since(
          "1.37",
          field(
            13,
            declareShareableSummary({ struct }),
            "Capacity of devices that can be allocated several times.",
          ).nullable(),
        ),
      }),
    },
  );
}

function declarePartitionStatus({ struct }: Struct) {
  return struct("PartitionTypeStatus", "Devices of one partition type.", {
    type: field(1, string, "Value of the attribute for this partition type.").required(),
    total: field(2, int32, "Number of devices of the type.").required().nullable(),
    allocatable: field(3, int32, "Number of devices that can still be allocated.").required().nullable(),
    attribute: field(
      4,
      string,
      "Name of the attribute that holds the partition type, with its domain.",
    ).required(),
  });
}

function declareShareableSummary({ struct }: Struct) {
  const amount = (number: number, doc: string) => field(number, quantity, doc).required().nullable();
  const capacity = struct("ShareableCapacityStatus", "Totals of one capacity.", {
    name: field(1, string, "Name of the capacity.").required(),
    total: amount(2, "Total amount over all devices."),
    consumed: amount(3, "Total amount that is allocated."),
    available: amount(4, "Amount that can still be allocated."),
  });
  const devices = (number: number, doc: string) => field(number, int32, doc).required().nullable();
  return struct("ShareableSummaryStatus", "Capacity of devices that can be allocated several times.", {
    fullyAvailableDevices: devices(1, "Number of devices without allocations."),
    partiallyAvailableDevices: devices(2, "Number of devices with some allocations and capacity left."),
    capacity: field(3, list(capacity), "Totals of each capacity; at most 32.").atomic(),
  });
}
