import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, string } from "../../schema/types.ts";
import { nonNegative } from "../checks/numbers.ts";
import { ageColumn } from "../columns.ts";

const ScaleSpec = struct("ScaleSpec", "How many replicas an object should have.", {
  replicas: field(1, int32, "Number of replicas that is wanted.").check(nonNegative),
});

const ScaleStatus = struct("ScaleStatus", "How many replicas an object has.", {
  replicas: field(1, int32, "Number of replicas that were seen.").declaredRequired(),
  selector: field(2, string, "Label selector of the replicas, as text."),
});

/** The desired and current number of replicas of another object: its subresource `scale`. */
export const Scale = kind({
  name: "Scale",
  resource: "scales",
  singular: "scale",
  scope: "Namespaced",
  doc: "A request for a number of replicas of another object.",
  verbs: [],
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the object that is scaled.").emitEmpty(),
    spec: field(2, ScaleSpec, "How many replicas there should be.").emitEmpty(),
    status: field(3, ScaleStatus, "How many replicas there are now; set by the server.").emitEmpty(),
  },
  columns: [
    {
      name: "Name",
      type: "string",
      doc: "Name of the object that is scaled.",
      cell: (scale) => scale.metadata.name ?? "",
    },
    {
      name: "Desired",
      type: "integer",
      doc: "How many replicas there should be.",
      cell: (scale) => scale.spec?.replicas ?? 0,
    },
    {
      name: "Available",
      type: "integer",
      doc: "How many replicas there are.",
      cell: (scale) => scale.status?.replicas ?? 0,
    },
    ageColumn,
  ],
});
export type Scale = ObjectFor<typeof Scale>;
