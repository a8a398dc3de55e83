import type { FieldReport } from "../../schema/faults.ts";
import type { Condition } from "../meta/condition.ts";
import { qualifiedName } from "./names.ts";
import { nonNegative } from "./numbers.ts";

const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;
const reasonForm = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Checks a list of conditions (`metav1.Condition`): types are unique, and all members are well formed. */
export function conditionList(conditions: readonly Condition[], place: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    if (place.full) return;
    const { type } = condition;
    if (seen.has(type)) place.at(index, "type").duplicate(type);
    seen.add(type);
    checkCondition(condition, place.at(index));
  }
}

function checkCondition(condition: Condition, place: FieldReport): void {
  qualifiedName(condition.type, place.at("type"));
  if (!["False", "True", "Unknown"].includes(condition.status)) {
    place.at("status").notSupported(condition.status, ["False", "True", "Unknown"]);
  }
  nonNegative(condition.observedGeneration ?? 0, place.at("observedGeneration"));
  const { reason, message } = condition;
  if (reason !== "" && !reasonForm.test(reason)) {
    place.at("reason").invalid(reason, `must start with a letter and match '${reasonForm.source}'`);
  }
  if (Buffer.byteLength(reason) > maxReasonLength) place.at("reason").tooLong(maxReasonLength);
  if (Buffer.byteLength(message) > maxMessageLength) place.at("message").tooLong(maxMessageLength);
}
