import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

/** A custom resource definition with an object before and after a change of its manifest. */
interface Example {
  readonly title: string;
  readonly plural: string;
  readonly kind: string;
  readonly scope?: "Cluster";
  /** Schema of `spec`. */
  readonly spec: object;
  readonly subresources?: object;
  readonly first: object;
  readonly second: object;
}

const text = { type: "string" };
const named = { type: "object", required: ["name"], properties: { name: text, value: text } };
const byName = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };

const examples: readonly Example[] = [
  {
    title: "members of objects",
    plural: "pools",
    kind: "Pool",
    spec: { type: "object", properties: { size: { type: "integer" }, color: text } },
    first: { size: 1, color: "red" },
    second: { size: 2 },
  },
  {
    title: "lists that are replaced",
    plural: "routes",
    kind: "Route",
    subresources: { status: {} },
    spec: { type: "object", properties: { hosts: { type: "array", items: text } } },
    first: { hosts: ["a", "b"] },
    second: { hosts: ["b", "c"] },
  },
  {
    title: "lists that are merged by a key",
    plural: "gateways",
    kind: "Gateway",
    spec: { type: "object", properties: { listeners: { type: "array", ...byName, items: named } } },
    first: {
      listeners: [
        { name: "a", value: "1" },
        { name: "b", value: "1" },
      ],
    },
    second: { listeners: [{ name: "b", value: "2" }] },
  },
  {
    title: "unknown fields and embedded objects",
    plural: "stacks",
    kind: "Stack",
    scope: "Cluster",
    spec: {
      type: "object",
      properties: {
        values: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        port: { "x-kubernetes-int-or-string": true },
      },
    },
    first: { values: { a: { b: [1] } }, port: "http" },
    second: {
      values: { a: { c: 2 } },
      port: 80,
      template: { apiVersion: "v1", kind: "ConfigMap", metadata: { labels: { a: "b" } } },
    },
  },
];

const group = "apply.example.com";

const definition = ({
  plural,
  kind,
  scope = "Namespaced",
  spec,
  subresources,
}: Omit<Example, "scope"> & { scope?: string }) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope,
    names: { plural, kind },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec, status: { type: "object" } } } },
        ...(subresources && { subresources }),
      },
    ],
  },
});

describeKubectl("kubectl apply of custom objects", (program) => {
  let server: Server;
  let kubectl: Kubectl;

  beforeAll(async () => {
    server = await createServer({ vocabulary: "kubernetes" });
    kubectl = new Kubectl(program, server.kubeconfig());
    for (const example of examples) {
      await kubectl.ok(["apply", "-f", "-"], { input: JSON.stringify(definition(example)) });
    }
    const names = examples.map(({ plural }) => `crd/${plural}.${group}`);
    await kubectl.ok(["wait", "--for=condition=Established", "--timeout=20s", ...names]);
  }, 60_000);
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  it.each(examples)(
    "kubectl apply creates, changes and confirms a custom object when its schema has $title",
    async ({ plural, kind, first, second }) => {
      const manifest = (spec: object): string =>
        JSON.stringify({ apiVersion: `${group}/v1`, kind, metadata: { name: "one" }, spec });
      const apply = async (spec: object): Promise<string> =>
        (await kubectl.ok(["apply", "-f", "-"], { input: manifest(spec) })).trim();
      const resource = `${plural}.${group}`;
      const named = `${kind.toLowerCase()}.${group}/one`;
      expect(await apply(first)).toBe(`${named} created`);
      expect(await apply(second)).toBe(`${named} configured`);
      expect((await kubectl.json(["get", resource, "one"])).spec).toEqual(second);
      expect(await apply(second)).toBe(`${named} unchanged`);
      const diff = await kubectl.run(["diff", "-f", "-"], { input: manifest(first) });
      expect(diff.code, diff.stderr).toBe(1);
    },
    60_000,
  );
});
