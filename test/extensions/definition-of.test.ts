import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declareGroup, definitionOf, type DefinitionManifest, type Kind } from "../../src/index.ts";
import { definitions, whenServed } from "../api/custom-resources/support.ts";
import { TestServer } from "../support/api.ts";
import { Order, Shelf } from "./order-kind.ts";

const words = declareGroup("shop.example.com", "v1");
const { kind, struct, field, list, map, ObjectMeta } = words;

const Part = struct("Part", "A part.", {
  key: field(1, words.string, "Its name.").required(),
  value: field(2, words.int32, "Its value.").default(7),
});

/** A kind with every word that a declaration has. */
const Parcel = kind({
  name: "Parcel",
  resource: "parcels",
  singular: "parcel",
  shortNames: ["pc"],
  categories: ["shop"],
  scope: "Namespaced",
  doc: "What is sent.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the parcel.").emitEmpty(),
    spec: field(
      2,
      struct("ParcelSpec", "What is wanted.", {
        address: field(1, words.string, "Where to.").required(),
        color: field(2, words.string, "How it looks.").oneOf("red", "green").default("red"),
        count: field(3, words.int32, "How many.").emitEmpty(),
        large: field(4, words.int64, "A large number."),
        weight: field(5, words.quantity, "How heavy."),
        port: field(6, words.intOrString, "A door."),
        sent: field(7, words.time, "When."),
        patience: field(8, words.duration, "How long it may take."),
        seal: field(9, words.bytes, "A seal."),
        ratio: field(10, words.double, "A part of the whole."),
        express: field(11, words.bool, "Whether it is in a hurry."),
        free: field(undefined, words.json, "Anything."),
        tags: field(12, list(words.string), "Words.").set(),
        colors: field(13, list(words.string), "Colors.").oneOf("red", "green"),
        parts: field(14, list(Part), "Parts.").mapBy("key"),
        limits: field(15, map(words.int32), "Limits."),
        whole: field(16, map(words.string), "Owned as one.").atomic(),
        extras: field(
          18,
          struct("Extras", "More.", { a: field(1, words.int32, "A.").default(3) }),
          "More.",
        ).required(),
        shade: field(17, words.string, "Known words.").knownValues("dark", "light"),
      }),
      "What is wanted.",
    ).required(),
    status: field(
      3,
      struct("ParcelStatus", "What is.", { ready: field(1, words.bool, "Whether it is ready.") }),
      "What is.",
    ),
  },
  status: { initial: () => undefined },
  columns: [
    words.nameColumn,
    {
      name: "Count",
      type: "integer",
      doc: "How many.",
      jsonPath: ".spec.count",
      cell: ({ spec }) => spec.count,
    },
    { name: "Sum", type: "integer", doc: "Worked out.", cell: () => 1 },
    { ...words.ageColumn, priority: 1 },
  ],
});

const parcel = (spec: unknown, more: object = {}) => ({
  apiVersion: "shop.example.com/v1",
  kind: "Parcel",
  metadata: { name: "one" },
  spec,
  ...more,
});

