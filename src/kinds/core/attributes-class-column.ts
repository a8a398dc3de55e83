import { since, type Row } from "../../base/release-rows.ts";
import type { Column } from "../../schema/columns.ts";

interface Volume {
  readonly spec?: { readonly volumeAttributesClassName?: string | undefined } | undefined;
}

/** The column of volumes and claims with the class of their attributes. */
export const attributesClassColumn: Row<Column<Volume>> = since("1.29", {
  name: "VolumeAttributesClass",
  type: "string",
  doc: "Name of the VolumeAttributesClass of the volume.",
  cell: ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>",
});
