import { qualifiedName } from "../base/group-names.ts";
import { encodeJson } from "../base/json/encode.ts";
import type { JsonValue } from "../base/json/value.ts";
import { StatusError, type Cause } from "../base/status-error.ts";

/** What the reference writes in place of a missing field. */
const wholeObject = "<nil>";

/** How many faults of one object are reported at most. */
const maxFaults = 256;

/** A place in an object: `at("rules", 0, "verbs")` is written `rules[0].verbs`; map keys are in brackets. */
export class FieldReport {
  private constructor(
    private readonly causes: Cause[],
    private readonly above: FieldReport | undefined,
    private readonly step: string | number,
    private readonly isKey: boolean,
  ) {}

  /** A report that collects the faults of one whole object. */
  static start(): FieldReport {
    return new FieldReport([], undefined, "", false);
  }

  /** The place in words; most places have no faults, so it is put together only when it is asked for. */
  get path(): string {
    const { above, step } = this;
    if (above === undefined) return "";
    const path = above.path;
    if (this.isKey || typeof step === "number") return `${path}[${step}]`;
    return path === "" ? step : `${path}.${step}`;
  }

  /** The faults found so far, here and at every place below the same start. */
  get faults(): readonly Cause[] {
    return this.causes;
  }

  /** Whether no further faults are reported, so that checking can stop. */
  get full(): boolean {
    return this.causes.length > maxFaults;
  }

  /** A place below this one: a member by name, or an item by index. */
  at(...steps: readonly (string | number)[]): FieldReport {
    if (steps.length === 0) return this;
    let place = new FieldReport(this.causes, this, steps[0]!, false);
    for (let next = 1; next < steps.length; next++) {
      place = new FieldReport(this.causes, place, steps[next]!, false);
    }
    return place;
  }

  /** The place of faults that the reference gives no field: those of combined schemas, and of expressions left out. */
  whole(): FieldReport {
    return new FieldReport(this.causes, undefined, "", false).at(wholeObject);
  }

  /** The same place in a report of its own, whose faults may be {@link FieldReport.take | taken} or left. */
  apart(): FieldReport {
    return new FieldReport([], this.above, this.step, this.isKey);
  }

  /** Takes the faults of another report, whose places are places of this one's object. */
  take({ causes }: FieldReport): void {
    for (const cause of causes) if (!this.full) this.causes.push(cause);
  }

  /** A place below this one: the value under a free key. */
  key(key: string): FieldReport {
    return new FieldReport(this.causes, this, key, true);
  }

  required(message = ""): void {
    this.add("FieldValueRequired", message === "" ? "Required value" : `Required value: ${message}`);
  }

  /** As {@link FieldReport.required}, unless a rule has already said so in its own words. */
  requiredUnlessSaid(): void {
    const { path } = this;
    const said = this.causes.some(({ field, reason }) => field === path && reason === "FieldValueRequired");
    if (!said) this.required();
  }

  invalid(value: unknown, message: string): void {
    this.add("FieldValueInvalid", `Invalid value: ${shown(value)}: ${message}`);
  }

  /** The value isn't of the type that a custom kind's schema demands. */
  typeInvalid(value: unknown, message: string): void {
    this.add("FieldValueTypeInvalid", `Invalid value: ${shown(value)}: ${message}`);
  }

  notSupported(value: unknown, allowed: readonly string[]): void {
    const values = allowed.map((one) => JSON.stringify(one)).join(", ");
    this.add("FieldValueNotSupported", `Unsupported value: ${shown(value)}: supported values: ${values}`);
  }

  duplicate(value: unknown): void {
    this.add("FieldValueDuplicate", `Duplicate value: ${shown(value)}`);
  }

  notFound(value: unknown): void {
    this.add("FieldValueNotFound", `Not found: ${shown(value)}`);
  }

  forbidden(message: string): void {
    this.add("FieldValueForbidden", `Forbidden: ${message}`);
  }

  tooLong(maxLength: number, unit = "bytes"): void {
    this.add("FieldValueTooLong", `Too long: must have at most ${maxLength} ${unit}`);
  }

  tooMany(count: number, max: number): void {
    this.add("FieldValueTooMany", `Too many: ${count}: must have at most ${max} items`);
  }

  private add(reason: Cause["reason"], message: string): void {
    if (this.causes.length > maxFaults) return;
    const full = this.causes.length === maxFaults;
    this.causes.push(
      full
        ? { reason: "", message: "there are more faults than these", field: "" }
        : { reason, message, field: this.path },
    );
  }
}

/** A value as a message shows it: short, and never a secret's worth of text. */
function shown(value: unknown): string {
  const text = value === undefined ? "null" : encodeJson(value as JsonValue);
  return text.length <= 256 ? text : `${text.slice(0, 253)}...`;
}

/** What an object that broke rules is called in the message and the details of the Status. */
export interface FaultSubject {
  readonly kind: string;
  readonly group: string;
  readonly name: string;
}

/** The Status for the faults of one object: 422 with every fault as a cause. */
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
