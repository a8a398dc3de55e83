import { isInDomain, subdomain } from "../../vocabulary/names.ts";
import { applies, since } from "../../base/release-rows.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { unchanged } from "../checks/values.ts";
import { hasInvalidCaBundle, type TrustedConversion } from "./conversion-trust.ts";

interface Names {
  readonly plural: string;
  readonly singular?: string | undefined;
  readonly kind: string;
  readonly listKind?: string | undefined;
}

interface Version {
  readonly name: string;
  readonly storage?: boolean | undefined;
}

interface Spec {
  readonly group: string;
  readonly names: Names;
  readonly scope: string;
  readonly versions: readonly Version[] | null;
  readonly preserveUnknownFields?: boolean | undefined;
  readonly conversion?: TrustedConversion | null | undefined;
}

interface Definition {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Spec;
  readonly status?:
    | {
        readonly conditions?:
          readonly { readonly type: string; readonly status: string }[] | null | undefined;
        storedVersions?: string[] | null | undefined;
      }
    | undefined;
}

const scopes = ["Cluster", "Namespaced"];

/** Checks the spec of a definition: its group, names and versions. */
export function checkSpec(spec: Spec, report: FieldReport, { vocabulary }: KindContext): void {
  const { group, scope, versions } = spec;
  if (group !== "") {
    const faults = dnsSubdomainFaults(group);
    for (const message of faults) report.at("group").invalid(group, message);
    if (faults.length === 0 && !group.includes(".")) {
      report.at("group").invalid(group, "should be a domain with at least one dot");
    }
  }
  if (scope !== "" && !scopes.includes(scope)) report.at("scope").notSupported(scope, scopes);
  for (const name of ["plural", "singular", "kind", "listKind"] as const) {
    if ((spec.names[name] ?? "") === "") report.at("names", name).required();
  }
  const names = (versions ?? []).map(({ name }) => name);
  if (new Set(names).size < names.length) {
    report.at("versions").invalid(names, "must contain unique version names");
  }
  if ((versions ?? []).filter(({ storage }) => storage === true).length !== 1) {
    report.at("versions").invalid(names, "must have exactly one version marked as storage version");
  }
  if (spec.preserveUnknownFields === true) {
    const mark = `${vocabulary.schemaExtensionPrefix}preserve-unknown-fields`;
    report
      .at("preserveUnknownFields")
      .invalid(true, `cannot set to true, set ${mark} to true in spec.versions[*].schema instead`);
  }
}

/** Requires that the stored versions are versions of the kind, and contain the current storage version. */
export function checkStoredVersions(
  stored: readonly string[],
  versions: readonly Version[],
  report: FieldReport,
): void {
  if (stored.length === 0) report.invalid(stored, "must have at least one stored version");
  const versionNames = new Set(versions.map(({ name }) => name));
  for (const [index, version] of stored.entries()) {
    if (report.full) return;
    if (!versionNames.has(version)) report.at(index).invalid(version, "must appear in spec.versions");
  }
  const storage = versions.find((version) => version.storage === true)?.name;
  if (storage !== undefined && !stored.includes(storage)) {
    report.invalid(stored, `must have the storage version ${storage}`);
  }
}

/** Adds the storage version to the stored versions. Changes the copy. */
export function noteStoredVersion(copy: {
  readonly spec: Spec;
  status?: { storedVersions?: string[] | undefined } | undefined;
}): void {
  const storage = (copy.spec.versions ?? []).find((version) => version.storage === true)?.name;
  const stored = copy.status?.storedVersions ?? [];
  if (storage === undefined || stored.includes(storage)) return;
  copy.status = { ...copy.status, storedVersions: [...stored, storage] };
}

const checksCaBundle = applies(since("1.31"));

/**
 * Rejects changes of immutable members: those that name stored objects, and, once the kind is served, those that
 * clients rely on.
 */
export function checkDefinitionChange(
  definition: Definition,
  live: Definition,
  report: FieldReport,
  context: KindContext,
): void {
  const { spec } = definition;
  const specReport = report.at("spec");
  const established = (live.status?.conditions ?? []).some(
    ({ type, status }) => type === "Established" && status === "True",
  );
  if (established) {
    unchanged(spec.scope, live.spec.scope, specReport.at("scope"));
    unchanged(spec.names.kind, live.spec.names.kind, specReport.at("names", "kind"));
    // A new definition with an invalid bundle is not established, and an invalid one may stay invalid.
    const isInvalid = checksCaBundle(context) && hasInvalidCaBundle(spec.conversion);
    if (isInvalid && !hasInvalidCaBundle(live.spec.conversion)) {
      specReport
        .at("conversion", "webhookClientConfig", "caBundle")
        .invalid(spec.conversion?.webhook?.clientConfig?.caBundle, "must have a valid certificate in PEM");
    }
  }
  unchanged(spec.group, live.spec.group, specReport.at("group"));
  unchanged(spec.names.plural, live.spec.names.plural, specReport.at("names", "plural"));
}

/** Requires an annotation of approval for kinds in protected groups: the URL of a review, or `unapproved` and a reason. */
export function checkApproval(
  definition: Definition,
  live: Definition | undefined,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const { group } = definition.spec;
  const isProtected = [vocabulary.groupSuffix, vocabulary.domain].some((domain) => isInDomain(domain, group));
  if (!isProtected) return;
  const annotation = subdomain(vocabulary.domain, "api-approved");
  const word = definition.metadata.annotations?.[annotation] ?? "";
  const before = live?.metadata.annotations?.[annotation] ?? "";
  if (live !== undefined && approvalOf(word) === approvalOf(before)) return;
  const annotationsReport = report.at("metadata", "annotations").key(annotation);
  const advice = "must be the URL of the approval, or start with 'unapproved' and give the reason";
  if (approvalOf(word) === "missing") {
    annotationsReport.required(`protected groups must have approval annotation ${annotation}: it ${advice}`);
  } else if (approvalOf(word) === "invalid") annotationsReport.invalid(word, advice);
}

/** Classifies the value of the annotation of approval. */
export function approvalOf(word: string): "missing" | "bypassed" | "approved" | "invalid" {
  if (word === "") return "missing";
  if (word.startsWith("unapproved")) return "bypassed";
  const url = URL.canParse(word) ? new URL(word) : undefined;
  return url !== undefined && url.host !== "" ? "approved" : "invalid";
}
