import type { Dialect } from "../../../schema/openapi/schema-object.ts";
import { subscriptionsPath } from "../../request/facts.ts";
import { eventStreamType } from "../../request/negotiation.ts";
import { parameterObject, type Parameter } from "./parameters.ts";
import type { PathItem } from "./paths.ts";

function query(name: string, type: Parameter["type"], doc: string): Parameter {
  return { name, in: "query", type, doc };
}

const commonParameters: readonly Parameter[] = [
  query("resourceVersion", "string", "Resource version after which the events start."),
  query("sendInitialEvents", "boolean", "Whether the stream starts with the existing objects."),
  query("allowWatchBookmarks", "boolean", "Whether the stream has bookmarks. Default: true."),
  query("timeoutSeconds", "integer", "Seconds after which the server ends the stream."),
  query("view", "string", "`mine` limits the stream to the objects that the user may get."),
  query("includeObject", "string", "Content of each table row's `object`: None, Metadata or Object."),
];

const watch = query(
  "watch",
  "string",
  "Resource type to watch: RESOURCE, VERSION/RESOURCE or GROUP/VERSION/RESOURCE, optionally with `?` and the parameters " +
    "namespace, labelSelector, fieldSelector and shardSelector. Can be repeated.",
);

const string = { type: "string" };
const bodySchema = {
  type: "object",
  required: ["watches"],
  properties: {
    watches: {
      type: "array",
      items: {
        type: "object",
        required: ["resource"],
        properties: {
          group: string,
          version: string,
          resource: string,
          namespace: string,
          labelSelector: string,
          fieldSelector: string,
          shardSelector: string,
        },
      },
    },
  },
};

const mediaTypes = ["application/json", eventStreamType];
const description = "watch several resource types in one stream";

/** Returns the description of `/subscriptions`, which belongs to no group version. */
export function subscriptionPath(dialect: Dialect): Record<string, PathItem> {
  const parameters = (all: readonly Parameter[]) => all.map((one) => parameterObject(one, dialect));
  const responses = { 200: response(dialect), 401: { description: "Unauthorized" } };
  const operation = (id: string) => ({ description, tags: ["subscriptions"], operationId: id, responses });
  const produces = dialect === "v2" ? { produces: mediaTypes, schemes: ["https"] } : {};
  return {
    [subscriptionsPath]: {
      get: {
        ...operation("watchSubscription"),
        ...produces,
        parameters: parameters([watch, ...commonParameters]),
      },
      post: {
        ...operation("watchSubscriptionOfBody"),
        ...produces,
        ...body(dialect, parameters(commonParameters)),
      },
    },
  };
}

function response(dialect: Dialect): object {
  if (dialect === "v2") return { description: "OK", schema: string };
  return {
    description: "OK",
    content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: string }])),
  };
}

function body(dialect: Dialect, parameters: readonly object[]): object {
  if (dialect === "v2") {
    const inBody = { name: "body", in: "body", required: true, schema: bodySchema };
    return { consumes: ["application/json"], parameters: [inBody, ...parameters] };
  }
  const content = { "application/json": { schema: bodySchema } };
  return { parameters, requestBody: { content, required: true } };
}
