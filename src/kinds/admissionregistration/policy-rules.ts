import { dns1035LabelFaults, dnsSubdomainFaults, pathSegmentFaults } from "../../base/names.ts";
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
    readonly reason?: string | undefined;
  },
  report: FieldReport,
): void {
  const { expression, message = "", reason } = validation;
  if (expression.trim() === "") report.at("expression").required("expression is not specified");
  if (message !== "" && message.trim() === "") {
    report.at("message").invalid(message, "message must be non-empty if specified");
  } else if (/[\n\r]/.test(message.trim())) {
    report.at("message").invalid(message, "message must not contain line breaks");
  }
  if (reason !== undefined && !reasons.includes(reason)) report.at("reason").notSupported(reason, reasons);
}

/** Requires match constraints with resource rules, and validations. */
export function checkPolicy(
  spec: {
    readonly matchConstraints?: { readonly resourceRules?: readonly unknown[] | undefined } | undefined;
    readonly validations: readonly unknown[] | null;
  },
  report: FieldReport,
): void {
  const constraints = spec.matchConstraints;
  if (constraints === undefined) report.at("matchConstraints").required();
  else if ((constraints.resourceRules ?? []).length === 0) {
    report.at("matchConstraints", "resourceRules").required();
  }
  if ((spec.validations ?? []).length === 0) report.at("validations").required();
}
