import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, list, string, type Static } from "../../schema/types.ts";
import { checkOperations, maxOperations, Operation } from "../transactions/transaction.ts";
import { WorkspaceObjectChange } from "./changes.ts";

/** Limits of the time for which a preview waits for controllers, and for which its branch is kept, in seconds. */
const defaultTimeoutSeconds = 30;
const maxTimeoutSeconds = 300;
const minKeepSeconds = 10;

const WorkspacePreviewSpec = struct("WorkspacePreviewSpec", "Operations to try, and where.", {
  workspace: field(
    1,
    string,
    "Name of the workspace of which a branch is made; by default the server outside of workspaces.",
  ),
  operations: field(
    2,
    list(Operation),
    `Operations in their order, 1 to ${maxOperations}; each is a request of its own, and the others run if it fails.`,
  )
    .atomic()
    .required(),
  timeoutSeconds: field(
    3,
    int32,
    `Time for the controllers to settle, 1 to ${maxTimeoutSeconds}; by default ${defaultTimeoutSeconds}.`,
  ).nullable(),
  keepSeconds: field(
    4,
    int32,
    `Seconds for which the branch exists, at least ${minKeepSeconds}; by default it is deleted when the preview ends.`,
  ).nullable(),
  namespace: field(5, string, "Namespace of objects that name none and whose kind has one."),
});
export type WorkspacePreviewSpec = Static<typeof WorkspacePreviewSpec>;

const WorkspacePreviewResult = struct("WorkspacePreviewResult", "Result of an operation.", {
  operation: field(
    1,
    string,
    'The operation in words, such as `apply deployments "web" in namespace "shop"`.',
  ).required(),
  code: field(2, int32, "HTTP status code of the operation.").required(),
  message: field(3, string, "Reason of its failure; absent if it succeeded."),
  warnings: field(4, list(string), "Warnings of the operation.").atomic(),
});
export type WorkspacePreviewResult = Static<typeof WorkspacePreviewResult>;

const WorkspacePreviewStatus = struct("WorkspacePreviewStatus", "Changes that the operations would cause.", {
  message: field(1, string, "Summary in a sentence."),
  results: field(2, list(WorkspacePreviewResult), "Results of the operations, in their order.").atomic(),
  objects: field(
    3,
    list(WorkspaceObjectChange),
    "Objects in which the operations themselves made a difference; at most 2000.",
  ).atomic(),
  consequences: field(
    4,
    list(WorkspaceObjectChange),
    "Objects in which others, such as controllers, made a difference afterwards; at most 2000.",
  ).atomic(),
  moreObjects: field(5, int32, "Number of objects beyond those in `objects` and `consequences`."),
  hidden: field(6, int32, "Number of objects that are left out because you may not read them."),
  settled: field(
    7,
    bool,
    "Whether the controllers had nothing left to do in the end; otherwise the result may be incomplete.",
  ),
  workspace: field(8, string, "Name of the branch, if it is kept."),
  notes: field(9, list(string), "Effects that the preview doesn't show.").atomic(),
});
export type WorkspacePreviewStatus = Static<typeof WorkspacePreviewStatus>;

/** Shows what operations would do, controllers included, in a branch that is deleted afterwards. It is never stored. */
export const WorkspacePreview = kind({
  name: "WorkspacePreview",
  resource: "workspacepreviews",
  singular: "workspacepreview",
  scope: "Cluster",
  doc: "Shows what operations would do to the objects of the server or of a workspace, controllers included.",
  verbs: ["create"],
  servedByDefault: false,
  fields: {
    metadata: field(1, ObjectMeta, "Object metadata; it has no effect.").emitEmpty(),
    spec: field(2, WorkspacePreviewSpec, "Operations to try, and where.").required(),
    status: field(
      3,
      WorkspacePreviewStatus,
      "Changes that the operations would cause, set by the server.",
    ).emitEmpty(),
  },
  validate({ spec: { operations, timeoutSeconds, keepSeconds } }, report) {
    const at = report.at("spec");
    checkOperations(operations ?? [], at.at("operations"));
    if (typeof timeoutSeconds === "number" && (timeoutSeconds < 1 || timeoutSeconds > maxTimeoutSeconds))
      at.at("timeoutSeconds").invalid(timeoutSeconds, `must be between 1 and ${maxTimeoutSeconds}`);
    if (typeof keepSeconds === "number" && keepSeconds < minKeepSeconds)
      at.at("keepSeconds").invalid(keepSeconds, `must be at least ${minKeepSeconds}`);
  },
});
export type WorkspacePreview = ObjectFor<typeof WorkspacePreview>;

/** Returns the time for the controllers to settle, in milliseconds. */
export function settleTimeMs({ timeoutSeconds }: WorkspacePreviewSpec): number {
  return (timeoutSeconds ?? defaultTimeoutSeconds) * 1000;
}
