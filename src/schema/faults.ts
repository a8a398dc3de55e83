import { qualifiedName } from "../base/object-errors.ts";
import { encodeJson } from "../base/json/encode.ts";
import type { JsonValue } from "../base/json/value.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { byRelease, since } from "../base/release-rows.ts";
import type { Release } from "../base/releases.ts";
import { StatusError, type Cause } from "../base/status-error.ts";
import { createYielder, type YieldIfDue } from "../base/turns/yielding.ts";

const lengthLimitText = byRelease<(maxLength: number | bigint, unit: string) => string>(
  (maxLength, unit) => `must have at most ${maxLength} ${unit}`,
  since("1.32", (maxLength) => `may not be more than ${maxLength} bytes`),
  since(
    "1.34",
    (maxLength) => `may not be more than ${maxLength} ${Number(maxLength) === 1 ? "byte" : "bytes"}`,
  ),
);

/** The field name in Kubernetes for a fault without a field. */
const noField = "<nil>";

/** Maximum number of reported faults per object. */
const maxFaults = 256;

/**
 * Limit of the work for validating one object with the schema of a CustomResourceDefinition, in units of about 100 ns. An object
 * of maximum size with a few rules for each value needs less than half of it.
 */
const maxWorkUnits = 10_000_000;

/** Units of work between two looks at the clock, see {@link FieldReport.pauseIfDue}. */
const unitsPerLook = 2000;

/** Maximum length of the list of allowed values in a message, in characters. */
const maxAllowedValuesLength = 4096;

/** Maximum length of a value in a message, and the number of characters that are encoded per unit of work. */
const maxValueLength = 256;
const encodedCharactersPerUnit = 16;

/** The work on one object; separate reports share it. */
interface Work {
  /** The units that are left; negative if the limit is exceeded. */
  remaining: number;
  /** When `remaining` falls to this, the clock is looked at. */
  nextLook: number;
  /** Whether the work takes turns. */
  pauses: boolean;
  yieldIfDue?: YieldIfDue;
  /** The faults of the object, for the fault that the limit is exceeded. */
  readonly causes: Cause[];
  /** See {@link FieldReport.defer}. */
  readonly deferred: DeferredCheck[];
}

interface DeferredCheck {
  readonly report: FieldReport;
  /** Number of faults that the object had before. */
  readonly position: number;
  readonly check: (report: FieldReport) => MaybePromise<void>;
}

/** State that all reports of one object share. */
interface SharedState {
  readonly causes: Cause[];
  /** Maximum number of recorded faults; 0 if only the existence of a fault matters, then without message. */
  readonly limit: number;
  readonly work: Work;
  /** The list or object that was formatted last: many faults may show the same one. */
  readonly last: { value?: unknown; formatted?: FormattedValue };
  readonly release: Release | undefined;
  /** See {@link FieldReport.bodyAt}. */
  readonly body?: string;
}

/** The text of a value in messages, and the number of characters that were encoded for it. */
type FormattedValue = readonly [text: string, length: number];

/** Records faults of an object at a path: `at("rules", 0, "verbs")` is `rules[0].verbs`; map keys are in brackets. */
export class FieldReport {
  private constructor(
    private readonly shared: SharedState,
    private readonly parent: FieldReport | undefined,
    private readonly step: string | number,
    private readonly isKey: boolean,
    private readonly isEntry = false,
  ) {}

  /** Creates the report for the root of an object. @param release see {@link FieldReport.release}. */
  static start(release?: Release): FieldReport {
    const causes: Cause[] = [];
    const work: Work = {
      remaining: maxWorkUnits,
      nextLook: maxWorkUnits - unitsPerLook,
      pauses: true,
      causes,
      deferred: [],
    };
    return new FieldReport({ causes, limit: maxFaults, work, last: {}, release }, undefined, "", false);
  }

  /** The release whose rules and messages apply; undefined is the reference release. */
  get release(): Release | undefined {
    return this.shared.release;
  }

  /** As {@link FieldReport.separate}, but ends with the first fault: to find out whether there is any. */
  probe(): FieldReport {
    return this.withLimit(0);
  }

  private withLimit(limit: number): FieldReport {
    const shared = { ...this.shared, causes: [], limit };
    return new FieldReport(shared, this.parent, this.step, this.isKey, this.isEntry);
  }

  /**
   * Counts work for the schema of a CustomResourceDefinition. If the limit is exceeded, adds a fault at this path; the report is then
   * full.
   *
   * @param units in about 100 ns.
   */
  spend(units: number): void {
    const { work } = this.shared;
    if (work.remaining < 0) return;
    work.remaining -= units;
    if (work.remaining >= 0) return;
    const message =
      "Invalid value: validation failed due to running out of cost budget, no further validation rules will be run";
    work.causes.push({ reason: "FieldValueInvalid", message, field: this.path });
  }

