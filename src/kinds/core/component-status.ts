import { nameColumn } from "../columns.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, list, string } from "../../schema/types.ts";

const ComponentCondition = struct("ComponentCondition", "A condition of a component.", {
  type: field(1, string, "Type of the condition; always Healthy.").declaredRequired().knownValues("Healthy"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  message: field(3, string, "Human-readable details."),
  error: field(4, string, "Error code of the check of the component."),
});
type ComponentCondition = Static<typeof ComponentCondition>;

export const ComponentStatus = kind({
  name: "ComponentStatus",
  resource: "componentstatuses",
  singular: "componentstatus",
  shortNames: ["cs"],
  scope: "Cluster",
  verbs: ["get", "list"],
  computed: true,
  doc: "Deprecated: health of a component of the cluster.",
  effect: { acts: "not stored: the server says whether its store answers" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the component.").emitEmpty(),
    conditions: field(2, list(ComponentCondition), "Conditions of the component.")
      .mapBy("type")
      .patchMerge("type"),
  },
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Health of the component.",
      cell: (component) => {
        const health = healthOf(component);
        return health === undefined ? "Unknown" : health.status === "True" ? "Healthy" : "Unhealthy";
      },
    },
    {
      name: "Message",
      type: "string",
      doc: "Human-readable details.",
      cell: (component) => healthOf(component)?.message ?? "",
    },
    {
      name: "Error",
      type: "string",
      doc: "Error of the check of the component.",
      cell: (component) => healthOf(component)?.error ?? "",
    },
  ],
});
export type ComponentStatus = ObjectFor<typeof ComponentStatus>;

function healthOf(component: {
  readonly conditions?: readonly ComponentCondition[] | undefined;
}): ComponentCondition | undefined {
  return component.conditions?.find(({ type }) => type === "Healthy");
}
