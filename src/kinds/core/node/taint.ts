import { struct } from "../v1.ts";
import { qualifiedNameFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { type Static, field, string, time } from "../../../schema/types.ts";
import { labelValue } from "../../checks/names.ts";

export const Taint = struct(
  "Taint",
  "A property of a node that repels pods without a matching toleration.",
  {
    key: field(1, string, "Key of the taint.").declaredRequired(),
    value: field(2, string, "Value of the taint.").check(labelValue),
    effect: field(
      3,
      string,
      "Effect on pods that do not tolerate the taint: NoSchedule, PreferNoSchedule or NoExecute.",
    )
      .required()
      .oneOf("NoExecute", "NoSchedule", "PreferNoSchedule"),
    timeAdded: field(4, time, "Time at which the taint was added; only for the effect NoExecute.").nullable(),
  },
  {
    check(taint, report) {
      for (const message of qualifiedNameFaults(taint.key)) report.at("key").invalid(taint.key, message);
    },
  },
);
export type Taint = Static<typeof Taint>;

/** Requires unique pairs of key and effect. */
export function uniqueTaints(taints: readonly Taint[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    if (report.full) return;
    const pair = `${taint.effect} ${taint.key}`;
    if (seen.has(pair)) report.at(index).duplicate(taint);
    seen.add(pair);
  }
}
