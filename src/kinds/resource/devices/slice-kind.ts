import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import type { VersionMembers } from "./claim-kinds.ts";
import { declareCommonStructs } from "./common-structs.ts";
import { checkSliceSpec, type SliceSpec } from "./slice-rules.ts";
import { declareSliceSpec } from "./slice-structs.ts";
import type { DeviceVersion } from "./versions.ts";

const specOf = (object: { readonly spec: unknown }) => object.spec as SliceSpec;

/** Declares ResourceSlice in one version. */
export function declareResourceSlice(version: DeviceVersion, members: VersionMembers) {
  const spec = declareSliceSpec(version, declareCommonStructs(version.declarations));
  return version.declarations.kind({
    name: "ResourceSlice",
    resource: "resourceslices",
    collection: "resourceslices.v1",
    singular: "resourceslice",
    scope: "Cluster",
    returnsDeletedObject: true,
    ...members,
    doc: "Devices of one pool, published by a driver.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the slice.").emitEmpty(),
      spec: field(2, spec, "The pool and its devices.").declaredRequired(),
    },
    selectable: {
      "spec.nodeName": (slice) => specOf(slice).nodeName ?? "",
      "spec.driver": (slice) => specOf(slice).driver,
      "spec.pool.name": (slice) => specOf(slice).pool.name,
    },
    generationOf: specOf,
    validateCreate(slice, report) {
      checkSliceSpec(specOf(slice), undefined, report.at("spec"));
    },
    validateUpdate(slice, live, report) {
      checkSliceSpec(specOf(slice), specOf(live), report.at("spec"));
    },
    warnings(slice) {
      const { driver } = specOf(slice);
      if (driver === driver.toLowerCase()) return [];
      const quoted = JSON.stringify(driver);
      return [`spec.driver: driver names should be lowercase; ${quoted} contains uppercase characters`];
    },
    columns: [
      nameColumn,
      {
        name: "Node",
        type: "string",
        doc: "Name of the node that has the devices.",
        cell: (slice) => specOf(slice).nodeName ?? "",
      },
      {
        name: "Driver",
        type: "string",
        doc: "Name of the driver.",
        cell: (slice) => specOf(slice).driver,
      },
      { name: "Pool", type: "string", doc: "Name of the pool.", cell: (slice) => specOf(slice).pool.name },
      ageColumn,
    ],
  });
}
