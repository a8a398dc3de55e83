import type { Column } from "../../../schema/columns.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { unchanged } from "../../checks/values.ts";
import { agedCell, nameColumn } from "../../columns.ts";
import {
  checkRequestSpec,
  checkRequestStatus,
  type PoolStatus,
  type RequestSpec,
  type RequestStatus,
} from "./pool-status-rules.ts";
import { declareRequestSpec, declareRequestStatus } from "./pool-status-structs.ts";
import type { DeviceDeclarations } from "./versions.ts";

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
