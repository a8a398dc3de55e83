import { labelSelectorFaults } from "../../base/selectors/label-selector.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Static } from "../../schema/types.ts";
import type { LabelSelector } from "../meta/label-selector.ts";

/** Checks the keys, operators and values of a label selector. */
export function labelSelector(selector: Static<typeof LabelSelector>, report: FieldReport): void {
  for (const fault of labelSelectorFaults(selector)) {
    if (report.full) return;
    const { path, value, message, sort } = fault;
    if (sort === "required") report.at(...path).required(message);
    else if (sort === "forbidden") report.at(...path).forbidden(message);
    else report.at(...path).invalid(value, message);
  }
}
