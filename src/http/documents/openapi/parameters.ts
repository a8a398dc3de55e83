import type { Dialect } from "../../../schema/openapi/schema-object.ts";

/** One parameter of an operation, outside the body. */
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

/** The name of an object of the kind, as a path parameter. */
export function nameParameter(kind: string): Parameter {
  return { name: "name", in: "path", type: "string", doc: `Name of the ${kind}.` };
}

/** What stands behind the path of a proxy. */
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

export const selectionParameters: readonly Parameter[] = [
  query("fieldSelector", "string", "Only objects whose fields match."),
  query("labelSelector", "string", "Only objects whose labels match."),
];

export const listParameters: readonly Parameter[] = [
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

export const watchParameters: readonly Parameter[] = [
  query("allowWatchBookmarks", "boolean", "Whether a watch may tell, without a change, how far it has come."),
  query("sendInitialEvents", "boolean", "Whether a watch begins with the objects that exist."),
  query("watch", "boolean", "If true, the answer is a stream of changes."),
];

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query("gracePeriodSeconds", "integer", "Seconds that the object is given to end well."),
  query("orphanDependents", "boolean", "Deprecated: true is the policy Orphan."),
  query("propagationPolicy", "string", "What happens to dependents: Background, Foreground or Orphan."),
];

/** A parameter in a dialect's form. */
export function parameterObject({ name, in: place, type, doc }: Parameter, dialect: Dialect): object {
  const required = place === "path" ? { required: true } : {};
  const head = { name, in: place, description: doc, ...required };
  if (dialect === "v2") return { ...head, type, uniqueItems: true };
  return { ...head, schema: { type, uniqueItems: true } };
}
