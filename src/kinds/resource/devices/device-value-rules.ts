import { compareQuantities, parseQuantity, type Quantity, addQuantities } from "../../../base/quantity.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { attributeName } from "./device-names.ts";
import { limitedList } from "./list-rules.ts";

interface AmountRange {
  readonly min?: string | null | undefined;
  readonly max?: string | undefined;
  readonly step?: string | undefined;
}

/** How claims may request a part of a capacity. */
interface RequestPolicy {
  readonly default?: string | null | undefined;
  readonly validValues?: readonly string[] | undefined;
  readonly validRange?: AmountRange | undefined;
}

const maxValidValues = 10;
const wholeNanos = 1_000_000_000n;

/** Requires a default that the allowed amounts include, and amounts that the capacity has. */
function checkRequestPolicy(capacity: string, policy: RequestPolicy, report: FieldReport): void {
  const { default: amount, validValues = [], validRange } = policy;
  if (validValues.length > 0 && validRange !== undefined) {
    return report.forbidden(
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    );
  }
  const kind = validValues.length > 0 ? "validValues" : validRange === undefined ? undefined : "validRange";
  if (kind === undefined) return;
  if (amount === undefined || amount === null)
    return report.at("default").required(`required when ${kind} is defined`);
  if (validRange === undefined) checkValues(validValues, amount, capacity, report.at("validValues"));
  else checkRange(validRange, amount, capacity, report.at("validRange"));
}

const compare = (a: string, b: string) => compareQuantities(parseQuantity(a), parseQuantity(b));

function checkValues(values: readonly string[], amount: string, capacity: string, report: FieldReport): void {
  const seen = new Set<bigint>();
  limitedList(values, maxValidValues, report, (value, at) => {
    if (compare(value, capacity) > 0) {
      at.invalid(value, `option is larger than capacity value: ${capacity}`);
    }
    const { nanos } = parseQuantity(value);
    if (seen.has(nanos)) at.duplicate(value);
    seen.add(nanos);
  });
  for (const [index, value] of values.slice(1, maxValidValues).entries()) {
    if (compare(values[index]!, value) > 0) {
      report.at(index + 1).invalid(value, "values must be sorted in ascending order");
    }
  }
  if (!seen.has(parseQuantity(amount).nanos)) {
    report.invalid(amount, "default value is not valid according to the requestPolicy");
  }
}

function checkRange(
  { min, max, step }: AmountRange,
  amount: string,
  capacity: string,
  report: FieldReport,
): void {
  if (min === undefined || min === null)
    return report.at("min").required("required when validRange is defined");
  if (compare(min, capacity) > 0)
    report.at("min").invalid(min, `min is larger than capacity value: ${capacity}`);
  if (compare(amount, min) < 0) report.at("default").invalid(amount, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (compare(min, max) > 0) report.at("max").invalid(min, `min is larger than max: ${max}`);
    if (compare(max, capacity) > 0) {
      report.at("max").invalid(max, `max is larger than capacity value: ${capacity}`);
    }
    if (compare(amount, max) > 0) report.at("default").invalid(amount, `default is more than max: ${max}`);
  }
  if (step !== undefined) checkStep(step, { min, max, amount, capacity }, report.at("step"));
}

interface Amounts {
  readonly min: string;
  readonly max: string | undefined;
  readonly amount: string;
  readonly capacity: string;
}

function checkStep(step: string, { min, max, amount, capacity }: Amounts, report: FieldReport): void {
  const [stepQuantity, minQuantity] = [parseQuantity(step), parseQuantity(min)];
  if (stepQuantity.nanos <= 0n) return report.invalid(step, "must be greater than zero");
  const first = addQuantities(minQuantity, stepQuantity);
  if (compareQuantities(first, parseQuantity(capacity)) > 0) {
    report.invalid(step, `one step is larger than capacity value: ${capacity}`);
  }
  for (const value of max === undefined ? [amount] : [amount, max]) {
    const distance = wholeOf(parseQuantity(value)) - wholeOf(minQuantity);
    if (distance % wholeOf(stepQuantity) !== 0n) {
      report.invalid(value, `value is not a multiple of a given step (${step}) from (${min})`);
    }
  }
}

