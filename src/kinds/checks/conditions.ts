import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Condition } from "../meta/condition.ts";
import { qualifiedName } from "./names.ts";
import { nonNegative } from "./numbers.ts";

const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;
const reasonForm = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Whether repeated types are reported at the item, and empty types and states as missing. */
const reportsAtItems = applies(since("1.37"));

/**
 * Checks a list of conditions (`metav1.Condition`): types are unique, and all members are well formed. Release 1.37 reports
 * repeated types at the item, and empty types and states as missing.
 */
export function conditionList(
  conditions: readonly Condition[],
  report: FieldReport,
  context: Pick<KindContext, "release"> = {},
): void {
  const reportsItems = reportsAtItems(context);
  const seen = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    if (report.full) return;
    const { type } = condition;
    if (seen.has(type)) (reportsItems ? report.at(index) : report.at(index, "type")).duplicate(type);
    seen.add(type);
    checkCondition(condition, report.at(index), reportsItems);
  }
}

function checkCondition(condition: Condition, report: FieldReport, requiresText: boolean): void {
  if (requiresText && condition.type === "") report.at("type").required("is required");
  else qualifiedName(condition.type, report.at("type"));
  if (requiresText && condition.status === "") report.at("status").required();
  else if (!["False", "True", "Unknown"].includes(condition.status)) {
    report.at("status").notSupported(condition.status, ["False", "True", "Unknown"]);
  }
  nonNegative(condition.observedGeneration ?? 0, report.at("observedGeneration"));
  const { reason, message } = condition;
  if (reason !== "" && !reasonForm.test(reason)) {
    report.at("reason").invalid(reason, `must start with a letter and match '${reasonForm.source}'`);
  }
  if (Buffer.byteLength(reason) > maxReasonLength) report.at("reason").tooLong(maxReasonLength);
  if (Buffer.byteLength(message) > maxMessageLength) report.at("message").tooLong(maxMessageLength);
}
