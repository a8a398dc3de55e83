import type { Column } from "../../../schema/columns.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field, int32, int64, list, quantity, string, type LaterFields } from "../../../schema/types.ts";
import { unchanged } from "../../checks/values.ts";
import { agedCell, nameColumn } from "../../columns.ts";
import {
  checkRequestSpec,
  checkRequestStatus,
  type PoolStatus,
  type RequestSpec,
  type RequestStatus,
} from "./pool-status-rules.ts";
import type { DeviceDeclarations } from "./versions.ts";
import { since } from "../../../base/release-rows.ts";
import { Condition } from "../../meta/condition.ts";

interface Request {
  readonly spec?: unknown;
  readonly status?: unknown;
}

const specOf = ({ spec }: Request) => (spec ?? { driver: "" }) as RequestSpec;
const statusOf = ({ status }: Request) => status as RequestStatus | undefined;

/** Declares ResourcePoolStatusRequest in one version. */
export function declareResourcePoolStatusRequest(declarations: DeviceDeclarations) {
  return declarations.kind({
    name: "ResourcePoolStatusRequest",
    resource: "resourcepoolstatusrequests",
    singular: "resourcepoolstatusrequest",
    scope: "Cluster",
    servedByDefault: false,
    returnsDeletedObject: true,
    allowUnconditionalUpdate: false,
    doc: "Requests the status of device pools once; it is not updated later.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the request.").declaredRequired(),
      spec: field(2, declareRequestSpec(declarations), "The pools to report; immutable.").declaredRequired(),
      status: field(
        3,
        declareRequestStatus(declarations),
        "Status of the pools; it can be set only once.",
      ).nullable(),
    },
    validateCreate(request, report) {
      checkRequestSpec(specOf(request), report.at("spec"));
    },
    validateUpdate(request, live, report, context) {
      const [status, before] = [statusOf(request), statusOf(live)];
      if (context.subresource !== "status") unchanged(request.spec, live.spec, report.at("spec"));
      else if (before !== undefined) unchanged(status, before, report.at("status"));
      else if (status !== undefined) checkRequestStatus(status, report.at("status"), context);
    },
    status: { initial: () => undefined, keepsMetadata: "all" },
    columns: [
      nameColumn,
      { name: "Driver", type: "string", doc: "Driver of the pools.", cell: (one) => specOf(one).driver },
      sumColumn("Total", "totalDevices", "Number of devices in all pools."),
      sumColumn("Available", "availableDevices", "Number of available devices in all pools."),
      sumColumn("Allocated", "allocatedDevices", "Number of allocated devices in all pools."),
      sumColumn("Unavailable", "unavailableDevices", "Number of unavailable devices in all pools."),
      sumColumn("Errors", "validationError", "Number of pools with incomplete data."),
      {
        name: "Pools",
        type: "integer",
        doc: "Number of matching pools.",
        cell: (one) => Number(statusOf(one)?.poolCount ?? 0),
      },
      {
        name: "Status",
        type: "string",
        doc: "State of the request: Pending, Complete or Failed.",
        cell: (one) => stateText(statusOf(one)),
      },
      {
        name: "Completed",
        type: "string",
        doc: "Time since the request was completed.",
        ...agedCell((one: Request, ago) => {
          const outcome = outcomeOf(statusOf(one));
          return outcome?.type === "Complete" ? ago(outcome.lastTransitionTime) : "<none>";
        }),
      },
    ],
  });
}

/** Returns the first condition that ends a request. */
function outcomeOf(status: RequestStatus | undefined) {
  return status?.conditions?.find(
    (condition) =>
      (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
}

function stateText(status: RequestStatus | undefined): string {
  const state = outcomeOf(status)?.type ?? "Pending";
  const [listed, count] = [status?.pools?.length ?? 0, status?.poolCount ?? 0];
  return state === "Complete" && count > listed ? `Complete (${listed}/${count} pools)` : state;
}

/** A column with the sum of a number of all pools, or the number of pools with a text. */
function sumColumn(
  name: string,
  member: "totalDevices" | "availableDevices" | "allocatedDevices" | "unavailableDevices" | "validationError",
  doc: string,
): Column<Request> {
  const cell = (one: Request) => {
    const status = statusOf(one);
    if (status === undefined || outcomeOf(status)?.type === "Failed") return "-";
    return String((status.pools ?? []).reduce((sum, pool) => sum + amountOf(pool[member]), 0));
  };
  return { name, type: "string", doc, cell };
}

function amountOf(value: PoolStatus["totalDevices"] | string): number {
  return typeof value === "string" ? 1 : Number(value ?? 0);
}

type Struct = Pick<DeviceDeclarations, "struct">;

/** Number of pools in the answer to a request without a limit. */
const defaultLimit = 100;

/** Declares the filters of a request. */
function declareRequestSpec({ struct }: Struct) {
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
          field(
            4,
            string,
            "Device attribute that groups devices into partition types where their slice names no attribute.",
          )
            .nullable()
            .gated("DRAPartitionableDevicesType"),
        ),
      }),
    },
  );
}

/** Declares the answer to a request. */
function declareRequestStatus({ struct }: Struct) {
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
    "State of a pool of devices.",
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