  /** @internal The units that {@link spend} may still count; negative if the limit is exceeded. */
  get remainingUnits(): number {
    return this.shared.work.remaining;
  }

  /**
   * Yields to the event loop if the work on the object, as counted by {@link FieldReport.spend}, has run for long. Await it between two
   * parts of the work.
   */
  pauseIfDue(): MaybePromise<void> {
    const { work } = this.shared;
    if (!work.pauses || work.remaining > work.nextLook) return undefined;
    work.nextLook = work.remaining - unitsPerLook;
    return (work.yieldIfDue ??= createYielder())();
  }

  /** Makes the next {@link FieldReport.pauseIfDue} look at the clock: after work whose units aren't counted. */
  lookAtClock(): void {
    this.shared.work.nextLook = this.shared.work.remaining;
  }

  /**
   * Leaves a check that may take many turns of the event loop to {@link FieldReport.finish}. Its faults come where they would be if it
   * ran now.
   *
   * @param check gets a report for the same path.
   */
  defer(check: (report: FieldReport) => MaybePromise<void>): void {
    const { work, causes } = this.shared;
    work.deferred.push({ report: this, position: causes.length, check });
  }

  /** Runs the deferred checks in turns. The faults of the object are complete only then. */
  finish(): MaybePromise<void> {
    const { deferred } = this.shared.work;
    return deferred.length === 0 ? undefined : this.runDeferred(deferred.splice(0));
  }

  /** As {@link FieldReport.finish}, without turns: for programs that have no other work meanwhile. */
  finishAtOnce(): void {
    const { work } = this.shared;
    work.pauses = false;
    let added = 0;
    for (const { report, position, check } of work.deferred.splice(0)) {
      const separate = report.separate();
      if (check(separate) !== undefined) throw new Error("a check without turns waited for a promise");
      added += this.insert(separate, position + added);
    }
  }

  private async runDeferred(checks: readonly DeferredCheck[]): Promise<void> {
    let added = 0;
    for (const { report, position, check } of checks) {
      const separate = report.separate();
      const pending = check(separate);
      if (pending !== undefined) await pending;
      added += this.insert(separate, position + added);
    }
  }

  /** Adds the faults of a separate report at a position of the list; returns their number. */
  private insert(separate: FieldReport, position: number): number {
    const { causes, limit } = this.shared;
    const faults = separate.shared.causes.slice(0, Math.max(0, limit + 1 - causes.length));
    causes.splice(position, 0, ...faults);
    return faults.length;
  }

  /** The path as string. It is computed on demand, because most reports have no faults. */
  get path(): string {
    const { parent, step } = this;
    if (parent === undefined) return "";
    const path = parent.path;
    if (this.isKey || typeof step === "number") return `${path}[${step}]`;
    return path === "" ? step : `${path}.${step}`;
  }

  /** @internal The path in messages that name it: relative to the validated part of the object, see {@link FieldReport.bodyAt}. */
  get bodyPath(): string {
    const { path } = this;
    const { body } = this.shared;
    return body === undefined ? path : path.slice(path[body.length] === "." ? body.length + 1 : body.length);
  }

  /** @internal Returns the report of a member that is validated alone: paths in messages, and faults without field, are relative to it. */
  bodyAt(name: string): FieldReport {
    return new FieldReport({ ...this.shared, body: name }, this, name, false);
  }

  /** All faults of the object so far. */
  get faults(): readonly Cause[] {
    if (this.shared.work.deferred.length > 0) throw new Error("deferred checks have not run: call finish()");
    return this.shared.causes;
  }

  /** Whether no further faults are recorded, so that validation can stop. */
  get full(): boolean {
    return this.shared.causes.length > this.shared.limit || this.shared.work.remaining < 0;
  }

  /** Returns the report of a field by name or an item by index. */
  at(...steps: readonly (string | number)[]): FieldReport {
    if (steps.length === 0) return this;
    let report = new FieldReport(this.shared, this, steps[0]!, false);
    for (let next = 1; next < steps.length; next++) {
      report = new FieldReport(this.shared, report, steps[next]!, false);
    }
    return report;
  }

  /** Returns the report for faults without field (`<nil>` in Kubernetes): of combined schemas and of skipped expressions. */
  withoutField(): FieldReport {
    const { body = noField } = this.shared;
    return new FieldReport(this.shared, undefined, "", false).at(body);
  }

  /**
   * Returns a separate report at the same path. Its faults can be added by {@link FieldReport.addAll}. Its work reduces the
   * budget of the object.
   */
  separate(): FieldReport {
    return this.withLimit(this.shared.limit);
  }

  /** Adds the faults of a separate report of the same object. */
  addAll({ shared }: FieldReport): void {
    for (const cause of shared.causes) if (!this.full) this.shared.causes.push(cause);
  }

  /** Returns the report of a map value. */
  key(key: string): FieldReport {
    return new FieldReport(this.shared, this, key, true);
  }

