import { nameColumn } from "../columns.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, list, string } from "../../schema/types.ts";

const ComponentCondition = struct("ComponentCondition", "One aspect of a component's state.", {
  type: field(1, string, "What the condition is about.").declaredRequired().knownValues("Healthy"),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  message: field(3, string, "Explanation for people."),
  error: field(4, string, "What went wrong."),
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
  doc: "Deprecated: whether a component of the cluster is well.",
  effect: { acts: "not stored: the server says whether its store answers" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the component.").emitEmpty(),
    conditions: field(2, list(ComponentCondition), "What is known about the component's state.")
      .mapBy("type")
      .patchMerge("type"),
  },
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Whether the component is well.",
      cell: (component) => {
        const health = healthOf(component);
        return health === undefined ? "Unknown" : health.status === "True" ? "Healthy" : "Unhealthy";
      },
    },
    {
      name: "Message",
      type: "string",
      doc: "Explanation for people.",
      cell: (component) => healthOf(component)?.message ?? "",
    },
    {
      name: "Error",
      type: "string",
      doc: "What went wrong.",
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
