import { kind } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";
import { DeleteOptionsBody } from "../meta/delete-options.ts";

/** Body of the subresource `eviction` of a pod. */
export const Eviction = kind({
  name: "Eviction",
  resource: "evictions",
  singular: "eviction",
  scope: "Namespaced",
  doc: "Asks for a pod to be deleted where the disruption budgets of its application allow it.",
  verbs: [],
  fields: {
    metadata: field(1, ObjectMeta, "Names the pod that is meant.").emitEmpty(),
    deleteOptions: field(2, DeleteOptionsBody, "How the pod is to be deleted.").nullable(),
  },
});
export type Eviction = ObjectFor<typeof Eviction>;
