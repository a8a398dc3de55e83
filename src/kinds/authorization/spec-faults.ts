import { labelValueFaults, qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** The members of a review's spec that are validated. */
export interface ReviewSpecParts {
  readonly resourceAttributes?: ResourceParts | null | undefined;
  readonly nonResourceAttributes?: object | null | undefined;
}

/** The members of `resourceAttributes` that are validated. */
interface ResourceParts {
  readonly namespace?: string | undefined;
  readonly fieldSelector?: SelectorParts | null | undefined;
  readonly labelSelector?: SelectorParts | null | undefined;
}

interface SelectorParts {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly RequirementParts[] | null | undefined;
}

interface RequirementParts {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | null | undefined;
}

/** As {@link ReviewSpecParts}, with the subject of the review. */
export interface SubjectReviewSpecParts extends ReviewSpecParts {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | null | undefined;
}

/** A fault of a review. `path` is relative to `spec`; it is empty for a fault of the spec as a whole. */
export interface SpecFault {
  readonly path: readonly (string | number)[];
  readonly kind: "required" | "invalid" | "forbidden";
  readonly message: string;
  /** The invalid value; used for the kind `invalid` only. */
  readonly value: unknown;
}

/**
 * Validates the spec of a SelfSubjectAccessReview: exactly one kind of attributes (spec: access review 2.2). The
 * field's own rule requires that there is a spec.
 */
export function selfSubjectAccessReviewFaults(spec: ReviewSpecParts | undefined): SpecFault[] {
  return spec === undefined
    ? []
    : [...attributesFaults(spec), ...selectorFaults(spec.resourceAttributes ?? {})];
}

function attributesFaults(spec: ReviewSpecParts): SpecFault[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (isGiven(resourceAttributes) && isGiven(nonResourceAttributes)) {
    const message = "cannot be specified in combination with resourceAttributes";
    return [{ path: ["nonResourceAttributes"], kind: "invalid", message, value: nonResourceAttributes }];
  }
  if (!isGiven(resourceAttributes) && !isGiven(nonResourceAttributes)) {
    const message = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    return [{ path: ["resourceAttributes"], kind: "invalid", message, value: null }];
  }
  return [];
}

/** Validates the selectors. Operators of newer clients are accepted; the review ignores their requirements. */
function selectorFaults({ fieldSelector, labelSelector }: ResourceParts): SpecFault[] {
  return [
    ...oneSelectorFaults("fieldSelector", fieldSelector, ({ key = "" }) =>
      key === "" ? [{ path: ["key"], kind: "required", message: "must be specified", value: undefined }] : [],
    ),
    ...oneSelectorFaults("labelSelector", labelSelector, labelFaults),
  ];
}

function labelFaults({ key = "", values }: RequirementParts): SpecFault[] {
  const invalid = (path: SpecFault["path"], value: string) => (message: string) =>
    ({ path, kind: "invalid", message, value }) as const;
  return [
    ...qualifiedNameFaults(key).map(invalid(["key"], key)),
    ...(values ?? []).flatMap((value, index) =>
      labelValueFaults(value).map(invalid(["values", index], value)),
    ),
  ];
}

function oneSelectorFaults(
  name: "fieldSelector" | "labelSelector",
  selector: SelectorParts | null | undefined,
  partFaults: (requirement: RequirementParts) => SpecFault[],
): SpecFault[] {
  if (selector === undefined || selector === null) return [];
  const { rawSelector = "", requirements } = selector;
  const faults: SpecFault[] = [];
  const path = ["resourceAttributes", name];
  if (rawSelector !== "" && (requirements ?? []).length > 0) {
    const message = "may not be specified at the same time as requirements";
    faults.push({ path: [...path, "rawSelector"], kind: "invalid", message, value: rawSelector });
  }
  if (rawSelector === "" && (requirements ?? []).length === 0) {
    const message = `when spec.resourceAttributes.${name} is specified, requirements or rawSelector is required`;
    faults.push({ path: [...path, "requirements"], kind: "required", message, value: undefined });
  }
  for (const [index, requirement] of (requirements ?? []).entries()) {
    const own = [...valuesFaults(requirement), ...partFaults(requirement)];
    faults.push(...own.map((fault) => ({ ...fault, path: [...path, "requirements", index, ...fault.path] })));
  }
  return faults;
}

function valuesFaults({ operator, values }: RequirementParts): SpecFault[] {
  const count = (values ?? []).length;
  if ((operator === "In" || operator === "NotIn") && count === 0) {
    const message = "must be specified when `operator` is 'In' or 'NotIn'";
    return [{ path: ["values"], kind: "required", message, value: undefined }];
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && count > 0) {
    const message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    return [{ path: ["values"], kind: "forbidden", message, value: undefined }];
  }
  return [];
}

/** Validates the spec of a SubjectAccessReview: also, it must name a user or a group. */
export function subjectAccessReviewFaults(spec: SubjectReviewSpecParts | undefined): SpecFault[] {
  if (spec === undefined) return [];
  const faults = selfSubjectAccessReviewFaults(spec);
  if ((spec.user ?? "") === "" && (spec.groups ?? []).length === 0) {
    const message = "at least one of user or group must be specified";
    faults.push({ path: ["user"], kind: "required", message, value: undefined });
  }
  return faults;
}

/**
 * Validates the spec of a LocalSubjectAccessReview in `namespace`, the namespace of the URL: its attributes must name
 * resources of that namespace. An empty `resourceAttributes.namespace` means the same namespace.
 */
export function localSubjectAccessReviewFaults(
  spec: SubjectReviewSpecParts | undefined,
  namespace: string,
): SpecFault[] {
  if (spec === undefined) return [];
  const faults = subjectAccessReviewFaults(spec);
  const requested = spec.resourceAttributes?.namespace ?? "";
  if (requested !== "" && requested !== namespace) {
    const message = `must match metadata.namespace: ${JSON.stringify(namespace)}`;
    faults.push({ path: ["resourceAttributes", "namespace"], kind: "invalid", message, value: requested });
  }
  const stray = spec.nonResourceAttributes;
  if (isGiven(stray)) {
    const message = "disallowed on this kind of request";
    faults.push({ path: ["nonResourceAttributes"], kind: "invalid", message, value: stray });
  }
  return faults;
}

/** Reports the faults of a spec. */
export function reportSpecFaults(faults: readonly SpecFault[], report: FieldReport): void {
  for (const fault of faults) {
    const faultReport = report.at(...fault.path);
    if (fault.kind === "required") faultReport.required(fault.message);
    else if (fault.kind === "forbidden") faultReport.forbidden(fault.message);
    else faultReport.invalid(fault.value, fault.message);
  }
}

function isGiven(attributes: object | null | undefined): attributes is object {
  return attributes !== undefined && attributes !== null;
}
