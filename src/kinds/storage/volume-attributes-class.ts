import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, map, string } from "../../schema/types.ts";
import { same } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import type { storage } from "../groups.ts";
import { checkParameters, provisionerName } from "./storage-class-rules.ts";
import { sameFields } from "../same-fields.ts";

interface Attributes {
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** Declares VolumeAttributesClass in one version of the group. */
function declareVolumeAttributesClass<const V extends string>(
  { kind }: Declarations<typeof storage, V>,
  version: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  return kind({
    name: "VolumeAttributesClass",
    resource: "volumeattributesclasses",
    singular: "volumeattributesclass",
    shortNames: ["vac"],
    scope: "Cluster",
    returnsDeletedObject: true,
    ...version,
    doc: "A class of mutable volume attributes that claims can select.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
      driverName: field(2, string, "Name of the CSI driver of the volumes.")
        .required()
        .check(provisionerName),
      parameters: field(3, map(string), "Attributes of the volumes, passed to the driver.")
        .declaredRequired()
        .check(checkParameters),
    },
    validate({ parameters }, report) {
      if (Object.keys(parameters ?? {}).length === 0) {
        report.at("parameters").required("must contain at least one key/value pair");
      }
    },
    validateUpdate: (attributes, live, report) => checkUnchanged(attributes, live, report),
    columns: [
      nameColumn,
      {
        name: "DriverName",
        type: "string",
        doc: "Name of the CSI driver of the volumes.",
        cell: ({ driverName }) => driverName,
      },
      ageColumn,
    ],
  });
}

function checkUnchanged(attributes: Attributes, live: Attributes, report: FieldReport): void {
  for (const name of ["driverName", "parameters"] as const) {
    if (!same(attributes[name], live[name])) report.at(name).forbidden(`updates to ${name} are forbidden.`);
  }
}

/** Release 1.29 and later; the stored version. */
export const VolumeAttributesClassV1alpha1 = declareVolumeAttributesClass(v1alpha1, {
  servedByDefault: false,
});
export type VolumeAttributesClassV1alpha1 = ObjectFor<typeof VolumeAttributesClassV1alpha1>;

/** The versions have the same fields. */
const conversion = sameFields(() => VolumeAttributesClassV1alpha1);

/** Release 1.31 and later. */
export const VolumeAttributesClassV1beta1 = declareVolumeAttributesClass(v1beta1, {
  servedByDefault: false,
  conversion,
});
export type VolumeAttributesClassV1beta1 = ObjectFor<typeof VolumeAttributesClassV1beta1>;

/** Release 1.34 and later. */
export const VolumeAttributesClassV1 = declareVolumeAttributesClass(v1, {
  servedByDefault: true,
  conversion,
});
export type VolumeAttributesClassV1 = ObjectFor<typeof VolumeAttributesClassV1>;
