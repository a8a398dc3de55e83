import type { FieldReport } from "../../schema/faults.ts";
import type { Condition } from "../meta/condition.ts";
import { qualifiedName } from "./names.ts";
import { nonNegative } from "./numbers.ts";

const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;
const reasonForm = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Checks a list of conditions (`metav1.Condition`): types are unique, and all members are well formed. */
export function conditionList(conditions: readonly Condition[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    if (report.full) return;
    const { type } = condition;
    if (seen.has(type)) report.at(index, "type").duplicate(type);
    seen.add(type);
    checkCondition(condition, report.at(index));
  }
}

function checkCondition(condition: Condition, report: FieldReport): void {
  qualifiedName(condition.type, report.at("type"));
  if (!["False", "True", "Unknown"].includes(condition.status)) {
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
