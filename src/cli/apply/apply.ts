import { encodeJson } from "../../base/json/encode.ts";
import { isObject, type JsonObject } from "../../base/json/value.ts";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ClientError } from "../client/client-error.ts";
import { ResourceTable } from "../client/resource-table.ts";
import { ServerClient } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { manifestFlags, objectsIn, ownershipFlags, type AppliedObject } from "./applied-objects.ts";

const about = `Applies manifests to a running server in one transaction (server-side apply): all objects are written at one resource
version, or none is. Namespaces come first; otherwise the order is that of the files.`;

/** Every flag of `plinth apply`. */
const applyFlags: readonly Flag[] = [
  ...manifestFlags,
  {
    name: "atomic",
    type: "boolean",
    default: "",
    doc: "Write all objects together, or none. It must be given: kubectl applies objects one by one.",
  },
  ...ownershipFlags,
  { name: "dry-run", type: "boolean", default: "", doc: "Run all checks and write nothing." },
  ...accessFlags,
];

/** Applies manifests in one transaction. */
export const applyCommand: Command = {
  flags: applyFlags,
  help: () => helpText("plinth apply --atomic -f FILE [FLAGS]", about, applyFlags),
  async run(words) {
    const read = new FlagReader(applyFlags, parseFlags(applyFlags, words));
    const sources = read.list("filename");
    if (sources.length === 0) throw new UsageError("--filename is needed: the manifests to apply");
    if (read.boolean("atomic") !== true)
      throw new UsageError("--atomic is needed; `kubectl apply --server-side` applies objects one by one");
    const access = await accessOf(read, process.env);
    const manifests = await objectsIn(sources, read.boolean("recursive") === true);
    const client = new ServerClient(access);
    try {
      const table = await ResourceTable.read(client);
      const group = table.resources.find(({ kind }) => kind === "Transaction");
      if (group === undefined)
        throw new ClientError(
          "the server serves no transactions; start it with --runtime-config=api/alpha=true; nothing was written",
        );
      const namespace = read.optional("namespace") ?? (access.namespace || "default");
      const operations = manifests.map(({ object }) => ({
        verb: "apply",
        fieldManager: read.text("field-manager"),
        force: read.boolean("force-conflicts") === true,
        object: inNamespace(object, table, namespace),
      }));
      const query = read.boolean("dry-run") === true ? "?dryRun=All" : "";
      const path = `/apis/${group.groupVersion}/${group.name}${query}`;
      const answer = await named(manifests, client.post(path, { spec: { operations } }));
      process.stdout.write(report(answer as unknown as AppliedTransaction, read.boolean("dry-run") === true));
      return 0;
    } finally {
      client.close();
    }
  },
};

/** Returns an object with a namespace if its kind has one and it names none. */
function inNamespace(object: JsonObject, table: ResourceTable, namespace: string): JsonObject {
  const { apiVersion, kind, metadata } = object;
  const resource = table.ofKind(String(apiVersion), String(kind));
  if (resource?.namespaced !== true || !isObject(metadata) || metadata["namespace"] !== undefined)
    return object;
  return { ...object, metadata: { ...metadata, namespace } };
}

/** Adds the origin of the object to the error of a transaction. */
async function named<T>(manifests: readonly AppliedObject[], answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const at = /: operation (\d+) \(/.exec(error.message)?.[1];
    const manifest = at === undefined ? undefined : manifests[Number(at) - 1];
    if (manifest === undefined) throw error;
    throw new ClientError(`${manifest.origin}: ${error.message}`, error.status);
  }
}

/** The members of a Transaction that the report shows. */
interface AppliedTransaction {
  readonly status: {
    readonly resourceVersion?: string;
    readonly results: readonly {
      readonly code: number;
      readonly object: { readonly kind: string; readonly metadata: { readonly name: string } };
      readonly warnings?: readonly string[];
    }[];
  };
}

function report({ status }: AppliedTransaction, isDryRun: boolean): string {
  const lines = status.results.flatMap(({ code, object, warnings = [] }) => [
    ...warnings.map((warning) => `Warning: ${warning}`),
    `${object.kind.toLowerCase()} ${encodeJson(object.metadata.name)} ${code === 201 ? "created" : "applied"}`,
  ]);
  const end = isDryRun
    ? "dry run: nothing was written"
    : status.resourceVersion === undefined
      ? "nothing changed"
      : `all at resource version ${status.resourceVersion}`;
  return `${[...lines, end].join("\n")}\n`;
}