  /**
   * Returns the report of a member by `additionalProperties` of a custom schema. As in Kubernetes, the path has the form of a field
   * (`a.b`) in faults of values, and of a key (`a[b]`) in others; see {@link FieldReport.withKeys}.
   */
  entry(name: string): FieldReport {
    return new FieldReport(this.shared, this, name, false, true);
  }

  /** Returns the report at the same path, with every {@link FieldReport.entry} in the form of a key. */
  withKeys(): FieldReport {
    const { parent, step, isKey, isEntry } = this;
    return parent === undefined
      ? this
      : new FieldReport(this.shared, parent.withKeys(), step, isKey || isEntry);
  }

  required(message = ""): void {
    this.add("FieldValueRequired", message === "" ? "Required value" : `Required value: ${message}`);
  }

  /** As {@link FieldReport.required}, unless the path already has such a fault. */
  requiredUnlessReported(): void {
    const { path } = this;
    const reported = this.shared.causes.some(
      ({ field, reason }) => field === path && reason === "FieldValueRequired",
    );
    if (!reported) this.required();
  }

  invalid(value: unknown, message: string): void {
    this.add("FieldValueInvalid", `Invalid value: ${this.shown(value)}: ${message}`);
  }

  /** The value doesn't have the type of the custom schema. */
  typeInvalid(value: unknown, message: string): void {
    this.add("FieldValueTypeInvalid", `Invalid value: ${this.shown(value)}: ${message}`);
  }

  notSupported(value: unknown, allowed: readonly string[]): void {
    const values = this.shared.limit === 0 ? "" : formatAllowedValues(allowed);
    this.add(
      "FieldValueNotSupported",
      `Unsupported value: ${this.shown(value)}: supported values: ${values}`,
    );
  }

  duplicate(value: unknown): void {
    this.add("FieldValueDuplicate", `Duplicate value: ${this.shown(value)}`);
  }

  notFound(value: unknown): void {
    this.add("FieldValueNotFound", `Not found: ${this.shown(value)}`);
  }

  forbidden(message: string): void {
    this.add("FieldValueForbidden", message === "" ? "Forbidden" : `Forbidden: ${message}`);
  }

  tooLong(maxLength: number | bigint, unit = "bytes"): void {
    this.add("FieldValueTooLong", `Too long: ${lengthLimitText(this)(maxLength, unit)}`);
  }

  tooMany(count: number, max: number | bigint): void {
    this.add("FieldValueTooMany", `Too many: ${count}: must have at most ${max} items`);
  }

  private shown(value: unknown): string {
    if (this.full || this.shared.limit === 0) return "";
    const [text, length] = this.formatted(value);
    this.spend(length / encodedCharactersPerUnit);
    return text;
  }

  private formatted(value: unknown): FormattedValue {
    if (typeof value !== "object" || value === null) return shown(value);
    const { last } = this.shared;
    if (last.value !== value) Object.assign(last, { value, formatted: shown(value) });
    return last.formatted!;
  }

  private add(reason: Cause["reason"], message: string): void {
    if (this.full) return;
    const { causes } = this.shared;
    const full = causes.length === maxFaults;
    causes.push(
      full
        ? { reason: "", message: "there are more faults than these", field: "" }
        : { reason, message, field: this.path },
    );
  }
}

/** Formats the allowed values for a message; a long list is truncated. */
function formatAllowedValues(allowed: readonly string[]): string {
  let text = "";
  for (const [index, one] of allowed.entries()) {
    if (text.length > maxAllowedValuesLength) return `${text} and ${allowed.length - index} more`;
    text += `${index === 0 ? "" : ", "}${JSON.stringify(one)}`;
  }
  return text;
}

/** Formats a value for a message, truncated. Also returns the number of encoded characters. */
function shown(value: unknown): FormattedValue {
  const prefix = typeof value === "string" ? value.slice(0, maxValueLength) : value;
  const text = prefix === undefined ? "null" : encodeJson(prefix as JsonValue);
  const isShort = text.length <= maxValueLength && prefix === value;
  return [isShort ? text : `${text.slice(0, maxValueLength - 3)}...`, text.length];
}

/** The object in the message and the details of a Status with faults. */
export interface FaultSubject {
  readonly kind: string;
  readonly group: string;
  readonly name: string;
}

/** Returns the error for an invalid object: 422 with every fault as a cause. */
export function invalidError(subject: FaultSubject, causes: readonly Cause[]): StatusError {
  const parts = causes.map((cause) =>
    cause.field === "" ? cause.message : `${cause.field}: ${cause.message}`,
  );
  const text = parts.length === 1 ? parts[0] : `[${parts.join(", ")}]`;
  const kind = qualifiedName(subject.kind, subject.group);
  return new StatusError("Invalid", `${kind} ${JSON.stringify(subject.name)} is invalid: ${text}`, {
    name: subject.name,
    group: subject.group,
    kind: subject.kind,
    causes,
  });
}
