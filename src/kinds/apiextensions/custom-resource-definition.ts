import { kind, struct } from "./v1.ts";
import { decode } from "../../schema/decode.ts";
import type { ObjectFor, ApiObject } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, bool, field, list, string, bytes, int32 } from "../../schema/types.ts";
import { CustomResourceDefinitionStatus } from "./custom-resource-definition-status.ts";
import {
  checkApproval,
  checkDefinitionChange,
  checkSpec,
  checkStoredVersions,
  noteStoredVersion,
} from "./definition-rules.ts";
import { beginDeletion } from "./deletion.ts";
import { checkRules } from "./expression-rules.ts";
import { CustomResourceDefinitionNames } from "./names.ts";
import { CustomResourceDefinitionVersion } from "./version.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { reviewVersions, webhookClient, type WebhookClient } from "../checks/webhooks.ts";
import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { Cause } from "../../base/status-error.ts";
import { since, type Released } from "../../base/release-rows.ts";
import type { Column } from "../../schema/columns.ts";
import { createdColumn, nameColumn } from "../columns.ts";

/** The fields of a definition that its columns show. */
interface ShownDefinition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly shortNames?: readonly string[] | undefined };
    readonly versions:
      readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[] | null;
  };
  readonly status?:
    | {
        readonly conditions?:
          readonly { readonly type: string; readonly status: string }[] | null | undefined;
      }
    | undefined;
}

const scope: Column<ShownDefinition> = {
  name: "Scope",
  type: "string",
  doc: "Scope of the objects.",
  cell: ({ spec }) => spec.scope,
};

const versions: Column<ShownDefinition> = {
  name: "Versions",
  type: "string",
  doc: "The served versions.",
  cell: ({ spec }) =>
    (spec.versions ?? [])
      .filter(({ served }) => served)
      .map(({ name, storage }) => (storage ? `${name}(storage)` : name))
      .toSorted()
      .join(","),
};

const wide: readonly Column<ShownDefinition>[] = [
  { name: "Group", type: "string", priority: 1, doc: "The API group.", cell: ({ spec }) => spec.group },
  {
    name: "Kind",
    type: "string",
    priority: 1,
    doc: "Kind of the custom objects.",
    cell: ({ spec }) => spec.names.kind,
  },
  {
    name: "ShortNames",
    type: "string",
    priority: 1,
    doc: "The short names.",
    cell: ({ spec }) => (spec.names.shortNames ?? []).join(","),
  },
  {
    name: "Established",
    type: "boolean",
    priority: 1,
    doc: "Whether the kind is served.",
    cell: ({ status }) =>
      (status?.conditions ?? []).some((one) => one.type === "Established" && one.status === "True"),
  },
];

/** The columns of CustomResourceDefinitions. */
const definitionColumns: readonly Released<Column<ShownDefinition & ApiObject>>[] = [
  nameColumn,
  ...[scope, versions].map((column) => since("1.37", column)),
  createdColumn,
  ...wide.map((column) => since("1.37", column)),
];

interface Version {
  readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
  readonly subresources?: unknown;
  readonly additionalPrinterColumns?: unknown;
}

interface Definition {
  readonly spec: { readonly versions: readonly Version[] | null };
}

/** Members that all versions may have in common, with their name in v1beta1, where they occur once. */
const membersOfAll = new Map<string, string>([
  ["schema", "validation"],
  ["subresources", "subresources"],
  ["additionalPrinterColumns", "additionalPrinterColumns"],
]);

const inVersion = /^spec\.versions\[(\d+)\]\.(\w+)(.*)$/s;

/**
 * Returns faults of a definition with the paths of the reference. It validates the internal version, in which members
 * that all versions have in common occur once: `spec.validation`, `spec.subresources` and
 * `spec.additionalPrinterColumns`.
 */
function shownFaults(faults: readonly Cause[], { spec }: Definition): readonly Cause[] {
  const [first, ...others] = spec.versions ?? [];
  if (first === undefined) return faults;
  const shared = new Set(
    [...membersOfAll.keys()].filter((name) => {
      const value = memberOf(first, name);
      return value !== undefined && others.every((one) => deepEqual(value, memberOf(one, name) ?? null));
    }),
  );
  return faults.flatMap((cause) => {
    const [, index, name = "", rest] = inVersion.exec(cause.field) ?? [];
    if (!shared.has(name)) return [cause];
    return index === "0" ? [{ ...cause, field: `spec.${membersOfAll.get(name)}${rest}` }] : [];
  });
}

/** Returns a member of a version; undefined if the version has no schema. */
function memberOf(version: Version, name: string): JsonValue | undefined {
  if (name === "schema" && version.schema?.openAPIV3Schema === undefined) return undefined;
  return version[name as keyof Version] as JsonValue | undefined;
}

interface Conversion {
  readonly strategy: string;
  readonly webhook?:
    | {
        readonly clientConfig?: WebhookClient | undefined;
        readonly conversionReviewVersions: readonly string[] | null;
      }
    | undefined;
}

const strategies = ["None", "Webhook"];

