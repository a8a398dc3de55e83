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
export function checkPrecedence(precedence: number, name: string, place: FieldReport): void {
  if (precedence <= 0) place.invalid(precedence, "must be a positive value");
  if (precedence > maxPrecedence) place.invalid(precedence, `must not be greater than ${maxPrecedence}`);
  if (precedence === 1 && name !== "exempt") {
    place.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

/** Checks the method of distinguishing flows. */
export function checkDistinguisher({ type }: { readonly type: string }, place: FieldReport): void {
  if (!distinguishers.includes(type)) place.at("type").notSupported(type, distinguishers);
}

/** Checks the rules: subjects and their requests. */
export function checkRules(
  { subjects, resourceRules = [], nonResourceRules = [] }: Rules,
  place: FieldReport,
): void {
  if ((subjects ?? []).length === 0) {
    place.at("subjects").required("subjects must contain at least one value");
  }
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    place.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  }
}

/** Requires exactly the field that belongs to the kind of subject. */
export function checkSubject(subject: Subject, place: FieldReport): void {
  const fields = { Group: "group", ServiceAccount: "serviceAccount", User: "user" } as const;
  if (!Object.hasOwn(fields, subject.kind)) {
    return place.at("kind").notSupported(subject.kind, Object.keys(fields));
  }
  for (const [kind, name] of Object.entries(fields)) {
    const isSet = subject[name] !== undefined;
    if (kind === subject.kind && !isSet) {
      place.at(name).required(`${name} is required when subject kind is '${kind}'`);
    } else if (kind !== subject.kind && isSet) {
      place.at(name).forbidden(`${name} is forbidden when subject kind is not '${kind}'`);
    }
  }
}

/** Requires a namespace, and a service account or `*`. */
export function checkAccount({ namespace, name }: Account, place: FieldReport): void {
  if (name !== "" && name !== "*") {
    for (const message of dnsSubdomainFaults(name)) place.at("name").invalid(name, message);
  }
  if (namespace === "") return place.at("namespace").required("must specify namespace for service account");
  for (const message of dnsLabelFaults(namespace)) place.at("namespace").invalid(namespace, message);
}

/** Requires verbs, groups, resources, and namespaces or cluster scope. */
export function checkResourceRule(rule: ResourceRule, place: FieldReport): void {
  checkVerbs(rule.verbs ?? [], place.at("verbs"));
  checkNames(rule.apiGroups ?? [], "api group", place.at("apiGroups"));
  checkNames(rule.resources ?? [], "resource", place.at("resources"));
  const namespaces = rule.namespaces ?? [];
  const at = place.at("namespaces");
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    at.required("resource rules that are not cluster scoped must supply at least one namespace");
  } else if (namespaces.includes("*")) {
    checkAlone(namespaces, "namespaces", at);
  } else {
    for (const [index, namespace] of namespaces.entries()) {
      if (place.full) return;
      for (const message of dnsLabelFaults(namespace)) {
        at.at(index).invalid(namespace, `each member must be '*' or a DNS-1123 label: ${message}`);
      }
    }
  }
}

/** Requires verbs and URL paths. */
export function checkUrlRule(rule: UrlRule, place: FieldReport): void {
  checkVerbs(rule.verbs ?? [], place.at("verbs"));
  const urls = rule.nonResourceURLs ?? [];
  const at = place.at("nonResourceURLs");
  if (urls.length === 0) return at.required("nonResourceURLs must contain at least one value");
  if (urls.includes("*")) return checkAlone(urls, "non-resource URLs", at);
  for (const [index, url] of urls.entries()) {
    if (place.full) return;
    const fault = urlFault(url);
    if (fault !== undefined) at.at(index).invalid(url, fault);
  }
}

function checkVerbs(verbs: readonly string[], place: FieldReport): void {
  if (verbs.length === 0) place.required("verbs must contain at least one value");
  else if (verbs.includes("*")) checkAlone(verbs, "verbs", place);
  else if (verbs.some((verb) => !verbNames.includes(verb))) place.notSupported(verbs, verbNames);
}

function checkNames(names: readonly string[], noun: string, place: FieldReport): void {
  if (names.length === 0) place.required(`resource rules must supply at least one ${noun}`);
  else if (names.includes("*")) checkAlone(names, `${noun}s`, place);
}

function checkAlone(items: readonly string[], noun: string, place: FieldReport): void {
  if (items.length > 1) place.invalid(items, `if '*' is present, must not specify other ${noun}`);
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
