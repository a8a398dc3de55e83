import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, list, map, quantity, string } from "../../schema/types.ts";
import { roundUpToMilli, quantityFrom } from "../quantities.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import { compareQuantities, quantityOf, type Quantity } from "../../base/quantity.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { uniqueBy } from "../checks/values.ts";
import { mayOvercommit } from "./pod/resource-names.ts";
import { limitedResourceName } from "./resource-names.ts";

type Amounts = Readonly<Record<string, string>>;

interface Limit {
  readonly type: string;
  readonly max?: Amounts | undefined;
  readonly min?: Amounts | undefined;
  readonly default?: Amounts | undefined;
  readonly defaultRequest?: Amounts | undefined;
  readonly maxLimitRequestRatio?: Amounts | undefined;
}

const limitTypes = new Set(["Pod", "Container", "PersistentVolumeClaim"]);

/** Requires that each type of object occurs once. */
const uniqueLimitTypes = uniqueBy<Limit>(({ type }) => type, "type");

/** Checks the limits for one type of object against each other. */
function checkLimit(limit: Limit, report: FieldReport, context: KindContext): void {
  const { type } = limit;
  const typeFaults = qualifiedNameFaults(type);
  for (const message of typeFaults) report.at("type").invalid(type, message);
  if (typeFaults.length === 0 && !type.includes("/") && !limitTypes.has(type)) {
    report.at("type").invalid(type, "must be a standard limit type or fully qualified");
  }
  const named = ["max", "min", "maxLimitRequestRatio"] as const;
  const defaults = ["default", "defaultRequest"] as const;
  const names = new Set<string>();
  for (const group of type === "Pod" ? named : [...named, ...defaults]) {
    for (const name of Object.keys(limit[group] ?? {})) {
      if (report.full) return;
      limitedResourceName(type, name, report.at(group).key(name), context);
      names.add(name);
    }
  }
  if (type === "Pod") {
    for (const group of defaults) {
      if (Object.keys(limit[group] ?? {}).length > 0) {
        report.at(group).forbidden("may not be specified when `type` is 'Pod'");
      }
    }
  }
  if (type === "PersistentVolumeClaim" && !names.has("storage")) {
    report
      .at("limits")
      .required("either minimum or maximum storage value is required, but neither was provided");
  }
  for (const name of names) {
    if (report.full) return;
    checkResource(limit, name, report, context);
  }
}

function amountOf(amounts: Amounts | undefined, name: string): Quantity | undefined {
  return amounts !== undefined && Object.hasOwn(amounts, name) ? quantityFrom(amounts[name]!) : undefined;
}

/** Checks the limits of one resource: min ≤ default request ≤ default ≤ max. */
function checkResource(limit: Limit, name: string, report: FieldReport, context: KindContext): void {
  const min = amountOf(limit.min, name);
  const max = amountOf(limit.max, name);
  const request = amountOf(limit.defaultRequest, name);
  const fallback = amountOf(limit.default, name);
  const ordered = (
    low: Quantity | undefined,
    high: Quantity | undefined,
    group: "min" | "default" | "defaultRequest",
    words: string,
  ): void => {
    if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) return;
    report.at(group).key(name).invalid(limit[group]?.[name], words);
  };
  ordered(min, max, "min", "the minimum is greater than the maximum");
  ordered(min, request, "defaultRequest", "the minimum is greater than the default request");
  ordered(request, max, "defaultRequest", "the default request is greater than the maximum");
  ordered(request, fallback, "defaultRequest", "the default request is greater than the default limit");
  ordered(min, fallback, "default", "the minimum is greater than the default limit");
  ordered(fallback, max, "default", "the default limit is greater than the maximum");
  checkRatio(limit, name, report);
  if (request === undefined || fallback === undefined || mayOvercommit(name, context)) return;
  if (compareQuantities(request, fallback) !== 0) {
    report.at("default").key(name).invalid(limit.default?.[name], "must be equal to the default request");
  }
}

function checkRatio(limit: Limit, name: string, report: FieldReport): void {
  const ratio = amountOf(limit.maxLimitRequestRatio, name);
  if (ratio === undefined) return;
  const here = report.at("maxLimitRequestRatio").key(name);
  const shown = limit.maxLimitRequestRatio?.[name];
  if (compareQuantities(ratio, quantityOf(1)) < 0) here.invalid(shown, "the ratio is less than 1");
  const min = amountOf(limit.min, name);
  const max = amountOf(limit.max, name);
  if (min === undefined || max === undefined) return;
  // ratio > max / min, without a division; both sides are multiplied by 10^18.
  const one = quantityOf(1).nanos;
  if (min.nanos > 0n && ratio.nanos * min.nanos > max.nanos * one) {
    here.invalid(shown, "the ratio is greater than max/min");
  }
}

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
