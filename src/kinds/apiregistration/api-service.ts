import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, bytes, field, int32, list, string, time } from "../../schema/types.ts";
import { dns1035Label, dnsSubdomain } from "../checks/names.ts";
import { between, portNumber } from "../checks/numbers.ts";
import { each } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";

const ServiceReference = struct("ServiceReference", "Reference to a Service.", {
  namespace: field(1, string, "Namespace of the service.").mustBeGiven(),
  name: field(2, string, "Name of the service.").mustBeGiven(),
  port: field(3, int32, "Port of the Service. Default: 443.")
    .nullable()
    .unpublishedDefault(443)
    .check(portNumber),
});

const statuses = ["False", "True", "Unknown"];

function checkCondition({ status }: { readonly status: string }, report: FieldReport): void {
  if (!statuses.includes(status)) report.at("status").notSupported(status, statuses);
}

interface Spec {
  readonly service?: unknown;
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly insecureSkipTLSVerify?: boolean | undefined;
  readonly caBundle?: string | undefined;
}

function checkSpec(spec: Spec, report: FieldReport): void {
  const { group = "", version = "", caBundle, insecureSkipTLSVerify: insecure = false } = spec;
  if (group !== "") dnsSubdomain(group, report.at("group"));
  else if (version !== "v1") report.at("group").required("only the core group's v1 has an empty group");
  dns1035Label(version, report.at("version"));
  if (spec.service === undefined) {
    const message = "local APIServices may not have it";
    if (caBundle !== undefined) report.at("caBundle").invalid(`${caBundle.length} characters`, message);
    if (insecure) report.at("insecureSkipTLSVerify").invalid(insecure, message);
  } else if (insecure && caBundle !== undefined) {
    report.at("insecureSkipTLSVerify").invalid(insecure, "may not be true if caBundle is present");
  }
}

const APIServiceSpec = struct(
  "APIServiceSpec",
  "A group version and the server that serves it.",
  {
    service: field(
      1,
      ServiceReference,
      "Service that serves the group version; absent if this server does.",
    ).nullable(),
    group: field(2, string, "Name of the API group."),
    version: field(3, string, "Name of the API version."),
    insecureSkipTLSVerify: field(4, bool, "Whether to skip the verification of the Service's certificate."),
    caBundle: field(5, bytes, "CA certificates (PEM) for verifying the Service's certificate."),
    groupPriorityMinimum: field(
      7,
      int32,
      "Priority of the group, 1 to 20000; groups with higher values come first in discovery.",
    )
      .required()
      .check(between(1, 20_000)),
    versionPriority: field(
      8,
      int32,
      "Priority of the version in its group, 1 to 1000; higher values come first in discovery.",
    )
      .required()
      .check(between(1, 1000)),
  },
  { check: checkSpec },
);

const APIServiceCondition = struct("APIServiceCondition", "A condition of an APIService.", {
  type: field(1, string, "Type of the condition; always Available.")
    .declaredRequired()
    .knownValues("Available"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(4, string, "Machine-readable reason in CamelCase."),
  message: field(5, string, "Human-readable details."),
});

const APIServiceStatus = struct("APIServiceStatus", "Observed state of an APIService.", {
  conditions: field(1, list(APIServiceCondition), "Conditions of the object, at most one per type.")
    .mapBy("type")
    .patchMerge("type")
    .check(each(checkCondition)),
});

/** Returns the condition of an APIService that this server serves itself; it is available at once. */
function localCondition({ creationTimestamp }: ApiObject["metadata"]) {
  return {
    type: "Available",
    status: "True",
    ...(creationTimestamp === undefined || creationTimestamp === null
      ? {}
      : { lastTransitionTime: creationTimestamp }),
    reason: "Local",
    message: "Local APIServices are always available",
  };
}

interface Available {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
}

function availableText(conditions: readonly Available[]): string {
  const condition = conditions.find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  const { status, reason = "" } = condition;
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}

export const APIService = kind({
  name: "APIService",
  resource: "apiservices",
  singular: "apiservice",
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  nameForm: "pathSegment",
  doc: "Registers a group version and the server that serves it.",
  effect: {
    acts: "requests for its group version are passed on to the service while that can be reached",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the API service; its name is `version.group`.").emitEmpty(),
    spec: field(2, APIServiceSpec, "The group version and the server that serves it.").emitEmpty(),
    status: field(3, APIServiceStatus, "Observed availability of the group version.").emitEmpty(),
  },
  validate({ metadata, spec }, report) {
    const required = `${spec?.version ?? ""}.${spec?.group ?? ""}`;
    const { name = "" } = metadata;
    if (name !== required) {
      report
        .at("metadata", "name")
        .invalid(name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`);
    }
  },
  status: {
    initial: (copy) =>
      copy.spec?.service === undefined ? { conditions: [localCondition(copy.metadata)] } : {},
    keepsMetadata: ["labels", "annotations", "finalizers", "ownerReferences"],
  },
  columns: [
    nameColumn,
    {
      name: "Service",
      type: "string",
      doc: "Service that serves the group version.",
      cell: ({ spec }) =>
        spec?.service === undefined ? "Local" : `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}`,
    },
    {
      name: "Available",
      type: "string",
      doc: "Whether the group version is available.",
      cell: ({ status }) => availableText(status?.conditions ?? []),
    },
    ageColumn,
  ],
});
export type APIService = ObjectFor<typeof APIService>;
