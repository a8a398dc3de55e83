import { type LabelRequirement } from "./label-selector-parser.ts";
import { labelValueFaults, qualifiedNameFaults } from "../names.ts";
import { StatusError } from "../status-error.ts";

export {
  type LabelOperator,
  type LabelRequirement,
  parseLabelRequirements,
} from "./label-selector-parser.ts";

/** Labels of an object; undefined when it has none. */
export type Labels = Readonly<Record<string, string>> | undefined;

/** Whether a selector matches labels. */
export type LabelMatcher = (labels: Labels) => boolean;

/** The object form of a selector (`LabelSelector`). */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

/** A validation error in the object form of a selector. */
export interface LabelSelectorFault {
  /** Field names and indexes from the selector down, for example `["matchExpressions", 0, "values"]`. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly message: string;
  /** Undefined for an invalid value. */
  readonly sort?: "required" | "forbidden" | undefined;
}

/** Returns a matcher for labels that meet all requirements. */
export function compileRequirements(requirements: readonly LabelRequirement[]): LabelMatcher {
  const tests = requirements.map(compile);
  if (tests.length === 1) return tests[0]!;
  return (labels) => {
    for (const test of tests) if (!test(labels)) return false;
    return true;
  };
}

function compile({ key, operator, values }: LabelRequirement): LabelMatcher {
  switch (operator) {
    case "Exists":
      return (labels) => valueOf(labels, key) !== undefined;
    case "DoesNotExist":
      return (labels) => valueOf(labels, key) === undefined;
    case "In":
    case "NotIn":
      return compileSet(key, values, operator === "In");
    case "Gt":
    case "Lt":
      return compileOrder(key, BigInt(values[0]!), operator);
  }
}

function compileSet(key: string, values: readonly string[], wanted: boolean): LabelMatcher {
  if (values.length === 1) {
    const [only] = values;
    return (labels) => (valueOf(labels, key) === only) === wanted;
  }
  const set = new Set<string | undefined>(values);
  return (labels) => set.has(valueOf(labels, key)) === wanted;
}

function compileOrder(key: string, bound: bigint, operator: "Gt" | "Lt"): LabelMatcher {
  return (labels) => {
    const value = valueOf(labels, key);
    if (value === undefined || !/^[0-9]{1,19}$/.test(value)) return false;
    return operator === "Gt" ? BigInt(value) > bound : BigInt(value) < bound;
  };
}

function valueOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/**
 * Converts the object form to requirements. An empty selector matches everything. Callers handle an absent selector: whether it
 * matches nothing or everything depends on the field.
 * @throws StatusError BadRequest for an invalid selector; validate with `labelSelectorFaults` before.
 */
function requirementsOf(selector: LabelSelectorObject): LabelRequirement[] {
  const [fault] = labelSelectorFaults(selector);
  if (fault !== undefined) {
    throw new StatusError("BadRequest", `label selector: ${fault.path.join(".")}: ${fault.message}`);
  }
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: "In", values: [value] });
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    requirements.push({ key, operator: operator as LabelRequirement["operator"], values: values ?? [] });
  }
  return requirements;
}

/** Returns a matcher for the object form; see `requirementsOf`. */
export function compileLabelSelector(selector: LabelSelectorObject): LabelMatcher {
  return compileRequirements(requirementsOf(selector));
}

/** Validates the object form of a selector. */
export function labelSelectorFaults(selector: LabelSelectorObject): LabelSelectorFault[] {
  const faults: LabelSelectorFault[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    for (const message of qualifiedNameFaults(key))
      faults.push({ path: ["matchLabels"], value: key, message });
    for (const message of labelValueFaults(value)) faults.push({ path: ["matchLabels"], value, message });
  }
  for (const [index, expression] of (selector.matchExpressions ?? []).entries()) {
    faults.push(...expressionFaults(expression.key, expression.operator, expression.values ?? [], index));
  }
  return faults;
}

function expressionFaults(
  key: string,
  operator: string,
  values: readonly string[],
  index: number,
): LabelSelectorFault[] {
  const faults: LabelSelectorFault[] = [];
  const report = (
    path: readonly (string | number)[],
    value: unknown,
    message: string,
    sort?: LabelSelectorFault["sort"],
  ): void => {
    faults.push({ path: ["matchExpressions", index, ...path], value, message, sort });
  };
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0)
        report(["values"], values, "must be specified when `operator` is 'In' or 'NotIn'", "required");
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        const message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        report(["values"], values, message, "forbidden");
      }
      break;
    default:
      report(["operator"], operator, "not a valid selector operator");
  }
  for (const message of qualifiedNameFaults(key)) report(["key"], key, message);
  values.forEach((value, position) => {
    for (const message of labelValueFaults(value)) report(["values", position], value, message);
  });
  return faults;
}
