import { labelKey } from "../../vocabulary/names.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import { deepClone } from "../../base/json/value.ts";
import { kind, struct } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string, time } from "../../schema/types.ts";
import { isQualifiedFinalizer, notQualified } from "../checks/finalizers.ts";
import { ageColumn, nameColumn } from "../columns.ts";

const NamespaceSpec = struct("NamespaceSpec", "Finalizers of a namespace.", {
  finalizers: field(
    1,
    list(string),
    "Names of finalizers; the namespace is removed only when the list is empty.",
  )
    .atomic()
    .knownValues((vocabulary) => vocabulary.namespaceFinalizer),
});

const NamespaceCondition = struct("NamespaceCondition", "A condition of a Namespace.", {
  type: field(1, string, "Type of the condition, such as NamespaceContentRemaining.")
    .required()
    .knownValues(
      "NamespaceContentRemaining",
      "NamespaceDeletionContentFailure",
      "NamespaceDeletionDiscoveryFailure",
      "NamespaceDeletionGroupVersionParsingFailure",
      "NamespaceFinalizersRemaining",
    ),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .required()
    .knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(5, string, "Machine-readable reason in CamelCase."),
  message: field(6, string, "Human-readable details."),
});

const NamespaceStatus = struct("NamespaceStatus", "Observed state of a Namespace.", {
  phase: field(1, string, "Phase of the namespace: Active or Terminating.")
    .oneOf("Active", "Terminating")
    .unchecked(),
  conditions: field(2, list(NamespaceCondition), "Conditions of the object, at most one per type.")
    .mapBy("type")
    .patchMerge("type"),
});

/** A namespace is deleted with its content (spec: conventions 3.1). */
export const Namespace = kind({
  name: "Namespace",
  resource: "namespaces",
  singular: "namespace",
  shortNames: ["ns"],
  scope: "Cluster",
  doc: "A scope for names; deleting it deletes all objects in it.",
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  nameForm: "label",
  effect: {
    enforced:
      "nothing is created in a namespace that is missing or terminating; its labels `pod-security.<domain>/…` limit what its pods may do",
    acts: "the controller `namespace` deletes the content of a terminating namespace; `serviceaccount` makes an account in each",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the namespace.").emitEmpty(),
    spec: field(2, NamespaceSpec, "Finalizers of the namespace.").emitEmpty(),
    status: field(3, NamespaceStatus, "Observed state of the Namespace.").emitEmpty(),
  },
  selectable: {
    "status.phase": (namespace) => namespace.status?.phase ?? "",
    name: (namespace) => namespace.metadata.name ?? "",
  },
  fillDefaults(copy, { vocabulary }) {
    copy.status = { phase: "Active", ...copy.status };
    const name = copy.metadata.name;
    if (name === undefined || name === "") return;
    copy.metadata.labels = { ...copy.metadata.labels, [labelKey(vocabulary.domain, "metadata.name")]: name };
  },
  prepareCreate(copy, { vocabulary }) {
    const finalizers = copy.spec?.finalizers ?? [];
    const own = vocabulary.namespaceFinalizer;
    copy.spec = { ...copy.spec, finalizers: finalizers.includes(own) ? finalizers : [...finalizers, own] };
  },
  prepareUpdate(copy, live) {
    // A copy, because admission also gets the live object and must not change it.
    const finalizers = deepClone(live.spec?.finalizers);
    copy.spec = { ...copy.spec, finalizers };
    if (finalizers === undefined) delete copy.spec.finalizers;
  },
  validate({ spec }, report, { vocabulary, subresource }) {
    const list = report.at("spec", "finalizers");
    for (const [index, name] of (spec?.finalizers ?? []).entries()) {
      if (list.full) return;
      // Reported as in the reference: at the item only for the subresource `finalize`.
      const finalizerReport = subresource === "finalize" ? list.at(index) : list;
      for (const message of qualifiedNameFaults(name)) finalizerReport.invalid(name, message);
      if (!isQualifiedFinalizer(name, vocabulary)) finalizerReport.invalid(name, notQualified);
    }
  },
  validateUpdate({ status }, live, report, { subresource }) {
    if (subresource !== "status") return;
    const phase = live.metadata.deletionTimestamp === undefined ? "Active" : "Terminating";
    if (status?.phase !== phase)
      report
        .at("status", "phase")
        .invalid(
          status?.phase,
          `must be ${phase}, as the deletion has${phase === "Active" ? "n't" : ""} begun`,
        );
  },
  isFinalized: (namespace) => (namespace.spec?.finalizers ?? []).length === 0,
  prepareDelete(copy) {
    copy.status = { ...copy.status, phase: "Terminating" };
  },
  status: {
    initial: () => ({ phase: "Active" }),
  },
  subresources: {
    finalize: {
      verbs: ["update"],
      merge(copy, written) {
        const { finalizers: _, ...spec } = copy.spec ?? {};
        const left = written.spec?.finalizers ?? [];
        copy.spec = left.length === 0 ? spec : { ...spec, finalizers: left };
      },
    },
  },
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Phase of the namespace: Active or Terminating.",
      cell: (namespace) => namespace.status?.phase ?? "",
    },
    ageColumn,
  ],
});
export type Namespace = ObjectFor<typeof Namespace>;

/** Returns true if a namespace is terminating; then nothing can be created in it. */
export function isTerminating(namespace: ApiObject): boolean {
  const status = namespace.status as { phase?: string } | undefined;
  return namespace.metadata.deletionTimestamp !== undefined || status?.phase === "Terminating";
}
