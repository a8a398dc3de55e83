import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import {
  type ApiObject,
  createServer,
  declareGroup,
  definitionOf,
  type DefinitionManifest,
  type ObjectFor,
  type Server,
} from "../../src/index.ts";
import type { ConfigMap, Deployment, FlowSchemaV1beta2, Pod } from "../../src/kinds/all.ts";
import type { KnownObjects, ObjectsOf } from "../../src/kinds/typed-objects.ts";
import { Order } from "./order-kind.ts";

/** What must not compile stands behind `@ts-expect-error`: where it compiled, `npm run typecheck` would fail. */
let server: Server<KnownObjects & ObjectsOf<readonly [typeof Order]>>;
beforeAll(async () => {
  server = await createServer({ port: false, kinds: [Order] });
});
afterAll(() => server.close());

const inDefault = { name: "m", namespace: "default" } as const;

test("the client has typed fields of a built-in kind", async () => {
  const made = await server.client.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: inDefault,
    data: { a: "b" },
  });
  expectTypeOf(made).toEqualTypeOf<ConfigMap>();
  expectTypeOf(made.data).toEqualTypeOf<Record<string, string> | undefined>();
  const found = await server.client.find({ apiVersion: "v1", kind: "ConfigMap", ...inDefault });
  expect(found?.data).toEqual({ a: "b" });
  const { items } = await server.client.list({ apiVersion: "v1", kind: "ConfigMap", namespace: "default" });
  expect(items.map(({ data }) => data?.["a"])).toEqual(["b"]);
});

test("the client has types for both vocabularies and each version", () => {
  const { client } = server;
  const reference = (apiVersion: string) => ({ apiVersion, kind: "Role", name: "r", namespace: "default" });
  expect(reference("v1").kind).toBe("Role");
  expectTypeOf(client.get<"rbac.authorization.k8s.io/v1", "Role">).returns.resolves.toHaveProperty("rules");
  expectTypeOf(client.get<"rbac.authorization.platform.io/v1", "Role">).returns.resolves.toHaveProperty(
    "rules",
  );
  expectTypeOf(client.get<"apps/v1", "Deployment">).returns.resolves.toEqualTypeOf<Deployment>();
  expectTypeOf(
    client.get<"flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema">,
  ).returns.resolves.toEqualTypeOf<FlowSchemaV1beta2>();
  type Containers = NonNullable<Pod["spec"]>["containers"];
  expectTypeOf<Containers[number]["image"]>().toEqualTypeOf<string | undefined>();
});

test("the client has typed fields of an added kind", async () => {
  const made = await server.client.create({
    apiVersion: "shop.example.com/v1",
    kind: "Order",
    metadata: { name: "one", namespace: "default" },
    customer: "ada",
    lines: [{ item: "tea" }],
  });
  expectTypeOf(made).toEqualTypeOf<ObjectFor<typeof Order>>();
  expectTypeOf(made.customer).toEqualTypeOf<string>();
  expect(made.lines?.[0]?.count).toBe(1);
});

test("objects are untyped when the kind is known only at run time", async () => {
  const apiVersion: string = "v1";
  const found = await server.client.get({ apiVersion, kind: "Namespace", name: "default" });
  expectTypeOf(found["anything"]).toEqualTypeOf<unknown>();
  expect(found.metadata.name).toBe("default");
});

test("custom objects without types have any fields, in every method of the client", async () => {
  const definition = definitionOf(Order);
  const custom = await createServer({ port: false });
  try {
    await custom.client.apply(definition);
    await custom.client.waitFor(
      { apiVersion: definition.apiVersion, kind: definition.kind, name: definition.metadata.name },
      (one) => JSON.stringify(one?.["status"] ?? null).includes('"Established"'),
    );
    const order = {
      apiVersion: "shop.example.com/v1",
      kind: "Order",
      name: "one",
      namespace: "default",
    } as const;
    const { apiVersion, kind, ...metadata } = order;
    const created = await custom.client.create({ apiVersion, kind, metadata, customer: "ada", lines: [] });
    expectTypeOf(created).toEqualTypeOf<ApiObject>();
    expect(created["customer"]).toBe("ada");
    const [applied] = await custom.client.apply(
      { apiVersion, kind, metadata, customer: "bob" },
      { force: true },
    );
    expectTypeOf(applied).toEqualTypeOf<ApiObject>();
    expect((await custom.client.get(order))["customer"]).toBe("bob");
    expect((await custom.client.list({ apiVersion, kind })).items).toHaveLength(1);
    const [map] = await custom.client.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: inDefault });
    expectTypeOf(map).toEqualTypeOf<ConfigMap>();
  } finally {
    await custom.close();
  }
});

