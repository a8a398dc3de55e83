import { applies, until } from "../../base/release-rows.ts";
import { dns1035LabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { conditionList } from "../checks/conditions.ts";
import { unchanged } from "../checks/values.ts";
import type { Condition } from "../meta/condition.ts";

/** The spec of a migration; only v1alpha1 has version and token. */
export interface MigrationSpec {
  readonly resource?: { readonly group: string; readonly resource: string; readonly version?: string };
  readonly continueToken?: string;
}

/** The status of a migration in its stored form. */
export interface MigrationStatus {
  readonly conditions?: readonly Condition[];
  readonly resourceVersion?: string;
}

/** Whether the release names the version of the resource (v1alpha1). */
const hasVersion = applies(until("1.35"));
/** Whether a migration that has ended may not have the condition Running. */
const checksRunning = applies(until("1.36"));

/** Checks the resource of a migration. */
export function checkSpec(spec: MigrationSpec, report: FieldReport, context: KindContext): void {
  const at = report.at("resource");
  const { group = "", resource = "", version = "" } = spec.resource ?? {};
  if (hasVersion(context)) {
    if (resource === "") at.at("resource").required("resource is required");
    if (version === "") at.at("version").required("version is required");
    return;
  }
  const faults = resource === "" ? [] : dns1035LabelFaults(resource);
  if (resource === "") at.at("resource").required("resource is required to be set");
  if (faults.length > 0) at.at("resource").invalid(resource, faults.join(","));
  const groupFaults = group === "" ? [] : dnsSubdomainFaults(group);
  if (groupFaults.length > 0) at.at("group").invalid(group, groupFaults.join(","));
}

/** Checks that the resource of a migration doesn't change. */
export function checkSpecChange(
  spec: MigrationSpec,
  live: MigrationSpec,
  report: FieldReport,
  context: KindContext,
): void {
  if (!hasVersion(context)) return unchanged(spec, live, report.at("spec"));
  for (const name of ["group", "version", "resource"] as const) {
    unchanged(spec.resource?.[name] ?? "", live.resource?.[name] ?? "", report.at(name));
  }
}

const positive = /^[1-9][0-9]*$/;

/** Checks a new status: the resource version is written once, and a migration ends once. */
export function checkMigrationStatus(
  status: MigrationStatus,
  live: MigrationStatus,
  report: FieldReport,
  context: KindContext,
): void {
  const { resourceVersion = "", conditions = [] } = status;
  const at = report.at("resourceVersion");
  if (resourceVersion !== "") checkVersion(resourceVersion, at, context);
  const conditionsAt = report.at("conditions");
  conditionList(conditions, conditionsAt, context);
  const before = live.resourceVersion ?? "";
  if (before !== "") unchanged(resourceVersion, before, at);
  const ended = { Succeeded: isTrue(conditions, "Succeeded"), Failed: isTrue(conditions, "Failed") };
  if (ended.Succeeded && ended.Failed) {
    conditionsAt.invalid(conditions, "Both success and failed conditions cannot be true at the same time");
  }
  if (checksRunning(context)) checkRunning(conditions, ended, conditionsAt);
  const names = { Succeeded: "Success", Failed: "Failed" };
  for (const type of ["Succeeded", "Failed"] as const) {
    if (ended[type] || !isTrue(live.conditions ?? [], type)) continue;
    conditionsAt.invalid(conditions, `${names[type]} condition cannot be set to false once it is true`);
  }
}

/** Checks a resource version; until release 1.34 it may be 0, and is a number of 64 bits. */
function checkVersion(text: string, report: FieldReport, context: KindContext): void {
  if (!hasVersion(context)) {
    if (!positive.test(text)) report.invalid(text, `resource version is not well formed: ${text}`);
    return;
  }
  const isNumber = /^[+-]?[0-9]{1,18}$/.test(text);
  if (!isNumber) report.invalid(text, `failed to parse resource version ${JSON.stringify(text)}`);
  else if (Number(text) < 0) report.invalid(Number(text), "must be greater than or equal to 0");
}

function checkRunning(
  conditions: readonly Condition[],
  ended: { readonly Succeeded: boolean; readonly Failed: boolean },
  report: FieldReport,
): void {
  if (!isTrue(conditions, "Running")) return;
  const names = { Succeeded: "success", Failed: "failed" };
  for (const type of ["Succeeded", "Failed"] as const) {
    if (!ended[type]) continue;
    report.invalid(conditions, `Running condition cannot be true when ${names[type]} condition is true`);
  }
}

/** Whether a condition is true. */
function isTrue(conditions: readonly Condition[], type: string): boolean {
  return conditions.find((one) => one.type === type)?.status === "True";
}
