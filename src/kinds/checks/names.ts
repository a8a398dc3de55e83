import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import {
  configMapKeyFaults,
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentNameFaults,
  qualifiedNameFaults,
  wildcardSubdomainFaults,
} from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { portNumber } from "./numbers.ts";

/** Checks a text and reports what is wrong with it. */
type TextRule = (text: string, report: FieldReport) => void;

function rule(faults: (text: string) => readonly string[]): TextRule {
  return (text, report) => {
    for (const message of faults(text)) report.invalid(text, message);
  };
}

/** A DNS-1123 label: names of namespaces, containers, volumes. */
export const dnsLabel = rule(dnsLabelFaults);
/** Name of a namespace. */
export const namespaceName = dnsLabel;
/** A DNS-1123 subdomain: names of most objects. */
export const dnsSubdomain = rule(dnsSubdomainFaults);
/** A DNS-1035 label: names of services. */
export const dns1035Label = rule(dns1035LabelFaults);
/** The name of a service: a DNS-1035 label, or a DNS-1123 label where that is enabled. */
export function serviceName(
  name: string,
  report: FieldReport,
  { enabled }: Pick<KindContext, "enabled">,
): void {
  (enabled("RelaxedServiceNameValidation") ? dnsLabel : dns1035Label)(name, report);
}
/** A name with an optional DNS subdomain before a slash: keys of labels, resources, conditions. */
export const qualifiedName = rule(qualifiedNameFaults);
/** A DNS-1123 subdomain whose first label is `*`. */
export const wildcardSubdomain = rule(wildcardSubdomainFaults);
/** The value of a label. */
export const labelValue = rule(labelValueFaults);
/** A key in the data of a config map or secret. */
export const dataKey = rule(configMapKeyFaults);
/** A name that can be a segment of a URL path. */
export const pathSegment = rule(pathSegmentNameFaults);

const portNameForm = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/**
 * Requires a port name (IANA service name): up to 15 characters, lower case, at least one letter, no two consecutive
 * dashes.
 */
export function portName(name: string, report: FieldReport): void {
  if (name.length > 15) report.invalid(name, "must be no more than 15 characters");
  if (!portNameForm.test(name)) {
    report.invalid(
      name,
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), and not begin or end with one",
    );
  }
  if (name.includes("--")) report.invalid(name, "must not contain consecutive hyphens");
  if (!/[a-z]/.test(name)) report.invalid(name, "must contain at least one letter (a-z)");
}

/** Checks labels: keys are qualified names, values are label values. */
export function labelMap(labels: Readonly<Record<string, string>>, report: FieldReport): void {
  for (const [key, value] of Object.entries(labels)) {
    for (const message of qualifiedNameFaults(key)) report.invalid(key, message);
    for (const message of labelValueFaults(value)) report.invalid(value, message);
  }
}

const maxAnnotationBytes = 256 * 1024;

/** Checks annotations: keys are qualified names in any case; the total size is limited. */
export function annotationMap(annotations: Readonly<Record<string, string>>, report: FieldReport): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const message of qualifiedNameFaults(key.toLowerCase())) report.invalid(key, message);
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > maxAnnotationBytes) report.tooLong(maxAnnotationBytes);
}

const environmentNameForm = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;

/** Requires the name of an environment variable: letters, digits, `_`, `-` and `.`, not starting with a digit. With
 * RelaxedEnvironmentVariableValidation all printable characters but `=`. */
export function environmentName(
  name: string,
  report: FieldReport,
  { enabled }: Pick<KindContext, "enabled">,
): void {
  if (enabled("RelaxedEnvironmentVariableValidation")) {
    if (!/^[ -<>-~]+$/.test(name))
      report.invalid(name, "must have only printable ASCII characters, without '='");
    return;
  }
  if (!environmentNameForm.test(name)) {
    report.invalid(
      name,
      "an environment variable's name has only letters, digits, '_', '-' and '.', and doesn't start with a digit",
    );
    return;
  }
  if (name === "." || name.startsWith("..")) report.invalid(name, "must not be '.' or start with '..'");
}

/** Requires the number or name of a port. */
export function portNumberOrName(port: number | string, report: FieldReport): void {
  if (typeof port === "number") portNumber(port, report);
  else portName(port, report);
}

/** Whether an empty name of a driver isn't also reported as one without a valid format. */
const reportsEmptyOnce = applies(since("1.35"));

/** Requires the name of a storage driver: a DNS subdomain of up to 63 characters; capitals are allowed. */
export function storageDriverName(
  name: string,
  report: FieldReport,
  context: Pick<KindContext, "release"> = {},
): void {
  if (name === "") report.required();
  if (name === "" && reportsEmptyOnce(context)) return;
  if (name.length > 63) report.tooLong(63);
  for (const message of dnsSubdomainFaults(name.toLowerCase())) report.invalid(name, message);
}

/** Requires a DNS name of at least two labels, with or without a trailing dot. */
export function fullyQualifiedName(name: string, report: FieldReport): void {
  if (name === "") return report.required();
  const bare = name.endsWith(".") ? name.slice(0, -1) : name;
  const faults = dnsSubdomainFaults(bare);
  for (const message of faults) report.invalid(bare, message);
  if (faults.length > 0) return;
  const labels = bare.split(".");
  if (labels.length < 2) report.invalid(bare, "must have at least two parts with a dot between them");
  for (const label of labels) dnsLabel(label, report);
}

const pathForm = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Requires a DNS subdomain, a slash and a path: `example.com/name`. */
export function domainPrefixedPath(text: string, report: FieldReport): void {
  if (text === "") return report.required();
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1) {
    return report.invalid(text, "must be a domain-prefixed path (such as 'acme.io/foo')");
  }
  dnsSubdomain(text.slice(0, slash), report);
  const path = text.slice(slash + 1);
  if (!pathForm.test(path)) report.invalid(path, `the path must match '${pathForm.source}'`);
}
