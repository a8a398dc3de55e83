import type { Column } from "../../../schema/columns.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import type { PodTemplateSpec } from "./spec.ts";

/** Columns `Containers` and `Images` of workloads. */
export function containerColumns<O extends ApiObject>(
  templateOf: (object: O) => PodTemplateSpec | null | undefined,
  priority: 0 | 1 = 1,
): [containers: Column<O>, images: Column<O>] {
  const containersOf = (object: O) => templateOf(object)?.spec?.containers ?? [];
  return [
    {
      name: "Containers",
      type: "string",
      priority,
      doc: "Names of the pods' containers.",
      cell: (object) =>
        containersOf(object)
          .map(({ name }) => name)
          .join(","),
    },
    {
      name: "Images",
      type: "string",
      priority,
      doc: "Images of the pods' containers.",
      cell: (object) =>
        containersOf(object)
          .map(({ image }) => image ?? "")
          .join(","),
    },
  ];
}
