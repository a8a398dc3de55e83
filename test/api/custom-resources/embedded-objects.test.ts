import { beforeAll, expect, test } from "vitest";
import { type Answer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, order, served, version } from "./support.ts";

const preserve = { "x-platform-preserve-unknown-fields": true };
const embedded = { type: "object", "x-platform-embedded-resource": true, ...preserve };
const named = { type: "object", properties: { name: { type: "string" } } };
const spec = {
  type: "object",
  properties: {
    template: embedded,
    templates: { type: "array", items: embedded },
    pipelines: { type: "array", items: named, ...preserve },
    nested: { type: "array", items: { type: "array", items: named }, ...preserve },
    pruned: { type: "array", items: named },
    // No type, so the items have no schema.
    anything: preserve,
  },
};

let path: string;
const server = useServer({ enabledControllers: [] });
beforeAll(async () => {
  const openAPIV3Schema = { type: "object", properties: { spec } };
  path = await served(
    server.admin,
    definition({ versions: [version("v1", { schema: { openAPIV3Schema } })] }),
  );
});

const create = async (name: string, value: object): Promise<Answer> =>
  server.admin.post(`${path}?fieldValidation=Warn`, order(name, value));

const causesOf = ({ status, body }: Answer): unknown[] => [
  status,
  ...(body.details?.causes ?? []).map((one: Record<string, string>) => [
    one["field"],
    one["reason"]!.replace("FieldValue", ""),
  ]),
];

test("metadata of an embedded object gets no creationTimestamp when it has none", async () => {
  const template = { apiVersion: "v1", kind: "Pod", metadata: { labels: { a: "b" } } };
  const dated = { ...template, metadata: { creationTimestamp: "2020-01-01T00:00:00Z", name: "n" } };
  const undated = { ...template, metadata: { creationTimestamp: null } };
  const { body } = await create("meta", { template, templates: [template, dated, undated] });
  expect(body.spec).toEqual({
    template,
    templates: [template, dated, { ...template, metadata: {} }],
  });
});

test("metadata of an embedded object is validated like that of any object", async () => {
  const labels = { "-": "b" };
  const template = { apiVersion: "a/b/c", kind: "Not valid", metadata: { name: "a/b", labels } };
  expect(
    causesOf(await create("bad", { template, templates: [{ metadata: {} }, { apiVersion: 1, kind: "" }] })),
  ).toEqual([
    422,
    ["spec.template.apiVersion", "Invalid"],
    ["spec.template.kind", "Invalid"],
    ["spec.template.metadata.name", "Invalid"],
    ["spec.template.metadata.labels", "Invalid"],
    ["spec.templates[0].apiVersion", "Required"],
    ["spec.templates[0].kind", "Required"],
    ["spec.templates[1].apiVersion", "Invalid"],
    ["spec.templates[1].kind", "Invalid"],
  ]);
});

test("list items keep unknown fields when the list preserves them", async () => {
  const value = {
    pipelines: [{ name: "a", config: { in: [1] } }, { other: true }],
    nested: [[{ name: "a", deep: { er: 1 } }]],
    anything: [{ a: [{ b: 1 }] }],
  };
  const { body, warnings } = await create("kept", value);
  expect([body.spec, warnings]).toEqual([value, []]);
});

test("list items lose unknown fields when the list doesn't preserve them", async () => {
  const { body, warnings } = await create("pruned", { pruned: [{ name: "a", config: 1 }] });
  expect([body.spec, warnings]).toEqual([
    { pruned: [{ name: "a" }] },
    ['unknown field "spec.pruned[0].config"'],
  ]);
});

test("a custom resource accepts a finalizer without a domain prefix when its name is well formed", async () => {
  const finalizers = ["test-finalizer", "resources-finalizer.argocd.argoproj.io", "foregroundDeletion"];
  const made = await server.admin.post(path, {
    ...order("held", {}),
    metadata: { name: "held", finalizers },
  });
  expect([made.status, made.body.metadata.finalizers]).toEqual([201, finalizers]);
  const refused = await server.admin.patch(`${path}/held`, { metadata: { finalizers: ["not valid"] } });
  expect(causesOf(refused)).toEqual([422, ["metadata.finalizers", "Invalid"]]);
  const builtIn = { metadata: { name: "held", finalizers: ["test-finalizer"] } };
  const configMaps = "/api/v1/namespaces/default/configmaps";
  expect(causesOf(await server.admin.post(configMaps, builtIn))).toEqual([
    422,
    ["metadata.finalizers[0]", "Invalid"],
  ]);
});
