import { encodeJson } from "../../../base/json/encode.ts";
import type { JsonValue } from "../../../base/json/value.ts";
import { byRelease, since } from "../../../base/release-rows.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { taintEffects } from "./common-structs.ts";
import { driverName } from "./device-names.ts";
import { limitedList } from "./list-rules.ts";

/** Limit of the objects of a driver, in bytes of JSON. */
const maxObjectBytes = 10 * 1024;

/** The configuration of devices. */
export interface Configuration {
  readonly opaque?: { readonly driver: string; readonly parameters: unknown } | undefined;
}

/** Requires a configuration for one driver. */
export function configuration({ opaque }: Configuration, report: FieldReport): void {
  if (opaque === undefined) return report.at("opaque").required();
  driverName(opaque.driver, report.at("opaque", "driver"));
  driverObject(opaque.parameters, report.at("opaque", "parameters"));
}

/** Requires a JSON object of limited size. */
export function driverObject(value: unknown, report: FieldReport): void {
  if (value === undefined || value === null) return report.required();
  if (Buffer.byteLength(encodeJson(value as JsonValue)) > maxObjectBytes)
    return report.tooLong(maxObjectBytes);
  if (typeof value !== "object" || Array.isArray(value)) {
    report.invalid("<value omitted>", "must be a valid JSON object");
  }
}

/** A taint of a device. */
export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
}

const knownEffects = byRelease(
  taintEffects.filter((one) => one !== "None"),
  since("1.35", taintEffects),
);

/** Records an effect that the release doesn't know. */
function knownEffect(effect: string, report: FieldReport): void {
  const effects = knownEffects(report);
  if (!effects.includes(effect)) report.notSupported(effect, effects);
}

/** Requires a key in the form of a label, and a known effect. */
export function taint({ key, value = "", effect }: Taint, report: FieldReport): void {
  for (const message of qualifiedNameFaults(key)) report.at("key").invalid(key, message);
  for (const message of labelValueFaults(value)) report.at("value").invalid(value, message);
  if (effect === "") report.at("effect").required();
  else knownEffect(effect, report.at("effect"));
}

/** A toleration of taints. */
export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}

const operators = ["Equal", "Exists"];

/** Requires tolerations with known operators and effects. */
export function tolerations(list: readonly Toleration[] | undefined, report: FieldReport): void {
  limitedList(list, Infinity, report, toleration);
}

function toleration(
  { key = "", operator = "", value = "", effect = "" }: Toleration,
  report: FieldReport,
): void {
  if (key !== "") for (const message of qualifiedNameFaults(key)) report.at("key").invalid(key, message);
  if (operator === "Exists") {
    if (value !== "") report.at("value").invalid(value, "must be empty for operator `Exists`");
  } else if (operator === "Equal") {
    for (const message of labelValueFaults(value)) report.at("value").invalid(value, message);
  } else if (operator === "") report.at("operator").required();
  else report.at("operator").notSupported(operator, operators);
  if (effect !== "") knownEffect(effect, report.at("effect"));
}

const maxBindingConditions = 4;

/** The conditions of a device for the binding of a pod. */
export interface BindingConditions {
  readonly bindingConditions?: readonly string[] | undefined;
  readonly bindingFailureConditions?: readonly string[] | undefined;
}

/** Requires both lists of conditions or neither, without common conditions. */
export function bindingConditions(conditions: BindingConditions, report: FieldReport): void {
  const { bindingConditions: success = [], bindingFailureConditions: failure = [] } = conditions;
  const [successReport, failureReport] = [
    report.at("bindingConditions"),
    report.at("bindingFailureConditions"),
  ];
  conditionNames(success, successReport);
  conditionNames(failure, failureReport);
  for (const [index, name] of failure.slice(0, maxBindingConditions).entries()) {
    if (success.includes(name)) {
      failureReport
        .at(index)
        .invalid(name, "bindingFailureConditions must not overlap with bindingConditions");
    }
  }
  if (success.length === 0 && failure.length > 0) {
    successReport.invalid(success, "bindingConditions are required to use bindingFailureConditions");
  }
  if (failure.length === 0 && success.length > 0) {
    failureReport.invalid(failure, "bindingFailureConditions are required to use bindingConditions");
  }
}

function conditionNames(names: readonly string[], report: FieldReport): void {
  const seen = new Set<string>();
  limitedList(names, maxBindingConditions, report, (name, nameReport) => {
    for (const message of qualifiedNameFaults(name)) nameReport.invalid(name, message);
    if (seen.has(name)) nameReport.duplicate(name);
    seen.add(name);
  });
}

const skippable = ["*", "NodePrepareResources", "NodeUnprepareResources"];

/** Requires that unprepare is skipped whenever prepare is. */
export function skippedOperations(operations: readonly string[] | undefined, report: FieldReport): void {
  const all = new Set(operations);
  for (const [index, operation] of (operations ?? []).entries()) {
    if (report.full) return;
    if (!skippable.includes(operation)) report.at(index).notSupported(operation, skippable);
  }
  if (all.has("NodePrepareResources") && !all.has("NodeUnprepareResources") && !all.has("*")) {
    report.invalid(
      operations,
      "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped",
    );
  }
}
