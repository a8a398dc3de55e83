import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, string } from "../../schema/types.ts";
import { nonNegative } from "../checks/numbers.ts";
import { ageColumn } from "../columns.ts";

const ScaleSpec = struct("ScaleSpec", "Desired number of replicas of an object.", {
  replicas: field(1, int32, "Desired number of replicas.").check(nonNegative),
});

const ScaleStatus = struct("ScaleStatus", "Observed number of replicas of an object.", {
  replicas: field(1, int32, "Observed number of replicas.").declaredRequired(),
  selector: field(2, string, "Label selector of the replicas, in text form."),
});

/** The desired and current number of replicas of another object: its subresource `scale`. */
export const Scale = kind({
  name: "Scale",
  resource: "scales",
  singular: "scale",
  scope: "Namespaced",
  doc: "Desired and observed number of replicas of an object.",
  verbs: [],
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the scaled object.").emitEmpty(),
    spec: field(2, ScaleSpec, "Desired number of replicas.").emitEmpty(),
    status: field(3, ScaleStatus, "Observed number of replicas, set by the server.").emitEmpty(),
  },
  columns: [
    {
      name: "Name",
      type: "string",
      doc: "Name of the scaled object.",
      cell: (scale) => scale.metadata.name ?? "",
    },
    {
      name: "Desired",
      type: "integer",
      doc: "Desired number of replicas.",
      cell: (scale) => scale.spec?.replicas ?? 0,
    },
    {
      name: "Available",
      type: "integer",
      doc: "Observed number of replicas.",
      cell: (scale) => scale.status?.replicas ?? 0,
    },
    ageColumn,
  ],
});
export type Scale = ObjectFor<typeof Scale>;
