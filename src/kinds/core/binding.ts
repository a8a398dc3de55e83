import { ObjectReference } from "./references.ts";
import { kind } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";

export const Binding = kind({
  name: "Binding",
  resource: "bindings",
  singular: "binding",
  scope: "Namespaced",
  verbs: ["create"],
  subresourceAlias: { resource: "pods", subresource: "binding" },
  doc: "Binds a pod to a node.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; the name is the name of the pod.").emitEmpty(),
    target: field(2, ObjectReference, "The node to which the pod is bound.").required(),
  },
  validate({ target }, report) {
    const { kind: targetKind = "", name = "" } = target ?? {};
    if (targetKind !== "" && targetKind !== "Node") {
      report.at("target", "kind").notSupported(targetKind, ["Node", "<empty>"]);
    }
    if (name === "") report.at("target", "name").required();
  },
});
export type Binding = ObjectFor<typeof Binding>;