/** Rounds up to a whole number. */
function wholeOf({ nanos }: Quantity): bigint {
  return nanos > 0n ? (nanos + wholeNanos - 1n) / wholeNanos : nanos / wholeNanos;
}

/** The value of an attribute. */
export interface Attribute {
  readonly int?: number | bigint | undefined;
  readonly bool?: boolean | undefined;
  readonly string?: string | undefined;
  readonly version?: string | undefined;
  readonly ints?: readonly unknown[] | undefined;
  readonly bools?: readonly unknown[] | undefined;
  readonly strings?: readonly string[] | undefined;
  readonly versions?: readonly string[] | undefined;
}

/** A capacity of a device. */
export interface Capacity {
  readonly value: string;
  readonly requestPolicy?: RequestPolicy | undefined;
}

const maxEntries = 32;
const maxValues = 48;
const maxValueBytes = 64;
const maxKeyLength = 63 + 1 + 32;

/** Checks the attributes of a device: their names, values and number. */
export function checkAttributes(
  {
    attributes = {},
    capacity = {},
  }: {
    readonly attributes?: Readonly<Record<string, Attribute>> | undefined;
    readonly capacity?: Readonly<Record<string, Capacity>> | undefined;
  },
  report: FieldReport,
): void {
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > maxEntries) {
    report.invalid(count, `the total number of attributes and capacities must not exceed ${maxEntries}`);
  }
  let values = 0;
  for (const { ints = [], bools = [], strings = [], versions = [] } of Object.values(attributes)) {
    values += Math.max(1, ints.length + bools.length + strings.length + versions.length);
  }
  if (values > maxValues) {
    report.invalid(values, `the total number of attribute values must not exceed ${maxValues}`);
  }
  const at = report.at("attributes");
  for (const [name, value] of Object.entries(attributes)) {
    if (report.full) return;
    attributeName(name, at);
    checkAttribute(value, at.key(shortened(name)));
  }
}

/** Returns a key without its middle if it is longer than a valid one. */
function shortened(key: string): string {
  if (key.length <= maxKeyLength) return key;
  const length = maxKeyLength - 3;
  return `${key.slice(0, Math.ceil(length / 2))}...${key.slice(-Math.floor(length / 2))}`;
}

const valueNames = ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"] as const;

function checkAttribute(attribute: Attribute, report: FieldReport): void {
  if (attribute.string !== undefined) shortText(attribute.string, report.at("string"));
  if (attribute.version !== undefined) version(attribute.version, report.at("version"));
  const count = valueNames.filter((name) => attribute[name] !== undefined).length;
  if (count !== 1) report.invalid(count === 0 ? "" : attribute, "exactly one value must be specified");
  for (const [index, text] of (attribute.strings ?? []).entries()) {
    if (report.full) return;
    shortText(text, report.at("strings", index));
  }
  for (const [index, text] of (attribute.versions ?? []).entries()) {
    if (report.full) return;
    version(text, report.at("versions", index));
  }
}

function shortText(text: string, report: FieldReport): void {
  if (Buffer.byteLength(text) > maxValueBytes) report.tooLong(maxValueBytes);
}

