import type { Release } from "../../base/releases.ts";

/**
 * The part of the server that reports a problem:
 *
 * - `syntax`: the text is no YAML or JSON, or no manifest;
 * - `kind`: the release doesn't serve the kind;
 * - `schema`: unknown, repeated and required fields, and types;
 * - `validation`: a rule of a built-in kind;
 * - `cel`: a rule of a CustomResourceDefinition in CEL;
 * - `policy`: an admission policy;
 * - `pod-security`, `quota`, `limit-range`, `admission`: an admission plugin;
 * - `authorization`: the user may not apply the object;
 * - `reference`: the object names something that doesn't exist;
 * - `duplicate`: the object occurs twice;
 * - `deprecation`, `warning`: a warning of the server;
 * - `change`: a later release changes what the object means.
 */
export type ValidationRule =
  | "syntax"
  | "kind"
  | "schema"
  | "validation"
  | "cel"
  | "policy"
  | "pod-security"
  | "quota"
  | "limit-range"
  | "admission"
  | "authorization"
  | "reference"
  | "duplicate"
  | "deprecation"
  | "warning"
  | "change";

/** A position in a file of manifests. */
export interface ValidationLocation {
  /** Path of the file as named, or found in a folder; `-` for standard input. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/** What made a problem, if it is part of a manifest: a rule of a definition, or a policy. */
export interface ValidationSource {
  /** The expression of the rule, or the name of the policy or quota. */
  readonly text: string;
  /** Undefined if the definition or policy isn't from a file. */
  readonly location: ValidationLocation | undefined;
}

/** A problem of an object in one release. */
export interface Finding {
  /** An object with an error is rejected. */
  readonly severity: "error" | "warning";
  readonly rule: ValidationRule;
  /** Path of the field, such as `spec.ports[0].name`; empty if the problem isn't about a field. */
  readonly field: string;
  /** Message of the server. */
  readonly message: string;
  readonly source?: ValidationSource | undefined;
}

/** A problem of an object. */
export interface ValidationProblem extends Finding {
  /** The releases in which it occurs, of those that were validated. */
  readonly releases: readonly Release[];
  /** Position of the field, or of the object; undefined for an object that isn't from a file. */
  readonly location: ValidationLocation | undefined;
}

/** The verdict on one object. */
export interface ValidatedObject {
  /** Empty if the text isn't a manifest. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Position of the object; undefined if it isn't from a file. */
  readonly location: ValidationLocation | undefined;
  /** Whether no release has an error. */
  readonly accepted: boolean;
  /** The releases that accept the object. */
  readonly acceptedBy: readonly Release[];
  readonly problems: readonly ValidationProblem[];
}

/** The result of a validation. */
export interface ValidationReport {
  /** Whether every object is accepted. */
  readonly accepted: boolean;
  readonly releases: readonly Release[];
  /** In the order of the input. */
  readonly objects: readonly ValidatedObject[];
}
