import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, list, map, quantity, string } from "../../schema/types.ts";
import { roundUpToMilli } from "../quantities.ts";
import { checkLimit, uniqueLimitTypes } from "./limit-range-rules.ts";

const LimitRangeItem = struct(
  "LimitRangeItem",
  "Limits for objects of one type.",
  {
    type: field(1, string, "Type of the objects: Container, Pod or PersistentVolumeClaim.")
      .declaredRequired()
      .knownValues("Container", "PersistentVolumeClaim", "Pod"),
    max: field(2, map(quantity), "Maximum amount of each resource."),
    min: field(3, map(quantity), "Minimum amount of each resource."),
    default: field(4, map(quantity), "Default limit of each resource, for containers without one."),
    defaultRequest: field(5, map(quantity), "Default request of each resource, for containers without one."),
    maxLimitRequestRatio: field(
      6,
      map(quantity),
      "Maximum ratio of the limit to the request of each resource.",
    ),
  },
  {
    fill(limit) {
      if (limit.type === "Container") {
        const missing = { ...limit.max, ...limit.default };
        const requests = { ...limit.min, ...missing, ...limit.defaultRequest };
        if (Object.keys(missing).length > 0) limit.default = missing;
        if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
      }
      for (const amounts of [limit.max, limit.min, limit.default, limit.defaultRequest])
        roundUpToMilli(amounts);
      roundUpToMilli(limit.maxLimitRequestRatio);
    },
    check: checkLimit,
  },
);
export type LimitRangeItem = Static<typeof LimitRangeItem>;

const LimitRangeSpec = struct("LimitRangeSpec", "Resource limits for the objects of a namespace.", {
  limits: field(1, list(LimitRangeItem), "Limits by type of object.")
    .declaredRequired()
    .atomic()
    .check(uniqueLimitTypes),
});

export const LimitRange = kind({
  name: "LimitRange",
  resource: "limitranges",
  singular: "limitrange",
  shortNames: ["limits"],
  scope: "Namespaced",
  createOnUpdate: true,
  generatesName: true,
  doc: "Limits and defaults for the resources of each pod, container or claim in a namespace.",
  effect: {
    enforced:
      "new pods and claims, and claims that change, keep to the limits; containers get the defaults (plugin LimitRanger)",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the LimitRange.").emitEmpty(),
    spec: field(2, LimitRangeSpec, "Resource limits for the objects of the namespace.").emitEmpty(),
  },
});
export type LimitRange = ObjectFor<typeof LimitRange>;
