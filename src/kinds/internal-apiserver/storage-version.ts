import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int64, list, string, time } from "../../schema/types.ts";
import { uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { dns1035LabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { dnsSubdomain, qualifiedName } from "../checks/names.ts";

interface ServerVersions {
  readonly apiServerID?: string | undefined;
  readonly encodingVersion?: string | undefined;
  readonly decodableVersions?: readonly string[] | undefined;
}

/** Requires the name of a resource with its group in front: `group.resource`. */
function checkName(name: string, report: FieldReport): void {
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
function checkServer(server: ServerVersions, report: FieldReport): void {
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
function checkStatus(status: Status, report: FieldReport): void {
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
function versionsText(versions: readonly ServerVersions[]): string {
  if (versions.length === 0) return "<unset>";
  const shown = versions
    .slice(0, maxShown)
    .map(({ apiServerID = "", encodingVersion = "" }) => `${apiServerID}=${encodingVersion}`)
    .join(",");
  return versions.length > maxShown ? `${shown} + ${versions.length - maxShown} more...` : shown;
}

const StorageVersionSpec = struct(
  "StorageVersionSpec",
  "Empty specification; the storage versions are in the status.",
  {},
);

const ServerStorageVersion = struct(
  "ServerStorageVersion",
  "Versions that one server stores and can decode.",
  {
    apiServerID: field(1, string, "Identifier of the server."),
    encodingVersion: field(2, string, "Version in which the server stores objects."),
    decodableVersions: field(3, list(string), "Versions that the server can decode.").set(),
  },
  { check: checkServer },
);

const StorageVersionCondition = struct("StorageVersionCondition", "A condition of a StorageVersion.", {
  type: field(1, string, "Type of the condition, such as AllEncodingVersionsEqual.")
    .declaredRequired()
    .knownValues("AllEncodingVersionsEqual"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  observedGeneration: field(3, int64, "Generation for which the condition was set."),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(5, string, "Machine-readable reason in CamelCase.").declaredRequired(),
  message: field(6, string, "Human-readable details."),
});

const StorageVersionStatus = struct(
  "StorageVersionStatus",
  "Versions that the servers store and can decode.",
  {
    storageVersions: field(1, list(ServerStorageVersion), "Versions of each server.")
      .mapBy("apiServerID")
      .check(uniqueBy((one) => one.apiServerID, "apiServerID")),
    commonEncodingVersion: field(
      2,
      string,
      "Version in which all servers store objects; absent if they differ.",
    ).nullable(),
    conditions: field(
      3,
      list(StorageVersionCondition),
      "Conditions of the object, at most one per type.",
    ).mapBy("type"),
  },
  { check: checkStatus },
);

export const StorageVersion = kind({
  name: "StorageVersion",
  resource: "storageversions",
  singular: "storageversion",
  scope: "Cluster",
  allowUnconditionalUpdate: false,
  nameForm: "pathSegment",
  servedByDefault: false,
  doc: "The versions in which servers store the objects of one resource.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; its name is `group.resource`.").emitEmpty(),
    spec: field(2, StorageVersionSpec, "Empty object; the versions are in the status.").required(),
    status: field(3, StorageVersionStatus, "Versions that the servers store and can decode.").required(),
  },
  validateCreate({ metadata: { name = "", generateName = "" } }, report) {
    if (name !== "") checkName(name, report.at("metadata", "name"));
    if (generateName !== "") checkName(generateName, report.at("metadata", "generateName"));
  },
  status: {
    initial: () => ({}),
    keepsMetadata: "all",
  },
  columns: [
    nameColumn,
    {
      name: "CommonEncodingVersion",
      type: "string",
      doc: "Version in which all servers store objects.",
      cell: ({ status }) => status.commonEncodingVersion ?? "<unset>",
    },
    {
      name: "StorageVersions",
      type: "string",
      doc: "Version in which each server stores objects.",
      cell: ({ status }) => versionsText(status.storageVersions ?? []),
    },
    ageColumn,
  ],
});
export type StorageVersion = ObjectFor<typeof StorageVersion>;
