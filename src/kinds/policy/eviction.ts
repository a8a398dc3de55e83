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
  doc: "Evicts a pod if its disruption budgets permit it.",
  verbs: [],
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; the name is that of the pod.").emitEmpty(),
    deleteOptions: field(2, DeleteOptionsBody, "Options of the deletion.").nullable(),
  },
});
export type Eviction = ObjectFor<typeof Eviction>;
