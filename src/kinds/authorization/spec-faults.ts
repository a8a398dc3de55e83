import type { FieldReport } from "../../schema/faults.ts";

/** The parts of a review's spec that its rules of form are about. */
export interface ReviewSpecParts {
  readonly resourceAttributes?: { readonly namespace?: string | undefined } | null | undefined;
  readonly nonResourceAttributes?: object | null | undefined;
}

/** As {@link ReviewSpecParts}, with the subject that is asked about. */
export interface SubjectReviewSpecParts extends ReviewSpecParts {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | null | undefined;
}

/** One fault of a review; `path` leads from `spec` to the field and is empty for a fault of the spec as a whole. */
export interface SpecFault {
  readonly path: readonly (string | number)[];
  readonly kind: "required" | "invalid";
  readonly message: string;
  /** What was given; without meaning when something required is missing. */
  readonly value: unknown;
}

/**
 * What is wrong with the spec of a SelfSubjectAccessReview: exactly one kind of attributes (spec: access review 2.2).
 * That there is a spec at all is its field's own rule.
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

/** What is wrong with the spec of a SubjectAccessReview: also, somebody must be asked about. */
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
 * What is wrong with the spec of a LocalSubjectAccessReview in `namespace`, the one of the request's path: it asks
 * about resources of that namespace only. An empty `resourceAttributes.namespace` stands for it.
 */
export function localSubjectAccessReviewFaults(
  spec: SubjectReviewSpecParts | undefined,
  namespace: string,
): SpecFault[] {
  if (spec === undefined) return [];
  const faults = subjectAccessReviewFaults(spec);
  const asked = spec.resourceAttributes?.namespace ?? "";
  if (asked !== "" && asked !== namespace) {
    const message = `must match metadata.namespace: ${JSON.stringify(namespace)}`;
    faults.push({ path: ["resourceAttributes", "namespace"], kind: "invalid", message, value: asked });
  }
  const stray = spec.nonResourceAttributes;
  if (isGiven(stray)) {
    const message = "disallowed on this kind of request";
    faults.push({ path: ["nonResourceAttributes"], kind: "invalid", message, value: stray });
  }
  return faults;
}

/** Reports the faults of a spec that stands at this place. */
export function reportSpecFaults(faults: readonly SpecFault[], spec: FieldReport): void {
  for (const fault of faults) {
    const place = spec.at(...fault.path);
    if (fault.kind === "required") place.required(fault.message);
    else place.invalid(fault.value, fault.message);
  }
}

function isGiven(attributes: object | null | undefined): attributes is object {
  return attributes !== undefined && attributes !== null;
}