describe("the definition of a declared kind", () => {
  test("has its names, scope, versions, columns and subresources", () => {
    const { metadata, spec, ...rest } = definitionOf(Parcel);
    expect(rest).toEqual({ apiVersion: "apiextensions.platform.io/v1", kind: "CustomResourceDefinition" });
    expect(metadata).toEqual({ name: "parcels.shop.example.com" });
    const { versions, ...names } = spec;
    expect(names).toEqual({
      group: "shop.example.com",
      scope: "Namespaced",
      names: {
        plural: "parcels",
        singular: "parcel",
        kind: "Parcel",
        listKind: "ParcelList",
        shortNames: ["pc"],
        categories: ["shop"],
      },
    });
    const [{ schema, ...version }] = versions as [DefinitionManifest["spec"]["versions"][number]];
    expect(schema.openAPIV3Schema["description"]).toBe("What is sent.");
    expect(version).toEqual({
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: "Count", type: "integer", description: "How many.", jsonPath: ".spec.count" },
        {
          name: "Age",
          type: "date",
          description: "Time since the creation of the object.",
          jsonPath: ".metadata.creationTimestamp",
          priority: 1,
        },
      ],
    });
  });

  test("has a schema keyword for each property of the declaration", () => {
    const { properties } = definitionOf(Parcel, { vocabulary: "kubernetes" }).spec.versions[0]!.schema
      .openAPIV3Schema as { properties: Record<string, { required: string[]; properties: object }> };
    expect(properties["metadata"]).toEqual({ type: "object" });
    expect(properties["spec"]!.required).toEqual(["address"]);
    expect(properties["spec"]!.properties).toMatchObject({
      address: { type: "string", minLength: 1, description: "Where to." },
      color: { type: "string", enum: ["green", "red"], default: "red" },
      count: { type: "integer", format: "int32", default: 0 },
      large: { type: "integer", format: "int64" },
      weight: { "x-kubernetes-int-or-string": true },
      port: { "x-kubernetes-int-or-string": true },
      sent: { type: "string", format: "date-time" },
      seal: { type: "string", format: "byte" },
      ratio: { type: "number", format: "double" },
      free: { "x-kubernetes-preserve-unknown-fields": true },
      tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      colors: { items: { type: "string", enum: ["green", "red"] } },
      parts: { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"] },
      limits: { type: "object", additionalProperties: { type: "integer", format: "int32" } },
      whole: { "x-kubernetes-map-type": "atomic" },
      shade: { type: "string" },
    });
    expect(properties["spec"]!.properties).not.toHaveProperty("shade.enum");
  });

  test("describes a recursive struct as an object that preserves unknown fields", () => {
    const Node: Kind["type"] = struct("Node", "A node.", () => ({ next: field(1, Node, "The next one.") }));
    const type = { metadata: field(1, ObjectMeta, "Metadata."), node: field(2, Node, "The first one.") };
    const Chain = kind({ ...own("Chain", "chains"), fields: type });
    const { properties } = definitionOf(Chain).spec.versions[0]!.schema.openAPIV3Schema as {
      properties: object;
    };
    expect(properties).toMatchObject({
      node: {
        properties: {
          next: { type: "object", "x-platform-preserve-unknown-fields": true, description: "The next one." },
        },
      },
    });
  });

  test("is rejected when a definition can't express the declaration", () => {
    const metadata = field(1, ObjectMeta, "Metadata.");
    const Item = struct("Item", "An item.", { id: field(1, words.string, "Its name.") });
    const Keyed = kind({
      ...own("Keyed", "keyed"),
      fields: { metadata, items: field(2, list(Item), "Items.").mapBy("id") },
    });
    expect(() => definitionOf(Keyed)).toThrow(
      'Keyed v1: items: the key "id" of the list is neither required',
    );

    let wide = struct("Wide0", "Wide.", { end: field(1, words.string, "The end.") }) as Kind["type"];
    for (let at = 1; at < 20; at++) {
      const inner = wide;
      wide = struct(`Wide${at}`, "Wide.", () => ({
        a: field(1, inner, "One."),
        b: field(2, inner, "Two."),
      })) as Kind["type"];
    }
    const Wide = kind({ ...own("Wide", "wides"), fields: { metadata, wide: field(2, wide, "Wide.") } });
    expect(() => definitionOf(Wide)).toThrow("the schema has more than 20000 nodes");
    expect(() => definitionOf([Parcel, Shelf])).toThrow(TypeError);
  });

  test("has several versions, with a conversion where the declaration converts by functions", () => {
    const beta = declareGroup("shop.example.com", "v1beta1");
    const ParcelBeta = beta.kind({
      name: "Parcel",
      resource: "parcels",
      singular: "parcel",
      scope: "Namespaced",
      doc: "What is sent.",
      servedByDefault: false,
      fields: { metadata: field(1, ObjectMeta, "Metadata.") },
      conversion: { stored: () => Parcel, toStored: (object) => object, fromStored: (object) => object },
    });
    expect(() => definitionOf([ParcelBeta, Parcel])).toThrow("the option conversion");
    const conversion = { strategy: "None" };
    const { spec } = definitionOf([ParcelBeta, Parcel], { conversion });
    expect(spec.conversion).toEqual(conversion);
    expect(spec.versions.map(({ name, served, storage }) => [name, served, storage])).toEqual([
      ["v1beta1", false, false],
      ["v1", true, true],
    ]);
  });
});

const own = (name: string, resource: string) =>
  ({ name, resource, singular: name.toLowerCase(), scope: "Namespaced", doc: `A ${name}.` }) as const;

