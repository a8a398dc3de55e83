import type { FieldReport } from "../../schema/faults.ts";

/** The members of a review's spec that are validated. */
export interface ReviewSpecParts {
  readonly resourceAttributes?: { readonly namespace?: string | undefined } | null | undefined;
  readonly nonResourceAttributes?: object | null | undefined;
}

/** As {@link ReviewSpecParts}, with the subject of the review. */
export interface SubjectReviewSpecParts extends ReviewSpecParts {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | null | undefined;
}

/** A fault of a review. `path` is relative to `spec`; it is empty for a fault of the spec as a whole. */
export interface SpecFault {
  readonly path: readonly (string | number)[];
  readonly kind: "required" | "invalid";
  readonly message: string;
  /** The invalid value; not used if a required value is missing. */
  readonly value: unknown;
}

/**
 * Validates the spec of a SelfSubjectAccessReview: exactly one kind of attributes (spec: access review 2.2). The
 * field's own rule requires that there is a spec.
 */
export function selfSubjectAccessReviewFaults(spec: ReviewSpecParts | undefined): SpecFault[] {
  if (spec === undefined) return [];
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
    else faultReport.invalid(fault.value, fault.message);
  }
}

function isGiven(attributes: object | null | undefined): attributes is object {
  return attributes !== undefined && attributes !== null;
}
