import { labelSelectorFaults } from "../../base/label-selector.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Static } from "../../schema/types.ts";
import type { LabelSelector } from "../meta/label-selector.ts";

/** A label selector whose keys, operators and values are well formed. */
export function labelSelector(selector: Static<typeof LabelSelector>, place: FieldReport): void {
  for (const fault of labelSelectorFaults(selector)) {
    if (place.full) return;
    place.at(...fault.path).invalid(fault.value, fault.message);
  }
}