const numberForm = /^(0|[1-9]\d*)$/;
const identifiersForm = /^[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$/;

function version(text: string, report: FieldReport): void {
  shortText(text, report);
  if (isVersion(text)) return;
  report.invalid(text, "must be a string compatible with semver.org spec 2.0.0");
}

/** Whether a text is a semantic version. */
function isVersion(text: string): boolean {
  const [rest = "", build, ...more] = text.split("+", 3);
  if (more.length > 0 || (build !== undefined && !identifiersForm.test(build))) return false;
  const dash = rest.indexOf("-");
  const numbers = (dash === -1 ? rest : rest.slice(0, dash)).split(".", 4);
  if (numbers.length !== 3 || !numbers.every((number) => numberForm.test(number))) return false;
  if (dash === -1) return true;
  const preRelease = rest.slice(dash + 1);
  return identifiersForm.test(preRelease) && preRelease.split(".").every((part) => !/^0\d+$/.test(part));
}

/** Checks the capacities of a device; only one with several allocations may have a policy for requests. */
export function checkCapacities(
  capacities: Readonly<Record<string, Capacity>>,
  isShared: boolean,
  report: FieldReport,
): void {
  for (const [name, { value, requestPolicy }] of Object.entries(capacities)) {
    if (report.full) return;
    attributeName(name, report);
    if (requestPolicy === undefined) continue;
    const at = report.key(shortened(name)).at("requestPolicy");
    if (isShared) checkRequestPolicy(value, requestPolicy, at);
    else at.forbidden("allowMultipleAllocations must be true");
  }
}

/** What a device uses of a resource of its node. */
export interface NodeResource {
  readonly mapping?:
    | {
        readonly capacityKey?: string | undefined;
        readonly capacityMultiplier?: string | undefined;
        readonly deviceMultiplier?: string | undefined;
      }
    | undefined;
  readonly overhead?:
    { readonly perPod?: string | undefined; readonly perContainer?: string | undefined } | undefined;
}

/** Checks the uses of resources of the node. */
export function checkNodeResources(
  resources: Readonly<Record<string, NodeResource>>,
  capacities: Readonly<Record<string, Capacity>>,
  report: FieldReport,
): void {
  for (const [name, { mapping, overhead }] of Object.entries(resources)) {
    if (report.full) return;
    const at = report.key(name);
    if (!isNodeResource(name)) at.invalid(name, "must be a node allocatable resource name");
    if (mapping === undefined && overhead === undefined) {
      at.required("at least one of mapping or overhead must be set");
    }
    if (mapping !== undefined) checkMapping(mapping, capacities, at.at("mapping"));
    if (overhead !== undefined) checkOverhead(overhead, at.at("overhead"));
  }
}

function isNodeResource(name: string): boolean {
  return ["cpu", "memory", "ephemeral-storage"].includes(name) || name.startsWith("hugepages-");
}

const zero: Quantity = parseQuantity("0");

function checkMapping(
  { capacityKey, capacityMultiplier, deviceMultiplier }: NonNullable<NodeResource["mapping"]>,
  capacities: Readonly<Record<string, Capacity>>,
  report: FieldReport,
): void {
  if (capacityKey === "") report.at("capacityKey").invalid("", "capacityKey must not be an empty string");
  else if (capacityKey !== undefined && !Object.hasOwn(capacities, capacityKey)) {
    report.at("capacityKey").notFound(capacityKey);
  }
  if (capacityKey !== undefined && capacityMultiplier === undefined) {
    report.at("capacityMultiplier").required("capacityMultiplier is required when capacityKey is set");
  }
  if (capacityKey === undefined && capacityMultiplier !== undefined) {
    report.at("capacityKey").required("capacityKey is required when capacityMultiplier is set");
  }
  for (const [name, value] of Object.entries({ capacityMultiplier, deviceMultiplier })) {
    if (value !== undefined && compareQuantities(parseQuantity(value), zero) <= 0) {
      report.at(name).invalid(value, "must be positive");
    }
  }
}

function checkOverhead(overhead: NonNullable<NodeResource["overhead"]>, report: FieldReport): void {
  if (overhead.perPod === undefined && overhead.perContainer === undefined) {
    return report.invalid("", "at least one of perPod or perContainer must be set");
  }
  for (const [name, value] of Object.entries(overhead)) {
    if (value !== undefined && compareQuantities(parseQuantity(value), zero) < 0) {
      report.at(name).invalid(value, "must be non-negative");
    }
  }
}
