import { dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** A domain of at least three parts: the name of a webhook. */
export function webhookName(name: string, place: FieldReport): void {
  const faults = dnsSubdomainFaults(name);
  for (const message of faults) place.invalid(name, message);
  if (faults.length === 0 && name.split(".").length < 3) {
    place.invalid(name, "should be a domain with at least three segments separated by dots");
  }
}

const allowedSideEffects = ["None", "NoneOnDryRun"];

/** Webhooks are asked in dry runs too, so those with effects of their own aren't taken. */
export function noSideEffects(sideEffects: string, place: FieldReport): void {
  if (!allowedSideEffects.includes(sideEffects)) place.notSupported(sideEffects, allowedSideEffects);
}

/** Seconds that a write may wait for a webhook. */
export function webhookTimeout(seconds: number, place: FieldReport): void {
  if (seconds < 1 || seconds > 30) {
    place.invalid(seconds, "the timeout value must be between 1 and 30 seconds");
  }
}
