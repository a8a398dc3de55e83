import { ok } from "../support.ts";
import type { Api } from "../../support/api.ts";

export const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions";
export const group = "shop.example.com";

/** The schema of the test kind. */
export const orderSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        color: { type: "string", enum: ["red", "green"], default: "red" },
        code: { type: "string", pattern: "^[a-z]+$", maxLength: 5 },
        port: { "x-platform-int-or-string": true },
        free: { type: "object", "x-platform-preserve-unknown-fields": true },
        nested: { type: "object", default: {}, properties: { deep: { type: "string", default: "d" } } },
        tags: { type: "array", maxItems: 3, items: { type: "string" }, "x-platform-list-type": "set" },
        parts: {
          type: "array",
          "x-platform-list-type": "map",
          "x-platform-list-map-keys": ["key"],
          items: {
            type: "object",
            required: ["key"],
            properties: { key: { type: "string" }, value: { type: "string" } },
          },
        },
        steps: { type: "array", items: { type: "string" } },
        limits: { type: "object", additionalProperties: { type: "integer" } },
        whole: {
          type: "object",
          "x-platform-map-type": "atomic",
          properties: { a: { type: "string" }, b: { type: "string" } },
        },
        when: { type: "string", format: "date-time" },
        maybe: { type: "string", nullable: true },
        embedded: {
          type: "object",
          "x-platform-embedded-resource": true,
          "x-platform-preserve-unknown-fields": true,
        },
      },
    },
    status: {
      type: "object",
      properties: { ready: { type: "boolean" }, replicas: { type: "integer" }, selector: { type: "string" } },
    },
  },
};

/** A version of a definition. */
export const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: orderSchema },
  ...more,
});

/** A definition in the test group; `orders` of kind Order unless another name is given. */
export const definition = (spec: object = {}, plural = "orders", kind = "Order") => ({
  metadata: { name: `${plural}.${group}` },
  spec: { group, scope: "Namespaced", names: { plural, kind }, versions: [version("v1")], ...spec },
});

/** Creates a definition and waits until its kind is served. @returns the path of the collection in `default`. */
export async function served(api: Api, object: ReturnType<typeof definition>, at = "v1"): Promise<string> {
  await ok(api.post(definitions, object));
  return whenServed(api, object, at);
}

export async function whenServed(
  api: Api,
  object: ReturnType<typeof definition>,
  at = "v1",
): Promise<string> {
  const { names, scope, group: of } = object.spec;
  const path = `/apis/${of}/${at}/${scope === "Cluster" ? "" : "namespaces/default/"}${names.plural}`;
  for (const end = Date.now() + 5000; (await api.get(path)).status !== 200;) {
    if (Date.now() > end) throw new Error(`${path} isn't served`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return path;
}

export const order = (name: string, spec: object = { size: 1 }, more: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "Order",
  metadata: { name },
  spec,
  ...more,
});