describe("a server with the definition", () => {
  let declared: TestServer;
  let defined: TestServer;
  beforeAll(async () => {
    [declared, defined] = await Promise.all([
      TestServer.start({ kinds: [Parcel, Order, Shelf] }),
      TestServer.start(),
    ]);
    for (const one of [Parcel, Order, Shelf]) {
      const manifest = definitionOf(one);
      const made = await defined.admin.post(definitions, manifest);
      expect(made.status, String(made.body.message)).toBe(201);
      await whenServed(defined.admin, manifest as unknown as Parameters<typeof whenServed>[1]);
    }
  });
  afterAll(() => Promise.all([declared.close(), defined.close()]));

  test.each([Parcel, Order, Shelf])("has $name established, by a structural schema", async ({ resource }) => {
    const { body } = await defined.admin.get(`${definitions}/${resource}.shop.example.com`);
    const conditions = body.status.conditions as { type: string; status: string }[];
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Established", status: "True" }));
    expect(conditions.map(({ type }) => type)).not.toContain("NonStructuralSchema");
  });

  const address = "Elm 3";
  test.each<[string, unknown, object?]>([
    ["with defaults", { address }],
    ["with everything", { address, color: "green", count: 3, large: 4, weight: "2Gi", port: 8, ratio: 0.5 }],
    ["with more", { address, sent: "2020-01-02T03:04:05Z", seal: "YQ==", express: true, patience: "1m30s" }],
    ["with free values", { address, free: { any: [1, null, "x"] }, port: "door", weight: "1500m" }],
    [
      "with lists and maps",
      { address, tags: ["a"], parts: [{ key: "a" }], limits: { a: 1 }, whole: { b: "c" } },
    ],
    ["with a word that isn't known", { address, shade: "pale" }],
    ["with unknown fields", { address, nothing: 1, parts: [{ key: "a", other: 2 }] }, { extra: { a: 1 } }],
    ["with a null where a default is", { address, color: null }],
    ["with a null where none is", { address, tags: null, limits: null }],
    ["with a status", { address }, { status: { ready: true } }],
    ["without what is required", {}],
    ["with an empty text where one is required", { address: "" }],
    ["with a value outside the set", { address, color: "blue" }],
    ["with an item without its key", { address, parts: [{ value: 1 }] }],
    ["with several faults", { color: "blue", parts: [{ key: "" }] }],
  ])("takes and refuses the same objects: one %s", async (_, spec, more) => {
    const path = "/apis/shop.example.com/v1/namespaces/default/parcels?dryRun=All";
    const ask = async ({ admin }: TestServer) => {
      const { status, body } = await admin.post(path, parcel(spec, more));
      const causes = (body.details?.causes ?? []) as { field: string }[];
      const { metadata: _metadata, ...object } = body;
      return {
        status,
        ...(status < 300 ? { object } : { fields: causes.map((one) => one.field).toSorted() }),
      };
    };
    const [own, custom] = await Promise.all([ask(declared), ask(defined)]);
    expect(custom).toEqual(own);
    expect([201, 422]).toContain(own.status);
  });

  test.each([
    ["a list with values outside the set", { address, colors: ["red", "blue"] }, "colors"],
    ["a wrong type", { address: 1 }, "address"],
    ["a number beyond 32 bits", { address, count: 2 ** 40 }, "count"],
    ["a time that is none", { address, sent: "noon" }, "sent"],
    ["a quantity that is none", { address, weight: "heavy" }, "weight"],
    ["a length of time that is none", { address, patience: "2d" }, "patience"],
    ["no spec", undefined, ""],
    ["bytes that are none", { address, seal: "?" }, "seal"],
  ])("refuses %s, as a declared kind does with one fault at or above the place", async (_, spec, name) => {
    const path = "/apis/shop.example.com/v1/namespaces/default/parcels";
    const refused = await declared.admin.post(path, parcel(spec));
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.text).toContain(name === "" ? "spec" : `spec.${name}`);
    const { status, body } = await defined.admin.post(path, parcel(spec));
    expect(status).toBe(422);
    expect(body.details.causes[0].field).toMatch(new RegExp(`^spec\\.?${name}(\\[1\\])?$`));
  });

  test.each([
    ["two items with the same key", { address, parts: [{ key: "a" }, { key: "a" }] }, "spec.parts[1]"],
    ["an empty text where a closed set is declared", { address, color: "" }, "spec.color"],
  ])("refuses %s, which a declared kind takes", async (_, spec, place) => {
    const path = "/apis/shop.example.com/v1/namespaces/default/parcels?dryRun=All";
    expect((await declared.admin.post(path, parcel(spec))).status).toBe(201);
    const { status, body } = await defined.admin.post(path, parcel(spec));
    expect([status, body.details.causes[0].field]).toEqual([422, place]);
  });
});
