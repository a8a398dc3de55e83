import { isAtLeast, type Release } from "../../../base/releases.ts";
import type { Dialect } from "../../../schema/openapi/schema-object.ts";

/** A parameter of an operation, outside the body. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly type: "boolean" | "integer" | "string";
  readonly doc: string;
}

function query(name: string, type: Parameter["type"], doc: string): Parameter {
  return { name, in: "query", type, doc };
}

export const namespaceParameter: Parameter = {
  name: "namespace",
  in: "path",
  type: "string",
  doc: "Namespace of the object.",
};

/** Returns the path parameter for the name of an object of the kind. */
export function nameParameter(kind: string): Parameter {
  return { name: "name", in: "path", type: "string", doc: `Name of the ${kind}.` };
}

/** The rest of the path of a proxy. */
export const restParameter: Parameter = {
  name: "path",
  in: "path",
  type: "string",
  doc: "Path at the other end of the connection.",
};

export const prettyParameter = query("pretty", "string", "If true, the answer is laid out for reading.");

const dryRun = query("dryRun", "string", "`All` runs every stage of the request but stores nothing.");
const fieldManager = query("fieldManager", "string", "Name under which the changed fields are recorded.");
const fieldValidation = query(
  "fieldValidation",
  "string",
  "What happens to unknown and duplicate fields: Ignore drops them, Warn (the default) drops them and warns, Strict " +
    "refuses the request.",
);

export const writeParameters: readonly Parameter[] = [dryRun, fieldManager, fieldValidation];

export const forceParameter = query(
  "force",
  "boolean",
  "Whether an apply takes over fields that others own.",
);

const selectionParameters: readonly Parameter[] = [
  query("fieldSelector", "string", "Only objects whose fields match."),
  query("labelSelector", "string", "Only objects whose labels match."),
];

const listParameters: readonly Parameter[] = [
  ...selectionParameters,
  query("limit", "integer", "The most objects that one answer may hold."),
  query("continue", "string", "The token of the answer before, to go on with the list."),
  query(
    "resourceVersion",
    "string",
    "The version at which the list is read, or after which the watch begins.",
  ),
  query("resourceVersionMatch", "string", "Exact or NotOlderThan: how resourceVersion is meant."),
  query("timeoutSeconds", "integer", "When the server ends a list or watch, in seconds."),
];

const laterListParameters: readonly Parameter[] = [
  ...listParameters,
  query(
    "shardSelector",
    "string",
    "Only objects whose uid or namespace has a hash in one of the ranges (feature gate ShardedListAndWatch): " +
      "`shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)`.",
  ),
];

/** Returns the parameters of lists and watches in a release. */
export function listParametersOf(release: Release): readonly Parameter[] {
  return isAtLeast(release, "1.36") ? laterListParameters : listParameters;
}

/** The parameter of lists and watches without a counterpart in Kubernetes; see `docs/views.md`. */
const viewParameter = query(
  "view",
  "string",
  "`mine` limits a list or watch to the objects that the user may get; it needs no right to list or watch.",
);

/** The parameters of lists without a counterpart in Kubernetes; see `docs/views.md` and `docs/sorted-lists.md`. */
export const furtherListParameters: readonly Parameter[] = [
  viewParameter,
  query(
    "search",
    "string",
    "Only objects with this text in their name or in a label, in upper or lower case.",
  ),
  query("sort", "string", "The field by which a list is sorted, such as `-metadata.creationTimestamp`."),
];

export const watchParameters: readonly Parameter[] = [
  query("allowWatchBookmarks", "boolean", "Whether a watch may tell, without a change, how far it has come."),
  query("sendInitialEvents", "boolean", "Whether a watch begins with the objects that exist."),
  query("watch", "boolean", "If true, the answer is a stream of changes."),
];

const deleteParameters: readonly Parameter[] = [
  dryRun,
  query("gracePeriodSeconds", "integer", "Seconds that the object is given to end well."),
  query("orphanDependents", "boolean", "Deprecated: true is the policy Orphan."),
  query("propagationPolicy", "string", "What happens to dependents: Background, Foreground or Orphan."),
];

const laterDeleteParameters: readonly Parameter[] = [
  ...deleteParameters,
  query(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "Removes the object from the store if it can't be read (feature gate AllowUnsafeMalformedObjectDeletion).",
  ),
];

/** Returns the parameters of deletions in a release. */
export function deleteParametersOf(release: Release): readonly Parameter[] {
  return isAtLeast(release, "1.32") ? laterDeleteParameters : deleteParameters;
}

const container = query(
  "container",
  "string",
  "Name of the container; the only one, or the default one, where it is left out.",
);
const streams: readonly Parameter[] = [
  container,
  query("stdin", "boolean", "Whether what the client sends is the input of the process."),
  query("stdout", "boolean", "Whether the client gets what the process writes to its standard output."),
  query("stderr", "boolean", "Whether the client gets what the process writes to its standard error."),
  query("tty", "boolean", "Whether the process has a terminal."),
];

/** The query parameters of connections, by subresource. */
export const connectionParameters: Readonly<Record<string, readonly Parameter[]>> = {
  attach: streams,
  exec: [
    query("command", "string", "The command and its arguments, one after the other; no shell reads them."),
    ...streams,
  ],
  log: [
    container,
    query("follow", "boolean", "Whether the answer goes on while the container writes."),
    query(
      "insecureSkipTLSVerifyBackend",
      "boolean",
      "Whether the node's agent may show any certificate; what it answers can't be trusted then.",
    ),
    query("limitBytes", "integer", "The most bytes that are answered."),
    query("previous", "boolean", "Whether the log is that of the container before it was started again."),
    query("sinceSeconds", "integer", "How old the first line may be, in seconds."),
    query("tailLines", "integer", "How many of the last lines are answered."),
    query("timestamps", "boolean", "Whether each line begins with its time."),
    prettyParameter,
  ],
  portforward: [query("ports", "integer", "The ports of the pod.")],
  proxy: [query("path", "string", "Path at the other end; what stands behind the subresource counts.")],
};

const forms: Readonly<Record<Dialect, WeakMap<Parameter, object>>> = {
  v2: new WeakMap(),
  v3: new WeakMap(),
};

/**
 * Returns a parameter in the form of a dialect; always the same object, because most parameters are used in many
 * operations.
 */
export function parameterObject(parameter: Parameter, dialect: Dialect): object {
  let form = forms[dialect].get(parameter);
  if (form === undefined) forms[dialect].set(parameter, (form = formOf(parameter, dialect)));
  return form;
}

function formOf({ name, in: place, type, doc }: Parameter, dialect: Dialect): object {
  const required = place === "path" ? { required: true } : {};
  const head = { name, in: place, description: doc, ...required };
  if (dialect === "v2") return { ...head, type, uniqueItems: true };
  return { ...head, schema: { type, uniqueItems: true } };
}
