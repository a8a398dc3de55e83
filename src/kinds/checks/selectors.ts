import { labelSelectorFaults } from "../../base/label-selector.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Static } from "../../schema/types.ts";
import type { LabelSelector } from "../meta/label-selector.ts";

/** Checks the keys, operators and values of a label selector. */
export function labelSelector(selector: Static<typeof LabelSelector>, place: FieldReport): void {
  for (const fault of labelSelectorFaults(selector)) {
    if (place.full) return;
    const { path, value, message, sort } = fault;
    if (sort === "required") place.at(...path).required(message);
    else if (sort === "forbidden") place.at(...path).forbidden(message);
    else place.at(...path).invalid(value, message);
  }
}
