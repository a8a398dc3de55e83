import { since, type Released } from "../../base/release-rows.ts";
import type { Column } from "../../schema/columns.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { createdColumn, nameColumn } from "../columns.ts";

/** The fields of a definition that its columns show. */
interface ShownDefinition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly shortNames?: readonly string[] | undefined };
    readonly versions:
      readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[] | null;
  };
  readonly status?:
    | {
        readonly conditions?:
          readonly { readonly type: string; readonly status: string }[] | null | undefined;
      }
    | undefined;
}

const scope: Column<ShownDefinition> = {
  name: "Scope",
  type: "string",
  doc: "Scope of the objects.",
  cell: ({ spec }) => spec.scope,
};

const versions: Column<ShownDefinition> = {
  name: "Versions",
  type: "string",
  doc: "The served versions.",
  cell: ({ spec }) =>
    (spec.versions ?? [])
      .filter(({ served }) => served)
      .map(({ name, storage }) => (storage ? `${name}(storage)` : name))
      .toSorted()
      .join(","),
};

const wide: readonly Column<ShownDefinition>[] = [
  { name: "Group", type: "string", priority: 1, doc: "The API group.", cell: ({ spec }) => spec.group },
  { name: "Kind", type: "string", priority: 1, doc: "The kind.", cell: ({ spec }) => spec.names.kind },
  {
    name: "ShortNames",
    type: "string",
    priority: 1,
    doc: "The short names.",
    cell: ({ spec }) => (spec.names.shortNames ?? []).join(","),
  },
  {
    name: "Established",
    type: "boolean",
    priority: 1,
    doc: "Whether the kind is served.",
    cell: ({ status }) =>
      (status?.conditions ?? []).some((one) => one.type === "Established" && one.status === "True"),
  },
];

/** The columns of CustomResourceDefinitions. */
export const definitionColumns: readonly Released<Column<ShownDefinition & ApiObject>>[] = [
  nameColumn,
  ...[scope, versions].map((column) => since("1.37", column)),
  createdColumn,
  ...wide.map((column) => since("1.37", column)),
];
