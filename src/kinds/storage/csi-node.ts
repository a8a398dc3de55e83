import { byRelease, since } from "../../base/release-rows.ts";
import { nonNegative } from "../checks/numbers.ts";
import { same, uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, list, string, time } from "../../schema/types.ts";
import type { KindContext } from "../../schema/context.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { storageDriverName } from "../checks/names.ts";

const maxIdentifierBytes = 256;

/** Requires the identifier of a node for a driver. */
function nodeIdentifier(identifier: string, report: FieldReport): void {
  if (Buffer.byteLength(identifier) > maxIdentifierBytes) {
    report.invalid(identifier, `must be ${maxIdentifierBytes} characters or less`);
  }
}

interface NodeDriver {
  readonly name: string;
  readonly topologyKeys?: readonly string[] | null | undefined;
}

/**
 * Checks the name of a driver and the keys of topology labels; faults of keys are reported at the driver, as in the
 * reference.
 */
function checkNodeDriver(
  { name, topologyKeys }: NodeDriver,
  report: FieldReport,
  context: KindContext,
): void {
  storageDriverName(name, report.at("name"), context);
  const seen = new Set<string>();
  for (const key of topologyKeys ?? []) {
    if (report.full) return;
    if (key === "") report.required();
    if (seen.has(key)) report.duplicate(key);
    seen.add(key);
    for (const message of qualifiedNameFaults(key)) report.invalid(topologyKeys, message);
  }
}

const VolumeNodeResources = struct("VolumeNodeResources", "Volume limits of a driver on a node.", {
  count: field(1, int32, "Maximum number of volumes of the driver on the node; absent for no limit.")
    .nullable()
    .check(nonNegative),
});

const CSINodeDriver = struct(
  "CSINodeDriver",
  "A CSI driver on a node.",
  {
    name: field(1, string, "Name of the driver.").declaredRequired(),
    nodeID: field(2, string, "Identifier of the node for the driver.").required().check(nodeIdentifier),
    topologyKeys: field(3, list(string), "Label keys of the node that the driver uses for topology.")
      .emitEmpty()
      .atomic(),
    allocatable: field(4, VolumeNodeResources, "Volume limits of the driver on the node.").nullable(),
  },
  { check: checkNodeDriver },
);

const CSINodeSpec = struct("CSINodeSpec", "CSI drivers of a node.", {
  drivers: field(1, list(CSINodeDriver), "CSI drivers on the node, each with a unique name.")
    .declaredRequired()
    .mapBy("name")
    .patchMerge("name")
    .check(uniqueBy(({ name }) => name, "name")),
});

const StorageHealthCondition = struct(
  "StorageHealthCondition",
  "A problem of a driver's storage on a node.",
  {
    status: field(1, string, "Type of the problem.").declaredRequired(),
    reason: field(2, string, "Machine-readable reason in CamelCase.").declaredRequired(),
    message: field(3, string, "Human-readable details."),
    accessMode: field(4, string, "Access mode of the affected volumes.").nullable(),
    volumeMode: field(5, string, "Volume mode of the affected volumes.").nullable(),
    lastTransitionTime: field(6, time, "Time of the last change of the condition.").nullable(),
  },
);

const StorageHealth = struct("StorageHealth", "Health of a driver's storage on a node.", {
  name: field(1, string, "Name of the driver.").declaredRequired(),
  healthConditions: field(2, list(StorageHealthCondition), "Current problems of the storage.").atomic(),
});

const CSINodeStatus = struct("CSINodeStatus", "Observed health of the storage of a node.", {
  storageHealth: field(1, list(StorageHealth), "Health of the storage of each driver.")
    .mapBy("name")
    .patchMerge("name")
    .gated("CSIVolumeHealth"),
});

/** The path of all changed drivers. */
const driversPath = byRelease(["CSINodeDriver"], since("1.33", ["spec", "drivers"]));

const nodeStatus = { initial: () => ({}), keepsMetadata: "all" } as const;

export const CSINode = kind({
  name: "CSINode",
  resource: "csinodes",
  singular: "csinode",
  scope: "Cluster",
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  doc: "CSI drivers installed on a node.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; the name is the name of the node.").emitEmpty(),
    spec: field(2, CSINodeSpec, "CSI drivers of the node.").declaredRequired(),
  },
  later: () => ({
    status: since("1.37", field(3, CSINodeStatus, "Observed health of the storage of the node.").emitEmpty()),
  }),
  status: since("1.37", nodeStatus),
  validateUpdate(node, live, report, context) {
    const path = report.at(...driversPath(context));
    const ignored = context.enabled("MutableCSINodeAllocatableCount") ? { allocatable: undefined } : {};
    const now = new Map((node.spec?.drivers ?? []).map((driver) => [driver.name, driver]));
    for (const driver of live.spec?.drivers ?? []) {
      const changed = now.get(driver.name);
      if (changed === undefined || same({ ...changed, ...ignored }, { ...driver, ...ignored })) continue;
      // As in the reference, all drivers have this path.
      path.invalid(changed, "field is immutable");
    }
  },
  columns: [
    nameColumn,
    {
      name: "Drivers",
      type: "integer",
      doc: "Number of drivers on the node.",
      cell: ({ spec }) => (spec?.drivers ?? []).length,
    },
    ageColumn,
  ],
});
export type CSINode = ObjectFor<typeof CSINode>;
