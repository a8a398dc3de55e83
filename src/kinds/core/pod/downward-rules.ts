import { qualifiedNameFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { quantityFrom } from "../../quantities.ts";

/** A reference to a field of the pod. */
export interface FieldRef {
  readonly apiVersion?: string | undefined;
  readonly fieldPath: string;
}

/** A reference to a resource of a container. */
export interface ResourceRef {
  readonly containerName?: string | undefined;
  readonly resource: string;
  readonly divisor?: string | undefined;
}

/** All fields that the downward API supports, in variables or files. */
const knownPaths = new Set([
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.serviceAccountName",
  "spec.schedulerName",
  "status.hostIP",
  "status.podIP",
  "status.podIPs",
]);

/** Splits a path such as `metadata.labels['app']` into map and key; undefined for a path without a key. */
function subscriptOf(path: string): { readonly map: string; readonly key: string } | undefined {
  const at = path.lastIndexOf("['", path.length - "['']".length);
  if (at < 1 || !path.endsWith("']")) return undefined;
  return { map: path.slice(0, at), key: path.slice(at + 2, -2) };
}

/** Requires one of the `allowed` fields, or a label or annotation with its key. */
export function checkFieldRef(ref: FieldRef, allowed: readonly string[], report: FieldReport): void {
  const path = ref.fieldPath;
  if (path === "") return;
  if (ref.apiVersion !== undefined && ref.apiVersion !== "v1") {
    report.at("fieldPath").invalid(path, `version ${ref.apiVersion} of pods isn't known`);
    return;
  }
  const subscript = subscriptOf(path);
  if (subscript !== undefined) {
    const { map, key } = subscript;
    if (map !== "metadata.annotations" && map !== "metadata.labels") {
      report.at("fieldPath").invalid(path, "this field takes no key");
      return;
    }
    const name = map === "metadata.annotations" ? key.toLowerCase() : key;
    for (const message of qualifiedNameFaults(name)) report.invalid(key, message);
    return;
  }
  if (!knownPaths.has(path)) report.at("fieldPath").invalid(path, "no such field can be told to a container");
  else if (!allowed.includes(path)) report.at("fieldPath").notSupported(path, allowed);
}

const resources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const resourcePrefixes = ["limits.hugepages-", "requests.hugepages-"];
const byteDivisors = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/**
 * Checks a resource reference and its divisor.
 *
 * @param inVolume files name the container; variables refer to their own.
 */
export function checkResourceRef(ref: ResourceRef, inVolume: boolean, report: FieldReport): void {
  if (inVolume && (ref.containerName ?? "") === "") report.at("containerName").required();
  if (ref.resource === "") return;
  const isSupported =
    resources.includes(ref.resource) || resourcePrefixes.some((prefix) => ref.resource.startsWith(prefix));
  if (!isSupported) {
    report.at("resource").notSupported(ref.resource, resources);
    return;
  }
  checkDivisor(ref, report.at("divisor"));
}

function checkDivisor({ resource, divisor = "0" }: ResourceRef, report: FieldReport): void {
  const divisorNanos = quantityFrom(divisor)?.nanos;
  if (divisorNanos === undefined || divisorNanos === 0n) return;
  const allowed = resource.endsWith(".cpu") ? ["1m", "1"] : byteDivisors;
  if (allowed.some((one) => quantityFrom(one)?.nanos === divisorNanos)) return;
  report.invalid(divisor, `for this resource it is one of ${allowed.join(", ")}`);
}
