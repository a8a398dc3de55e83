import type { WorkspacePreviewSpec, WorkspacePreviewStatus } from "../../kinds/tenancy/workspace-preview.ts";
import { manifestFlags, objectsIn, ownershipFlags, type AppliedObject } from "../apply/applied-objects.ts";
import {
  previewOperation,
  previewOrder,
  type OperationOptions,
  type PreviewOperation,
} from "../../resources/branches/preview-operations.ts";
import { outputFlag, pathOfKind, printsJson, withoutKind } from "../branches/workspace-requests.ts";
import { accessFlags } from "../client/access-flags.ts";
import { ClientError } from "../client/client-error.ts";
import { connected, type Connection } from "../client/connection.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { previewText } from "./preview-text.ts";

const about = `Shows what manifests would do to a server, and what its controllers would do then. The server makes a branch, applies the manifests there
(server-side apply: namespaces first, then definitions, then the other objects in the order of the files), waits until its controllers
have settled, and deletes the branch. Objects that are refused are printed with the reason, and the others are applied.

The exit code is 0, with --exit-code 1 if something would change; 2 for wrong flags, refused objects and all other errors.`;

/** How long a branch remains with --keep, in seconds. */
const keepSeconds = 3600;
/** Limits of --timeout, in milliseconds. */
const minTimeoutMs = 1000;
const maxTimeoutMs = 300_000;
/** The server waits for the controllers at most this number of times. */
const waits = 3;
/** Time for everything else that the server does, in milliseconds. */
const workMs = 60_000;
const errorCode = 2;

/** Every flag of `plinth preview`. */
const previewFlags: readonly Flag[] = [
  ...manifestFlags,
  {
    name: "into",
    type: "string",
    default: "",
    doc: "Workspace of which the branch is made; the default is the server outside of workspaces.",
  },
  {
    name: "delete",
    type: "boolean",
    default: "",
    doc: "Show what deleting the objects would do, in the reverse order, instead of applying them.",
  },
  {
    name: "timeout",
    type: "duration",
    default: "30s",
    doc: "Time for the controllers to settle, at most 5m.",
  },
  {
    name: "exit-code",
    type: "boolean",
    default: "",
    doc: "Exit with 1 if something would change; the default is 0.",
  },
  {
    name: "keep",
    type: "boolean",
    default: "",
    doc: "Keep the branch for an hour, and print its name.",
  },
  ...ownershipFlags,
  outputFlag,
  ...accessFlags,
];

/** Shows what manifests would do. */
export const previewCommand: Command = {
  flags: previewFlags,
  help: () => helpText("plinth preview -f FILE [--into=WORKSPACE] [--delete] [FLAGS]", about, previewFlags),
  async run(words) {
    const read = new FlagReader(previewFlags, parseFlags(previewFlags, words));
    const sources = read.list("filename");
    if (sources.length === 0) throw new UsageError("--filename is needed: the manifests to preview");
    const asJson = printsJson(read);
    const timeoutMs = read.durationMs("timeout");
    if (timeoutMs < minTimeoutMs || timeoutMs > maxTimeoutMs)
      throw new UsageError(`--timeout: ${JSON.stringify(read.text("timeout"))} is not between 1s and 5m`);
    try {
      const all = await objectsIn(sources, read.boolean("recursive") === true);
      const objects = previewOrder(all, ({ object }) => object["kind"], optionsOf(read));
      const status = await connected(read, (connection) => post(connection, read, { objects, timeoutMs }));
      process.stdout.write(asJson ? `${JSON.stringify(status)}\n` : previewText(status));
      return exitCode(status, objects, read);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      process.stderr.write(`plinth: ${error.message}\n`);
      return errorCode;
    }
  },
};

function optionsOf(read: FlagReader): OperationOptions {
  return {
    fieldManager: read.text("field-manager"),
    force: read.boolean("force-conflicts") === true,
    delete: read.boolean("delete") === true,
  };
}

async function post(
  connection: Connection,
  read: FlagReader,
  { objects, timeoutMs }: { readonly objects: readonly AppliedObject[]; readonly timeoutMs: number },
): Promise<WorkspacePreviewStatus> {
  const into = read.optional("into");
  const spec: WorkspacePreviewSpec = {
    ...(into === undefined ? {} : { workspace: withoutKind(into) }),
    namespace: connection.namespace,
    operations: objects.map((one) => operationOf(one, optionsOf(read))),
    timeoutSeconds: Math.round(timeoutMs / 1000),
    ...(read.boolean("keep") === true ? { keepSeconds } : {}),
  };
  const path = pathOfKind(connection, "WorkspacePreview");
  const { status } = await connection.client.post(path, { spec }, waits * timeoutMs + workMs);
  return status as WorkspacePreviewStatus;
}

/** @throws {ClientError} an object to delete has no name. */
function operationOf({ origin, object }: AppliedObject, options: OperationOptions): PreviewOperation {
  const operation = previewOperation(object, options);
  if (operation.verb === "apply" || (operation.name !== "" && object["kind"] && object["apiVersion"]))
    return operation;
  throw new ClientError(`${origin}: apiVersion, kind and metadata.name are needed to delete an object`);
}

/** Prints the refused objects, and returns the exit code. */
function exitCode(
  { results = [], objects = [], consequences = [], moreObjects = 0 }: WorkspacePreviewStatus,
  manifests: readonly AppliedObject[],
  read: FlagReader,
): number {
  let isRefused = false;
  for (const [index, { operation, message }] of results.entries()) {
    if (message === undefined) continue;
    isRefused = true;
    process.stderr.write(`plinth: ${manifests[index]?.origin ?? ""}: ${operation}: ${message}\n`);
  }
  if (isRefused) return errorCode;
  const isChanged = objects.length + consequences.length + moreObjects > 0;
  return isChanged && read.boolean("exit-code") === true ? 1 : 0;
}
