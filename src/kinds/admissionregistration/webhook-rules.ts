import { dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Requires a domain with at least three labels. */
export function webhookName(name: string, report: FieldReport): void {
  const faults = dnsSubdomainFaults(name);
  for (const message of faults) report.invalid(name, message);
  if (faults.length === 0 && name.split(".").length < 3) {
    report.invalid(name, "should be a domain with at least three segments separated by dots");
  }
}

const allowedSideEffects = ["None", "NoneOnDryRun"];

/** Requires a webhook without side effects, because webhooks are also called for dry runs. */
export function noSideEffects(sideEffects: string, report: FieldReport): void {
  if (!allowedSideEffects.includes(sideEffects)) report.notSupported(sideEffects, allowedSideEffects);
}

/** Checks the timeout of a webhook call, in seconds. */
export function webhookTimeout(seconds: number, report: FieldReport): void {
  if (seconds < 1 || seconds > 30) {
    report.invalid(seconds, "the timeout value must be between 1 and 30 seconds");
  }
}
