import {
  dns1035LabelFaults,
  dnsSubdomainFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../../base/names.ts";
import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { checkRule, type RuleFacts } from "./rule-checks.ts";

/*
 * What policies must be like, but for their expressions: those are compiled by the admission area, which knows the types.
 */

/** Checks a rule with resource names, which must be unique. */
export function checkNamedRule(
  rule: RuleFacts & { readonly resourceNames?: readonly string[] | undefined },
  report: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    if (report.full) return;
    const at = report.at("resourceNames", index);
    for (const message of pathSegmentFaults(name)) at.invalid(name, message);
    if (seen.has(name)) at.duplicate(name);
    seen.add(name);
  }
  checkRule(rule, report);
}

/** Requires a kind and its group version. */
export function checkParamKind(
  {
    apiVersion = "",
    kind = "",
  }: { readonly apiVersion?: string | undefined; readonly kind?: string | undefined },
  report: FieldReport,
): void {
  if (apiVersion === "") report.at("apiVersion").required();
  else checkGroupVersion(apiVersion, report.at("apiVersion"));
  if (kind === "") return report.at("kind").required();
  for (const message of dns1035LabelFaults(kind.toLowerCase())) {
    report.at("kind").invalid(kind, `may have mixed case, but should otherwise match: ${message}`);
  }
}

function checkGroupVersion(apiVersion: string, report: FieldReport): void {
  const parts = apiVersion.split("/");
  if (parts.length > 2) return report.invalid(apiVersion, "unexpected group version");
  const version = parts.at(-1)!;
  if (parts.length === 2 && parts[0] !== "") {
    for (const message of dnsSubdomainFaults(parts[0]!)) report.invalid(parts[0], message);
  }
  if (version === "") return report.invalid(version, "version must be specified");
  for (const message of dns1035LabelFaults(version)) report.invalid(version, message);
}

const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

/** Requires an expression; its message must be a single line. */
export function checkValidation(
  validation: {
    readonly expression: string;
    readonly message?: string | undefined;
    readonly messageExpression?: string | undefined;
    readonly reason?: string | undefined;
  },
  report: FieldReport,
): void {
  const { expression, message = "", messageExpression = "", reason } = validation;
  if (expression.trim() === "") report.at("expression").required("expression is not specified");
  if (messageExpression !== "" && messageExpression.trim() === "") {
    report.at("messageExpression").invalid(messageExpression, "must be non-empty if specified");
  }
  if (message !== "" && message.trim() === "") {
    report.at("message").invalid(message, "message must be non-empty if specified");
  } else if (/[\n\r]/.test(message.trim())) {
    report.at("message").invalid(message, "message must not contain line breaks");
  }
  if (reason !== undefined && !reasons.includes(reason)) report.at("reason").notSupported(reason, reasons);
}

const requiresEither = applies(since("1.27"));

/** Requires match constraints with resource rules, and validations or audit annotations. */
export function checkPolicy(
  spec: {
    readonly matchConstraints?: { readonly resourceRules?: readonly unknown[] | undefined } | undefined;
    readonly validations?: readonly unknown[] | null | undefined;
    readonly auditAnnotations?: readonly unknown[] | undefined;
  },
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  const constraints = spec.matchConstraints;
  if (constraints === undefined) report.at("matchConstraints").required();
  else if ((constraints.resourceRules ?? []).length === 0) {
    report.at("matchConstraints", "resourceRules").required();
  }
  if ((spec.validations ?? []).length > 0 || (spec.auditAnnotations ?? []).length > 0) return;
  report.at("validations").required();
  if (requiresEither(context)) report.at("auditAnnotations").required();
}

const maxAuditAnnotations = 20;
/** Maximum length of an expression in bytes. */
const maxValueExpressionBytes = 5 * 1024;

interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

/** Requires at most 20 annotations with unique keys. */
export function auditAnnotations(annotations: readonly AuditAnnotation[], report: FieldReport): void {
  if (annotations.length > maxAuditAnnotations) {
    report.invalid(annotations, `must not have more than ${maxAuditAnnotations} auditAnnotations`);
  }
  const seen = new Set<string>();
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    if (report.full) return;
    if (Buffer.byteLength(valueExpression.trim()) > maxValueExpressionBytes) {
      const message = `must not exceed ${maxValueExpressionBytes} bytes in length`;
      report.at(index, "valueExpression").required(message);
    }
    if (seen.has(key)) report.at(index, "key").duplicate(key);
    seen.add(key);
  }
}

/** Requires that the name of a policy and the keys of its audit annotations are qualified names. */
export function checkAuditKeys(
  policy: string,
  annotations: readonly AuditAnnotation[],
  report: FieldReport,
): void {
  for (const [index, { key }] of annotations.entries()) {
    if (report.full) return;
    for (const message of qualifiedNameFaults(`${policy}/${key}`)) {
      report.at(index, "key").invalid(`${policy}/${key}`, message);
    }
  }
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Requires an identifier of CEL. */
export function variableName(name: string, report: FieldReport): void {
  if (!identifier.test(name) || reserved.has(name)) report.invalid(name, "must be a valid CEL identifier");
}

/** Each expression knows the types of all variables, so their number bounds the time of compiling. */
const maxVariables = 256;

/** Requires at most 256 variables with unique names. */
export function variables(list: readonly { readonly name: string }[], report: FieldReport): void {
  if (list.length > maxVariables) report.tooMany(list.length, maxVariables);
  const seen = new Set<string>();
  for (const [index, { name }] of list.entries()) {
    if (report.full) return;
    if (seen.has(name)) report.at(index, "name").duplicate(name);
    seen.add(name);
  }
}

const requiresParameters = applies(since("1.28"));

/** Requires a name or a selector, if the release has selectors. */
export function checkParamRef(
  {
    name = "",
    selector,
  }: {
    readonly name?: string | undefined;
    readonly selector?: object | undefined;
  },
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  if (name !== "" && selector !== undefined) {
    report.at("name").forbidden("name and selector are mutually exclusive");
    report.at("selector").forbidden("name and selector are mutually exclusive");
  }
  if (name === "" && selector === undefined && requiresParameters(context)) {
    report.required("one of name or selector must be specified");
  }
}

const actions = ["Audit", "Deny", "Warn"];

/** Requires known and unique actions; Deny and Warn exclude each other, as both tell the client. */
export function validationActions(list: readonly string[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, action] of list.entries()) {
    if (report.full) return;
    if (!actions.includes(action)) report.at(index).notSupported(action, actions);
    if (seen.has(action)) report.at(index).duplicate(action);
    seen.add(action);
  }
  if (seen.has("Deny") && seen.has("Warn")) report.invalid(list, "must not contain both Deny and Warn");
}
