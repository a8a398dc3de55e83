import { qualifiedName } from "../base/group-names.ts";
import { encodeJson } from "../base/json/encode.ts";
import type { JsonValue } from "../base/json/value.ts";
import { StatusError, type Cause } from "../base/status-error.ts";

/** What the reference writes in place of a missing field. */
const wholeObject = "<nil>";

/** How many faults of one object are reported at most. */
const maxFaults = 256;

/**
 * Units of work that the schemas of others may cost in checks of one object: some 100 ns each. An object of the largest size with a few
 * rules for each value needs less than half of them.
 */
const maxEffort = 10_000_000;

/** How many values that a schema allows are named in a message, in characters. */
const maxNamed = 4096;

/** How many characters of a value are shown, and how many are encoded for that in a unit of work. */
const maxShown = 256;
const encodedPerUnit = 16;

/** What all places of one object share. */
interface Shared {
  readonly causes: Cause[];
  /** How many faults are noted; one is enough where only matters whether there is any, and it isn't put in words. */
  readonly limit: number;
  /** Work that may still be done; shared by everything that is checked aside. */
  readonly effort: { left: number; readonly causes: Cause[] };
}

/** A place in an object: `at("rules", 0, "verbs")` is written `rules[0].verbs`; map keys are in brackets. */
export class FieldReport {
  private constructor(
    private readonly shared: Shared,
    private readonly above: FieldReport | undefined,
    private readonly step: string | number,
    private readonly isKey: boolean,
    private readonly isEntry = false,
  ) {}

  /** A report that collects the faults of one whole object. */
  static start(): FieldReport {
    const causes: Cause[] = [];
    return new FieldReport(
      { causes, limit: maxFaults, effort: { left: maxEffort, causes } },
      undefined,
      "",
      false,
    );
  }

  /** As {@link FieldReport.apart}, where only matters whether there is any fault: it ends with the first one. */
  aside(): FieldReport {
    return this.beside(0);
  }

  private beside(limit: number): FieldReport {
    const shared = { causes: [], limit, effort: this.shared.effort };
    return new FieldReport(shared, this.above, this.step, this.isKey, this.isEntry);
  }

  /**
   * Counts work that goes by somebody else's schema. Where there was too much of it, that is a fault of this place, and the report is
   * full.
   *
   * @param units of some 100 ns.
   */
  spend(units: number): void {
    const { effort } = this.shared;
    if (effort.left < 0) return;
    effort.left -= units;
    if (effort.left >= 0) return;
    const message =
      "Invalid value: validation failed due to running out of cost budget, no further validation rules will be run";
    effort.causes.push({ reason: "FieldValueInvalid", message, field: this.path });
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
    return this.shared.causes;
  }

  /** Whether no further faults are reported, so that checking can stop. */
  get full(): boolean {
    return this.shared.causes.length > this.shared.limit || this.shared.effort.left < 0;
  }

  /** A place below this one: a member by name, or an item by index. */
  at(...steps: readonly (string | number)[]): FieldReport {
    if (steps.length === 0) return this;
    let place = new FieldReport(this.shared, this, steps[0]!, false);
    for (let next = 1; next < steps.length; next++) {
      place = new FieldReport(this.shared, place, steps[next]!, false);
    }
    return place;
  }

  /** The place of faults that the reference gives no field: those of combined schemas, and of expressions left out. */
  whole(): FieldReport {
    return new FieldReport(this.shared, undefined, "", false).at(wholeObject);
  }

  /**
   * The same place in a report of its own, whose faults may be {@link FieldReport.take | taken} or left. The work counts as the object's.
   */
  apart(): FieldReport {
    return this.beside(this.shared.limit);
  }

  /** Takes the faults of another report, whose places are places of this one's object. */
  take({ shared }: FieldReport): void {
    for (const cause of shared.causes) if (!this.full) this.shared.causes.push(cause);
  }

  /** A place below this one: the value under a free key. */
  key(key: string): FieldReport {
    return new FieldReport(this.shared, this, key, true);
  }

  /**
   * As {@link FieldReport.at}, of a member whose name the schema of a custom kind doesn't say: faults of values name it as a member
   * and others as a key, as in the reference.
   */
  entry(name: string): FieldReport {
    return new FieldReport(this.shared, this, name, false, true);
  }

  /** The same place, with every {@link FieldReport.entry} in it named as a key. */
  withKeys(): FieldReport {
    const { above, step, isKey, isEntry } = this;
    return above === undefined
      ? this
      : new FieldReport(this.shared, above.withKeys(), step, isKey || isEntry);
  }

  required(message = ""): void {
    this.add("FieldValueRequired", message === "" ? "Required value" : `Required value: ${message}`);
  }

  /** As {@link FieldReport.required}, unless a rule has already said so in its own words. */
  requiredUnlessSaid(): void {
    const { path } = this;
    const said = this.shared.causes.some(
      ({ field, reason }) => field === path && reason === "FieldValueRequired",
    );
    if (!said) this.required();
  }

  invalid(value: unknown, message: string): void {
    this.add("FieldValueInvalid", `Invalid value: ${this.shown(value)}: ${message}`);
  }

  /** The value isn't of the type that a custom kind's schema demands. */
  typeInvalid(value: unknown, message: string): void {
    this.add("FieldValueTypeInvalid", `Invalid value: ${this.shown(value)}: ${message}`);
  }

  notSupported(value: unknown, allowed: readonly string[]): void {
    const values = this.shared.limit === 0 ? "" : named(allowed);
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
    this.add("FieldValueForbidden", `Forbidden: ${message}`);
  }

  tooLong(maxLength: number | bigint, unit = "bytes"): void {
    this.add("FieldValueTooLong", `Too long: must have at most ${maxLength} ${unit}`);
  }

  tooMany(count: number, max: number | bigint): void {
    this.add("FieldValueTooMany", `Too many: ${count}: must have at most ${max} items`);
  }

  private shown(value: unknown): string {
    if (this.full || this.shared.limit === 0) return "";
    const [text, length] = shown(value);
    this.spend(length / encodedPerUnit);
    return text;
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

/** The values that are allowed, as a message names them; of very many only the first. */
function named(allowed: readonly string[]): string {
  let text = "";
  for (const [index, one] of allowed.entries()) {
    if (text.length > maxNamed) return `${text} and ${allowed.length - index} more`;
    text += `${index === 0 ? "" : ", "}${JSON.stringify(one)}`;
  }
  return text;
}

/** A value as a message shows it: short, and never a secret's worth of text. Beside it, how many characters were encoded for it. */
function shown(value: unknown): readonly [text: string, length: number] {
  const known = typeof value === "string" ? value.slice(0, maxShown) : value;
  const text = known === undefined ? "null" : encodeJson(known as JsonValue);
  const isShort = text.length <= maxShown && known === value;
  return [isShort ? text : `${text.slice(0, maxShown - 3)}...`, text.length];
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
