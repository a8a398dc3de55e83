import { kind } from "./v1.ts";
import { nonNegative } from "../checks/numbers.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int64, object } from "../../schema/types.ts";

/** Returns the controlling owner as `kind.group/name`, with kind and group in lower case. */
function controllerOf({ metadata }: ApiObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return "<none>";
  const slash = owner.apiVersion.indexOf("/");
  const group = slash < 0 ? "" : `.${owner.apiVersion.slice(0, slash)}`;
  return `${`${owner.kind}${group}`.toLowerCase()}/${owner.name}`;
}

export const ControllerRevision = kind({
  name: "ControllerRevision",
  resource: "controllerrevisions",
  singular: "controllerrevision",
  scope: "Namespaced",
  doc: "An immutable snapshot of a controller's configuration, used for rollbacks.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the revision.").emitEmpty(),
    data: field(2, object, "The recorded configuration.").emitEmpty().mustBeGiven(),
    revision: field(3, int64, "Revision number; later revisions have greater numbers.")
      .required()
      .check(nonNegative),
  },
  validateUpdate(revision, live, report) {
    unchanged(revision.data, live.data, report.at("data"));
  },
  columns: [
    nameColumn,
    {
      name: "Controller",
      type: "string",
      doc: "Object that the revision belongs to, such as a StatefulSet.",
      cell: controllerOf,
    },
    {
      name: "Revision",
      type: "string",
      doc: "Revision number.",
      cell: (revision) => revision.revision,
    },
    ageColumn,
  ],
});
export type ControllerRevision = ObjectFor<typeof ControllerRevision>;
