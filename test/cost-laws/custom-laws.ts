import { definition, definitions, group, served, version } from "../api/custom-resources/support.ts";
import type { Answer, Api } from "../support/api.ts";
import { entries, type Law } from "./law.ts";

/** A create of a definition that stores nothing. */
function defining(name: string, n: number, spec: (count: number) => object): Law {
  return {
    name: `define ${name}`,
    n,
    status: 201,
    prepare: async (api, count) => {
      const raw = JSON.stringify(definition(spec(count), "laws", "Law"));
      return () => api.ask("POST", `${definitions}?dryRun=All`, { raw });
    },
  };
}

const schemaOf = (spec: object) => ({
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
});
const properties = (count: number, property: (index: number) => object) =>
  Object.fromEntries(entries(count, (index) => [`p${index}`, property(index)]));

const text = { type: "string" };
const list = (more: object, items: object = text) => ({ type: "array", items, maxItems: 20_000, ...more });
const keyed = {
  type: "object",
  required: ["key"],
  properties: { key: { type: "string", maxLength: 20 }, value: { type: "string", maxLength: 20 } },
};
const spec = {
  type: "object",
  properties: {
    texts: list({}),
    set: list({ "x-platform-list-type": "set" }),
    parts: list({ "x-platform-list-type": "map", "x-platform-list-map-keys": ["key"] }, keyed),
    checked: list({ "x-platform-validations": [{ rule: "self.all(part, part.key != 'none')" }] }, keyed),
    limits: { type: "object", additionalProperties: { type: "integer" } },
    free: { type: "object", "x-platform-preserve-unknown-fields": true },
  },
};

let made = 0;

/** A request, which stores nothing, for a custom object with `count` entries. */
function custom(
  name: string,
  n: number,
  fields: (count: number) => object,
  request: (api: Api, path: string, object: object) => Promise<() => Promise<Answer>> = creating,
  status = 201,
): Law {
  return {
    name: `custom object, ${name}`,
    n,
    status,
    prepare: async (api, count) => {
      const kind = `Law${++made}`;
      const path = await served(
        api,
        definition({ versions: [version("v1", schemaOf(spec))] }, kind.toLowerCase(), kind),
      );
      const object = { apiVersion: `${group}/v1`, kind, metadata: { name: "o" }, spec: fields(count) };
      return request(api, path, object);
    },
  };
}

async function creating(api: Api, path: string, object: object): Promise<() => Promise<Answer>> {
  const raw = JSON.stringify(object);
  return () => api.ask("POST", `${path}?dryRun=All`, { raw });
}

const applyType = { contentType: "application/apply-patch+yaml" };

async function applyingAgain(api: Api, path: string, object: object): Promise<() => Promise<Answer>> {
  const raw = JSON.stringify(object);
  const at = `${path}/o?fieldManager=`;
  const first = await api.ask("PATCH", `${at}one`, { raw, ...applyType });
  if (first.status !== 201) throw new Error(first.text.slice(0, 500));
  return () => api.ask("PATCH", `${at}two&dryRun=All`, { raw, ...applyType });
}

const parts = (count: number) => entries(count, (i) => ({ key: `k${i}`, value: `v${i}` }));

/** Definitions and custom objects with many entries. */
export const customLaws: readonly Law[] = [
  defining("properties", 2000, (n) => ({
    versions: [version("v1", schemaOf({ type: "object", properties: properties(n, () => text) }))],
  })),
  defining("nested objects", 2000, (n) => ({
    versions: [
      version(
        "v1",
        schemaOf({
          type: "object",
          properties: properties(n, () => ({ type: "object", properties: { a: text } })),
        }),
      ),
    ],
  })),
  defining("rules", 250, (n) => ({
    versions: [
      version(
        "v1",
        schemaOf({
          type: "object",
          properties: properties(n, () => ({
            type: "integer",
            "x-platform-validations": [{ rule: "self > 0" }],
          })),
        }),
      ),
    ],
  })),
  defining("columns", 1000, (n) => ({
    versions: [
      version("v1", {
        ...schemaOf({ type: "object", properties: { a: text } }),
        additionalPrinterColumns: entries(n, (i) => ({ name: `C${i}`, type: "string", jsonPath: ".spec.a" })),
      }),
    ],
  })),
  defining("short names", 2000, (n) => ({
    names: { plural: "laws", kind: "Law", shortNames: entries(n, (i) => `s${i}`) },
  })),
  defining("versions", 50, (n) => ({
    versions: entries(n, (i) => ({
      ...version(`v${i + 1}`, schemaOf({ type: "object" })),
      storage: i === 0,
    })),
  })),
  custom("list", 4000, (n) => ({ texts: entries(n, (i) => `t${i}`) })),
  custom("set", 4000, (n) => ({ set: entries(n, (i) => `t${i}`) })),
  custom("list by key", 3000, (n) => ({ parts: parts(n) })),
  custom("list with an expression", 2000, (n) => ({ checked: parts(n) })),
  custom("map", 4000, (n) => ({ limits: properties(n, (i) => i as unknown as object) })),
  custom("any members", 4000, (n) => ({ free: properties(n, () => ({ a: 1 })) })),
  custom("list by key applied by two managers", 2000, (n) => ({ parts: parts(n) }), applyingAgain, 200),
  custom(
    "set applied by two managers",
    2000,
    (n) => ({ set: entries(n, (i) => `t${i}`) }),
    applyingAgain,
    200,
  ),
];
