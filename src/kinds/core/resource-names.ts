import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { readQuantity } from "../checks/quantities.ts";
import { containerResourceName, isExtended } from "./pod/resource-names.ts";
import { isCounted, isQuotaResource, resourceName } from "./standard-resources.ts";

/** Requires the name of a resource that a quota can limit. */
export function quotaResourceName(name: string, report: FieldReport): void {
  resourceName(name, report);
  if (!name.includes("/") && !isQuotaResource(name))
    report.invalid(name, "must be a standard resource for quota");
}

/** Requires the name of a resource that a limit range can limit for a type of object. */
export function limitedResourceName(
  type: string,
  name: string,
  report: FieldReport,
  context: KindContext,
): void {
  if (type === "Pod" || type === "Container") containerResourceName(name, report, context);
  else resourceName(name, report);
}

/** Requires a non-negative amount, which must be whole for countable resources. */
export function checkAmount(name: string, amount: string, report: FieldReport, context: KindContext): void {
  const quantity = readQuantity(amount, report);
  if (quantity === undefined) return;
  if (quantity.nanos < 0n) report.invalid(amount, "must be greater than or equal to 0");
  const whole = quantity.nanos % 1_000_000_000n === 0n;
  if (!whole && (isCounted(name) || isExtended(name, context))) {
    report.invalid(amount, "must be an integer");
  }
}