/** Requires a webhook exactly if the strategy is Webhook. Faults have the field names of the reference. */
function checkConversion({ strategy, webhook }: Conversion, report: FieldReport): void {
  if (strategy !== "" && !strategies.includes(strategy)) {
    report.at("strategy").notSupported(strategy, strategies);
  }
  const client = report.at("webhookClientConfig");
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === "Webhook") {
    if (webhook?.clientConfig === undefined) client.required("required when strategy is set to Webhook");
    else webhookClient(webhook.clientConfig, client);
    reviewVersions(versions, report.at("conversionReviewVersions"));
    return;
  }
  const message = "should not be set when strategy is not set to Webhook";
  if (webhook?.clientConfig !== undefined) client.forbidden(message);
  if (versions.length > 0) report.at("conversionReviewVersions").forbidden(message);
}

const ServiceReference = struct("ServiceReference", "Reference to the Service of a webhook.", {
  namespace: field(1, string, "Namespace of the service.").declaredRequired(),
  name: field(2, string, "Name of the service.").declaredRequired(),
  path: field(3, string, "URL path of the request.").nullable(),
  port: field(4, int32, "Port of the Service. Default: 443.").nullable().unpublishedDefault(443),
});

const WebhookClientConfig = struct("WebhookClientConfig", "The address of a webhook: a URL or a Service.", {
  service: field(1, ServiceReference, "Service of the webhook; not together with `url`.").nullable(),
  caBundle: field(2, bytes, "CA certificates (PEM) for verifying the webhook's certificate."),
  url: field(3, string, "URL of the webhook: `https`, without user, query and fragment.").nullable(),
});

const WebhookConversion = struct("WebhookConversion", "The webhook that converts objects between versions.", {
  clientConfig: field(2, WebhookClientConfig, "The address of the webhook.").nullable(),
  conversionReviewVersions: field(
    3,
    list(string),
    "Versions of ConversionReview that the webhook supports, in order of preference.",
  )
    .declaredRequired()
    .atomic(),
});

const CustomResourceConversion = struct(
  "CustomResourceConversion",
  "Conversion of objects between versions.",
  {
    strategy: field(1, string, "None changes only `apiVersion`; Webhook calls the webhook.")
      .required()
      .knownValues("None", "Webhook"),
    webhook: field(2, WebhookConversion, "The webhook; only for the strategy Webhook.").nullable(),
  },
  { check: checkConversion },
);

const CustomResourceDefinitionSpec = struct(
  "CustomResourceDefinitionSpec",
  "A custom kind: its group, names, scope and versions.",
  {
    group: field(1, string, "API group of the resource.").required(),
    names: field(3, CustomResourceDefinitionNames, "Names of the resource and the kind.").required(),
    scope: field(4, string, "Scope of the objects: Cluster or Namespaced.")
      .required()
      .knownValues("Cluster", "Namespaced"),
    versions: field(7, list(CustomResourceDefinitionVersion), "Versions of the kind.")
      .declaredRequired()
      .atomic(),
    conversion: field(
      9,
      CustomResourceConversion,
      "Conversion of objects between versions. Default: the strategy None.",
    )
      .nullable()
      .unpublishedDefault({ strategy: "None" }),
    preserveUnknownFields: field(10, bool, "Deprecated; must be false."),
  },
  {
    fill({ names }) {
      names.singular ??= names.kind.toLowerCase();
      if (names.kind !== "") names.listKind ??= `${names.kind}List`;
    },
    check: checkSpec,
  },
);

/** Returns the status of a new definition. It contains the members that are always written. */
function emptyStatus(): Static<typeof CustomResourceDefinitionStatus> {
  return decode(CustomResourceDefinitionStatus, {}).value as Static<typeof CustomResourceDefinitionStatus>;
}

export const CustomResourceDefinition = kind({
  name: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  singular: "customresourcedefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  hasPrefixedFields: true,
  doc: "Defines a custom kind, which the server then serves.",
  effect: {
    acts: "the kind that it defines is served",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the definition; its name is `plural.group`.").emitEmpty(),
    spec: field(2, CustomResourceDefinitionSpec, "The custom kind.").required(),
    status: field(3, CustomResourceDefinitionStatus, "The observed state of the definition.").emitEmpty(),
  },
  fillDefaults(copy) {
    if ((copy.status?.storedVersions ?? []).length === 0) noteStoredVersion(copy);
  },
  generationOf: ({ spec }) => spec,
  prepareCreate(copy) {
    noteStoredVersion(copy);
  },
  prepareUpdate(copy) {
    noteStoredVersion(copy);
  },
  validate({ metadata, spec, status }, report) {
    const required = `${spec.names.plural}.${spec.group}`;
    if (metadata.name !== required) {
      report
        .at("metadata", "name")
        .invalid(metadata.name, `must be spec.names.plural+"."+spec.group: ${required}`);
    }
    checkStoredVersions(
      status?.storedVersions ?? [],
      spec.versions ?? [],
      report.at("status", "storedVersions"),
    );
  },
  validateCreate: (definition, report, context) => checkApproval(definition, undefined, report, context),
  validateUpdate(definition, live, report, context) {
    checkDefinitionChange(definition, live, report, context);
    checkApproval(definition, live, report, context);
  },
  validateLast: checkRules,
  convertFaults: shownFaults,
  beginDelete: (copy, { vocabulary }) => beginDeletion(copy, vocabulary),
  status: {
    initial: emptyStatus,
  },
  columns: definitionColumns,
});
export type CustomResourceDefinition = ObjectFor<typeof CustomResourceDefinition>;
