import type { FieldReport } from "../../schema/faults.ts";

/** Requires zero or more. */
export function nonNegative(value: number | bigint, report: FieldReport): void {
  if (value < 0) report.invalid(value, "must be greater than or equal to 0");
}

/** Requires one or more. */
export function positive(value: number | bigint, report: FieldReport): void {
  if (value <= 0) report.invalid(value, "must be greater than 0");
}

/** Returns a check for an integer from `min` to `max`, both included. */
export function between(min: number, max: number): (value: number | bigint, report: FieldReport) => void {
  return (value, report) => {
    if (value < min || value > max) report.invalid(value, `must be between ${min} and ${max}, inclusive`);
  };
}

/** The number of a port. */
export const portNumber = between(1, 65535);

/** Returns the number of a percentage such as `25%`; undefined for other texts. */
function percentOf(text: string): number | undefined {
  const match = /^(\d+)%$/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/** Requires a count, or a percentage of up to 100 %. */
export function countOrPercent(value: number | string, report: FieldReport): void {
  if (typeof value === "number") return nonNegative(value, report);
  const percent = percentOf(value);
  if (percent === undefined) report.invalid(value, "must be an integer or a percentage (such as '5%')");
  else if (percent > 100) report.invalid(value, "must not be greater than 100%");
}

/** Requires a count or a percentage. */
export function countOrAnyPercent(value: number | string, report: FieldReport): void {
  if (typeof value === "number") nonNegative(value, report);
  else if (percentOf(value) === undefined) {
    report.invalid(value, "must be an integer or a percentage (such as '5%')");
  }
}

/** Returns the number of a count or percentage, for comparison with zero; zero for other texts. */
export function amountOf(value: number | string | undefined): number {
  return typeof value === "number" ? value : value === undefined ? 0 : (percentOf(value) ?? 0);
}

/** Requires permission bits of a file. */
export function fileMode(mode: number, report: FieldReport): void {
  if (mode < 0 || mode > 0o777) report.invalid(mode, "must be between 0 and 0777 (octal), both inclusive");
}

/** Number of a user or group. */
export const userOrGroupId = between(0, 2 ** 31 - 1);