test("the client has the types of a definition that is made from a declared kind", async () => {
  const custom = await createServer({ port: false });
  try {
    const definition = definitionOf(Order);
    await custom.client.apply(definition);
    await custom.client.waitFor(
      { apiVersion: definition.apiVersion, kind: definition.kind, name: definition.metadata.name },
      (one) => JSON.stringify(one?.["status"] ?? null).includes('"Established"'),
    );
    const client = custom.client.withTypesOf(definition);
    const order = { apiVersion: "shop.example.com/v1", kind: "Order" } as const;
    const created = await client.create({ ...order, metadata: inDefault, customer: "ada", lines: [] });
    expectTypeOf(created).toEqualTypeOf<ObjectFor<typeof Order>>();
    expect(created.customer).toBe("ada");
    const { items } = await client.list(order);
    expect(items.map(({ customer }) => customer)).toEqual(["ada"]);
    const [applied] = await client.apply({ ...order, metadata: inDefault, customer: "bob" }, { force: true });
    expectTypeOf(applied).toEqualTypeOf<ObjectFor<typeof Order>>();
    // The built-in kinds keep their types.
    const map = await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: inDefault });
    expectTypeOf(map).toEqualTypeOf<ConfigMap>();
    const incomplete = { ...order, metadata: inDefault };
    // @ts-expect-error a required field is missing
    await expect(client.create(incomplete)).rejects.toThrow("customer");
  } finally {
    await custom.close();
  }
});

test("a definition without types of its kinds leaves those of the client as they are", () => {
  const definition: DefinitionManifest = definitionOf(Order);
  const client = server.client.withTypesOf(definition);
  expect(client).toBe(server.client);
  expectTypeOf(client.get<"v1", "ConfigMap">).returns.resolves.toEqualTypeOf<ConfigMap>();
  // A list of versions has the types of each.
  expectTypeOf(definitionOf([Order])).toEqualTypeOf<DefinitionManifest<ObjectsOf<readonly [typeof Order]>>>();
});

/** Compiled, never run. */
export async function wrong(): Promise<void> {
  const { client } = server;
  // @ts-expect-error there is no such kind
  await client.get({ apiVersion: "v1", kind: "ConfigMapp", name: "m" });
  // @ts-expect-error the kind is of another group
  await client.get({ apiVersion: "v1", kind: "Deployment", name: "m" });
  // @ts-expect-error there is no such version
  await client.get({ apiVersion: "v2", kind: "ConfigMap", name: "m" });
  // @ts-expect-error there is no such version of a known group
  await client.get({ apiVersion: "rbac.authorization.k8s.io/v7", kind: "Role", name: "m" });
  // @ts-expect-error groups of custom objects have a dot
  await client.get({ apiVersion: "shop/v1", kind: "Role", name: "m" });
  // @ts-expect-error the kind has no such field
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: inDefault, date: {} });
  // @ts-expect-error the field has another type
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: inDefault, data: { a: 1 } });
  // @ts-expect-error a required field is missing
  await client.create({ apiVersion: "shop.example.com/v1", kind: "Order", metadata: inDefault });
  // @ts-expect-error a reference to one object needs its name
  await client.get({ apiVersion: "v1", kind: "ConfigMap" });
  const map = await client.get({ apiVersion: "v1", kind: "ConfigMap", name: "m" });
  // @ts-expect-error the kind has no such field
  map.date?.toString();
  const { kind, field, string } = declareGroup("shop.example.com", "v1");
  kind({
    name: "Tea",
    resource: "teas",
    singular: "tea",
    scope: "Cluster",
    doc: "Tea.",
    fields: { leaf: field(2, string, "Leaf.") },
    // @ts-expect-error the kind has no such field
    generationOf: (tea) => tea.leaves,
  });
  // @ts-expect-error a plugin says what it concerns
  await createServer({ admissionPlugins: [{ name: "X", mutate: () => undefined }] });
  // @ts-expect-error there is no such option
  await createServer({ plugins: [] });
}
