import { dns1035LabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { dnsSubdomain, qualifiedName } from "../checks/names.ts";

interface ServerVersions {
  readonly apiServerID?: string | undefined;
  readonly encodingVersion?: string | undefined;
  readonly decodableVersions?: readonly string[] | undefined;
}

/** Requires the name of a resource with its group in front: `group.resource`. */
export function checkName(name: string, report: FieldReport): void {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return report.invalid(name, "must have the form <group>.<resource>");
  for (const message of dnsSubdomainFaults(name.slice(0, dot))) {
    report.invalid(name, `the group segment ${message}`);
  }
  for (const message of dns1035LabelFaults(name.slice(dot + 1))) {
    report.invalid(name, `the resource segment ${message}`);
  }
}

/** Requires that a server can decode the version that it encodes. */
export function checkServer(server: ServerVersions, report: FieldReport): void {
  const { apiServerID = "", encodingVersion = "", decodableVersions = [] } = server;
  dnsSubdomain(apiServerID, report.at("apiServerID"));
  groupVersion(encodingVersion, report.at("encodingVersion"));
  for (const [index, version] of decodableVersions.entries()) {
    if (report.full) return;
    groupVersion(version, report.at("decodableVersions", index));
  }
  if (!decodableVersions.includes(encodingVersion)) {
    report
      .at("decodableVersions")
      .invalid(decodableVersions, `must include the encoding version ${encodingVersion}`);
  }
}

function groupVersion(text: string, report: FieldReport): void {
  const parts = text.split("/");
  if (parts.length > 2) return report.invalid(text, "must have the form <group>/<version>");
  const version = parts.at(-1)!;
  if (parts.length === 2) dnsSubdomain(parts[0]!, report);
  for (const message of dns1035LabelFaults(version)) report.invalid(text, `the version ${message}`);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string | undefined;
}

interface Status {
  readonly storageVersions?: readonly ServerVersions[] | undefined;
  readonly commonEncodingVersion?: string | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** Checks the common version and the conditions of a status. */
export function checkStatus(status: Status, report: FieldReport): void {
  checkCommon(status, report);
  checkConditions(status.conditions ?? [], report);
}

/** Requires unique and complete conditions; reported at the status, as in the reference. */
function checkConditions(conditions: readonly Condition[], report: FieldReport): void {
  const seen = new Map<string, number>();
  for (const [index, { type, status, reason, message = "" }] of conditions.entries()) {
    if (report.full) return;
    const at = report.at(index);
    const before = seen.get(type);
    if (before !== undefined) {
      at.at("type").invalid(type, `the type is not unique, it also appears in conditions[${before}]`);
    }
    seen.set(type, index);
    qualifiedName(type, at.at("type"));
    qualifiedName(status, at.at("status"));
    if (reason === "") at.at("reason").required("reason cannot be empty");
    if (message === "") at.at("message").required("message cannot be empty");
  }
}

/** Requires the common version exactly if all servers encode the same version. */
function checkCommon(status: Status, report: FieldReport): void {
  const { storageVersions = [], commonEncodingVersion: value } = status;
  const written = new Set(storageVersions.map((one) => one.encodingVersion ?? ""));
  const common = written.size === 1 ? [...written][0] : undefined;
  if (value === common) return;
  report
    .at("commonEncodingVersion")
    .invalid(
      value,
      common === undefined ? "must be absent where servers don't agree" : `the servers agree on ${common}`,
    );
}

const maxShown = 3;

/** Returns the versions that the first three servers encode. */
export function versionsText(versions: readonly ServerVersions[]): string {
  if (versions.length === 0) return "<unset>";
  const shown = versions
    .slice(0, maxShown)
    .map(({ apiServerID = "", encodingVersion = "" }) => `${apiServerID}=${encodingVersion}`)
    .join(",");
  return versions.length > maxShown ? `${shown} + ${versions.length - maxShown} more...` : shown;
}
