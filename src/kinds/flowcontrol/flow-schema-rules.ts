import { dnsLabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

interface Account {
  readonly namespace: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly user?: { readonly name: string } | undefined;
  readonly group?: { readonly name: string } | undefined;
  readonly serviceAccount?: Account | undefined;
}

interface ResourceRule {
  readonly verbs: readonly string[] | null;
  readonly apiGroups: readonly string[] | null;
  readonly resources: readonly string[] | null;
  readonly clusterScope?: boolean | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
}

interface UrlRule {
  readonly verbs: readonly string[] | null;
  readonly nonResourceURLs: readonly string[] | null;
}

interface Rules {
  readonly subjects: readonly Subject[] | null;
  readonly resourceRules?: readonly ResourceRule[] | undefined;
  readonly nonResourceRules?: readonly UrlRule[] | undefined;
}

const maxPrecedence = 10_000;
const distinguishers = ["ByNamespace", "ByUser"];
const verbNames = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "proxy",
  "update",
  "watch",
];

/** Checks the precedence; 1 is reserved for the schema `exempt`. */
export function checkPrecedence(precedence: number, name: string, report: FieldReport): void {
  if (precedence <= 0) report.invalid(precedence, "must be a positive value");
  if (precedence > maxPrecedence) report.invalid(precedence, `must not be greater than ${maxPrecedence}`);
  if (precedence === 1 && name !== "exempt") {
    report.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

/** Checks the method of distinguishing flows. */
export function checkDistinguisher({ type }: { readonly type: string }, report: FieldReport): void {
  if (!distinguishers.includes(type)) report.at("type").notSupported(type, distinguishers);
}

/** Checks the rules: subjects and their requests. */
export function checkRules(
  { subjects, resourceRules = [], nonResourceRules = [] }: Rules,
  report: FieldReport,
): void {
  if ((subjects ?? []).length === 0) {
    report.at("subjects").required("subjects must contain at least one value");
  }
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    report.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  }
}

/** Requires exactly the field that belongs to the kind of subject. */
export function checkSubject(subject: Subject, report: FieldReport): void {
  const fields = { Group: "group", ServiceAccount: "serviceAccount", User: "user" } as const;
  if (!Object.hasOwn(fields, subject.kind)) {
    return report.at("kind").notSupported(subject.kind, Object.keys(fields));
  }
  for (const [kind, name] of Object.entries(fields)) {
    const isSet = subject[name] !== undefined;
    if (kind === subject.kind && !isSet) {
      report.at(name).required(`${name} is required when subject kind is '${kind}'`);
    } else if (kind !== subject.kind && isSet) {
      report.at(name).forbidden(`${name} is forbidden when subject kind is not '${kind}'`);
    }
  }
}

/** Requires a namespace, and a service account or `*`. */
export function checkAccount({ namespace, name }: Account, report: FieldReport): void {
  if (name !== "" && name !== "*") {
    for (const message of dnsSubdomainFaults(name)) report.at("name").invalid(name, message);
  }
  if (namespace === "") return report.at("namespace").required("must specify namespace for service account");
  for (const message of dnsLabelFaults(namespace)) report.at("namespace").invalid(namespace, message);
}

/** Requires verbs, groups, resources, and namespaces or cluster scope. */
export function checkResourceRule(rule: ResourceRule, report: FieldReport): void {
  checkVerbs(rule.verbs ?? [], report.at("verbs"));
  checkNames(rule.apiGroups ?? [], "api group", report.at("apiGroups"));
  checkNames(rule.resources ?? [], "resource", report.at("resources"));
  const namespaces = rule.namespaces ?? [];
  const at = report.at("namespaces");
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    at.required("resource rules that are not cluster scoped must supply at least one namespace");
  } else if (namespaces.includes("*")) {
    checkAlone(namespaces, "namespaces", at);
  } else {
    for (const [index, namespace] of namespaces.entries()) {
      if (report.full) return;
      for (const message of dnsLabelFaults(namespace)) {
        at.at(index).invalid(namespace, `each member must be '*' or a DNS-1123 label: ${message}`);
      }
    }
  }
}

/** Requires verbs and URL paths. */
export function checkUrlRule(rule: UrlRule, report: FieldReport): void {
  checkVerbs(rule.verbs ?? [], report.at("verbs"));
  const urls = rule.nonResourceURLs ?? [];
  const at = report.at("nonResourceURLs");
  if (urls.length === 0) return at.required("nonResourceURLs must contain at least one value");
  if (urls.includes("*")) return checkAlone(urls, "non-resource URLs", at);
  for (const [index, url] of urls.entries()) {
    if (report.full) return;
    const fault = urlFault(url);
    if (fault !== undefined) at.at(index).invalid(url, fault);
  }
}

function checkVerbs(verbs: readonly string[], report: FieldReport): void {
  if (verbs.length === 0) report.required("verbs must contain at least one value");
  else if (verbs.includes("*")) checkAlone(verbs, "verbs", report);
  else if (verbs.some((verb) => !verbNames.includes(verb))) report.notSupported(verbs, verbNames);
}

function checkNames(names: readonly string[], noun: string, report: FieldReport): void {
  if (names.length === 0) report.required(`resource rules must supply at least one ${noun}`);
  else if (names.includes("*")) checkAlone(names, `${noun}s`, report);
}

function checkAlone(items: readonly string[], noun: string, report: FieldReport): void {
  if (items.length > 1) report.invalid(items, `if '*' is present, must not specify other ${noun}`);
}

function urlFault(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (url === "/") return undefined;
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const star = url.indexOf("*");
  if (star >= 0 && (star !== url.length - 1 || !url.endsWith("/*"))) {
    return "wildcard can only do suffix matching";
  }
  return undefined;
}
