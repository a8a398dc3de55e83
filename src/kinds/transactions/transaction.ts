import { kind, struct } from "./v1alpha1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, int64, json, list, string, type Static } from "../../schema/types.ts";

/** Maximum number of operations of a transaction. */
export const maxOperations = 512;

const operationVerbs = ["create", "update", "patch", "apply", "delete"] as const;
const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
] as const;

const OperationPreconditions = struct(
  "OperationPreconditions",
  "Conditions under which the object is deleted.",
  {
    uid: field(1, string, "The uid that the object must have."),
    resourceVersion: field(2, string, "The resource version that the object must have."),
  },
);

export const Operation = struct("Operation", "A write of one object.", {
  verb: field(1, string, "Verb of the operation.")
    .required()
    .oneOf(...operationVerbs),
  apiVersion: field(2, string, "API version of the object; by default that of `object`."),
  kind: field(3, string, "Kind of the object; by default that of `object`."),
  namespace: field(
    4,
    string,
    "Namespace of the object; by default that of `object`. Absent if the kind is cluster-scoped.",
  ),
  name: field(5, string, "Name of the object; by default that of `object`."),
  subresource: field(
    6,
    string,
    "Subresource to write, such as `status` or `scale`; by default the object itself.",
  ),
  object: field(7, json, "The object to create, the new state for an update, or the configuration to apply."),
  patch: field(8, json, "The patch; only for the verb patch."),
  patchType: field(9, string, "Content type of the patch; only for the verb patch.").knownValues(
    ...patchTypes,
  ),
  fieldManager: field(10, string, "Name of the field manager; required for the verb apply."),
  fieldValidation: field(
    11,
    string,
    "Treatment of unknown and duplicate fields: Ignore, Warn or Strict. Defaults to Warn.",
  ),
  force: field(12, bool, "Whether an apply takes over fields of other managers. Defaults to false."),
  propagationPolicy: field(
    13,
    string,
    "Treatment of dependents of a deleted object: Orphan, Background or Foreground; by default that of the kind.",
  ),
  gracePeriodSeconds: field(
    14,
    int64,
    "Grace period of a deletion in seconds; by default that of the kind.",
  ).nullable(),
  preconditions: field(15, OperationPreconditions, "Conditions of a deletion.").nullable(),
});
export type Operation = Static<typeof Operation>;

const TransactionSpec = struct("TransactionSpec", "The operations of a transaction.", {
  operations: field(
    1,
    list(Operation),
    `Operations in their order, 1 to ${maxOperations}; each sees the results of those before it.`,
  )
    .atomic()
    .required(),
});
export type TransactionSpec = Static<typeof TransactionSpec>;

const OperationResult = struct("OperationResult", "Result of an operation.", {
  code: field(1, int32, "HTTP status code that the operation would have if it were sent alone.").required(),
  object: field(2, json, "The written object; for a deletion a Status, or the object if it remains."),
  warnings: field(3, list(string), "Warnings of the operation.").atomic(),
});

const TransactionStatus = struct("TransactionStatus", "Result of a committed transaction.", {
  resourceVersion: field(
    1,
    string,
    "Resource version of all objects that the transaction wrote; absent if it changed nothing, and for a dry run.",
  ),
  results: field(2, list(OperationResult), "Results, in the order of the operations.").atomic(),
});
export type TransactionStatus = Static<typeof TransactionStatus>;

/** Several writes that take effect together, or not at all. It is never stored. */
export const Transaction = kind({
  name: "Transaction",
  resource: "transactions",
  singular: "transaction",
  scope: "Cluster",
  doc: "Writes several objects at one resource version: all of its operations take effect, or none.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, TransactionSpec, "The operations.").required(),
    status: field(3, TransactionStatus, "The results, set by the server.").emitEmpty(),
  },
  validate({ spec }, report) {
    checkOperations(spec.operations ?? [], report.at("spec", "operations"));
  },
});
export type Transaction = ObjectFor<typeof Transaction>;

/** Checks the number of operations, and each of them. */
export function checkOperations(operations: readonly Operation[], report: FieldReport): void {
  if (operations.length === 0) report.required("at least one operation must be given");
  else if (operations.length > maxOperations) report.tooMany(operations.length, maxOperations);
  else for (const [index, operation] of operations.entries()) checkOperation(operation, report.at(index));
}

/** The fields that only some verbs have, and these verbs. */
const verbsOf = {
  object: ["create", "update", "apply"],
  patch: ["patch"],
  patchType: ["patch"],
  fieldManager: ["create", "update", "patch", "apply"],
  fieldValidation: ["create", "update", "patch", "apply"],
  force: ["apply"],
  propagationPolicy: ["delete"],
  gracePeriodSeconds: ["delete"],
  preconditions: ["delete"],
} satisfies Partial<Record<keyof Operation, readonly string[]>>;

function checkOperation(operation: Operation, report: FieldReport): void {
  const { verb } = operation;
  for (const [name, verbs] of Object.entries(verbsOf)) {
    const isGiven = operation[name as keyof Operation] !== undefined;
    if (isGiven && !verbs.includes(verb)) report.at(name).forbidden(`may not be set for the verb ${verb}`);
  }
  if (verbsOf.object.includes(verb)) {
    if (operation.object === undefined) report.at("object").required(`must be set for the verb ${verb}`);
    else if (!isObject(operation.object)) report.at("object").invalid(operation.object, "must be an object");
  } else {
    for (const name of ["apiVersion", "kind", "name"] as const)
      if (!operation[name]) report.at(name).required(`must be set for the verb ${verb}`);
  }
  if (verb === "apply" && !operation.fieldManager)
    report.at("fieldManager").required("must be set for the verb apply");
  if (verb !== "patch") return;
  if (operation.patch === undefined) report.at("patch").required("must be set for the verb patch");
  if (!operation.patchType) report.at("patchType").required("must be set for the verb patch");
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
