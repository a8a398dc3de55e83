import { allByRelease, since } from "../../../base/release-rows.ts";
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
  doc: "URL path to request from the target of the connection.",
};

export const prettyParameter = query("pretty", "string", "Whether to indent the JSON of the response.");

const dryRun = query("dryRun", "string", "`All` processes the request without storing the result.");
const fieldManager = query(
  "fieldManager",
  "string",
  "Name of the field manager that owns the changed fields.",
);
const fieldValidation = query(
  "fieldValidation",
  "string",
  "Handling of unknown and duplicate fields: Ignore, Warn or Strict, which rejects them. Default: Warn.",
);

export const writeParameters: readonly Parameter[] = [dryRun, fieldManager, fieldValidation];

export const forceParameter = query(
  "force",
  "boolean",
  "Whether an apply takes over fields that other managers own.",
);

const selectionParameters: readonly Parameter[] = [
  query("fieldSelector", "string", "Field selector; only matching objects are returned."),
  query("labelSelector", "string", "Label selector; only matching objects are returned."),
];

const listParameters: readonly Parameter[] = [
  ...selectionParameters,
  query("limit", "integer", "Maximum number of objects in the response."),
  query("continue", "string", "Continuation token from the previous response."),
  query(
    "resourceVersion",
    "string",
    "Resource version at which the list is read, or after which the watch starts.",
  ),
  query("resourceVersionMatch", "string", "Meaning of `resourceVersion` for lists: Exact or NotOlderThan."),
  query("timeoutSeconds", "integer", "Seconds after which the server ends the list or watch."),
];

/** Returns the parameters of lists and watches in a release. */
export const listParametersOf = allByRelease<Parameter>(
  ...listParameters,
  since(
    "1.36",
    query(
      "shardSelector",
      "string",
      "Hash ranges of UIDs or namespaces (gate ShardedListAndWatch): " +
        "`shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')`, joined with `||`.",
    ),
  ),
);

/** The parameter of lists and watches without a counterpart in Kubernetes; see `docs/views.md`. */
const viewParameter = query(
  "view",
  "string",
  "`mine` limits a list or watch to the objects that the user may get; it needs no permission to list or watch.",
);

/** The parameter of gets, lists and watches for the past; see `docs/history.md`. */
const atParameter = query(
  "at",
  "string",
  "A time such as `2026-11-24T10:00:00Z`, or a resource version, whose state is returned; only for resources whose history is kept.",
);

/** The parameters of lists without a counterpart in Kubernetes; see `docs/views.md`, `docs/sorted-lists.md` and `docs/history.md`. */
export const furtherListParameters: readonly Parameter[] = [
  viewParameter,
  atParameter,
  query("deleted", "boolean", "Whether to list the deleted objects that the history still has."),
  query(
    "search",
    "string",
    "Text to search for in names and labels, without regard to case; only matching objects are returned.",
  ),
  query(
    "sort",
    "string",
    "Field by which the list is sorted, such as `-metadata.creationTimestamp` (descending).",
  ),
];

export const watchParameters: readonly Parameter[] = [
  query(
    "allowWatchBookmarks",
    "boolean",
    "Whether the watch has bookmarks: events with the current resource version only.",
  ),
  query("sendInitialEvents", "boolean", "Whether the watch starts with the existing objects."),
  query("watch", "boolean", "Whether to respond with a stream of changes instead of a list."),
];

const deleteParameters: readonly Parameter[] = [
  dryRun,
  query(
    "gracePeriodSeconds",
    "integer",
    "Seconds until the object is deleted; 0 deletes at once. Default: that of the kind.",
  ),
  query(
    "orphanDependents",
    "boolean",
    "Deprecated: whether to orphan the dependents; use `propagationPolicy`.",
  ),
  query("propagationPolicy", "string", "Handling of dependents: Background, Foreground or Orphan."),
];

/** Returns the parameters of deletions in a release. */
export const deleteParametersOf = allByRelease<Parameter>(
  ...deleteParameters,
  since(
    "1.32",
    query(
      "ignoreStoreReadErrorWithClusterBreakingPotential",
      "boolean",
      "Removes the object from the store if it can't be read (feature gate AllowUnsafeMalformedObjectDeletion).",
    ),
  ),
);

const container = query(
  "container",
  "string",
  "Name of the container. Default: the only one, or the default container of the pod.",
);
const streams: readonly Parameter[] = [
  container,
  query("stdin", "boolean", "Whether to forward the client's input to the standard input of the process."),
  query("stdout", "boolean", "Whether to return the standard output of the process."),
  query("stderr", "boolean", "Whether to return the standard error of the process."),
  query("tty", "boolean", "Whether to allocate a terminal for the process."),
];

/** The query parameters of connections, by subresource. */
export const connectionParameters: Readonly<Record<string, readonly Parameter[]>> = {
  attach: streams,
  exec: [
    query(
      "command",
      "string",
      "The command, or one of its arguments; repeated for each. It is run without a shell.",
    ),
    ...streams,
  ],
  log: [
    container,
    query("follow", "boolean", "Whether to keep the response open and send new lines of the log."),
    query(
      "insecureSkipTLSVerifyBackend",
      "boolean",
      "Whether to skip the verification of the kubelet's certificate; the response is then not trustworthy.",
    ),
    query("limitBytes", "integer", "Maximum size of the response in bytes."),
    query("previous", "boolean", "Whether to return the log of the previous run of the container."),
    query("sinceSeconds", "integer", "Maximum age of the lines in seconds."),
    query("tailLines", "integer", "Number of lines to return from the end of the log."),
    query("timestamps", "boolean", "Whether to prefix each line with its time."),
    prettyParameter,
  ],
  portforward: [query("ports", "integer", "Ports of the pod to forward.")],
  proxy: [query("path", "string", "URL path to request; the path after the subresource takes precedence.")],
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
