import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { createServer, declareGroup, OptionsError, type Kind } from "../../src/index.ts";
import { TestServer } from "../support/api.ts";
import { anOrder, Order, orders, Shelf } from "./order-kind.ts";

const binary = "application/vnd.platform.protobuf";

describe("a kind of the embedding program is served like a built-in one", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ kinds: [Order, Shelf] });
  });
  afterAll(() => server.close());

  it("in discovery", async () => {
    const { body } = await server.admin.get("/apis/shop.example.com/v1");
    const [first] = body.resources;
    expect(first).toMatchObject({ name: "orders", kind: "Order", shortNames: ["ord"], namespaced: true });
    const groups = (await server.admin.get("/apis")).body.groups as { name: string }[];
    expect(groups.map(({ name }) => name)).toContain("shop.example.com");
  });

  it("in OpenAPI, under its own domain", async () => {
    const { definitions } = (await server.admin.get("/openapi/v2")).body;
    const order = definitions["com.example.shop.v1.Order"];
    expect(order.required).toEqual(["customer"]);
    expect(order.properties.lines.items.$ref).toBe("#/definitions/com.example.shop.v1.Line");
    expect(order.properties.metadata).toMatchObject({
      $ref: "#/definitions/io.platform.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    });
    const paths = (await server.admin.get("/openapi/v3/apis/shop.example.com/v1")).body.paths;
    const types = (path: string) =>
      Object.keys(paths[path].get.responses["200"].content).filter((type) => type.startsWith(binary));
    expect(types("/apis/shop.example.com/v1/namespaces/{namespace}/orders/{name}")).toEqual([binary]);
    expect(types("/apis/shop.example.com/v1/shelves/{name}")).toEqual([]);
  });

  it("with defaults, rules, selectors and columns", async () => {
    const made = await server.admin.post(orders, anOrder("one", { lines: [{ item: "tea" }] }));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ state: "Open", lines: [{ item: "tea", count: 1 }] });
    const wrong = await server.admin.post(orders, anOrder("two", { customer: "a b", state: "Lost" }));
    expect(wrong.status).toBe(422);
    expect(wrong.body.details.causes.map((cause: { field: string }) => cause.field)).toEqual([
      "customer",
      "state",
    ]);
    const found = await server.admin.get(`${orders}?fieldSelector=customer%3Dada`);
    expect(found.body.items).toHaveLength(1);
    const table = await server.admin.get(orders, {
      accept: "application/json;as=Table;g=meta.platform.io;v=v1",
    });
    expect(table.body.rows.map((row: { cells: unknown[] }) => row.cells)).toEqual([["one", "ada"]]);
  });

  it("with server-side apply, by the keys of its lists", async () => {
    const path = (manager: string) => `${orders}/applied?fieldManager=${manager}`;
    const apply = (manager: string, item: string) =>
      server.admin.ask("PATCH", path(manager), {
        body: anOrder("applied", { lines: [{ item }] }),
        contentType: "application/apply-patch+yaml",
      });
    expect((await apply("one", "tea")).status).toBe(201);
    const both = await apply("two", "milk");
    expect(both.body.lines.map((line: { item: string }) => line.item)).toEqual(["tea", "milk"]);
  });

  it("in binary where its fields are numbered, else in JSON only", async () => {
    await server.admin.post("/apis/shop.example.com/v1/shelves", {
      apiVersion: "shop.example.com/v1",
      kind: "Shelf",
      metadata: { name: "left" },
      place: "wall",
    });
    await server.admin.post(orders, anOrder("binary"));
    const order = await server.admin.get(`${orders}/binary`, { accept: binary });
    expect(order.headers["content-type"]).toBe(binary);
    const copy = await server.admin.ask("PUT", `${orders}/binary`, { raw: order.bytes, contentType: binary });
    expect(copy.body).toMatchObject({ customer: "ada", state: "Open" });
    const shelf = "/apis/shop.example.com/v1/shelves/left";
    expect((await server.admin.get(shelf, { accept: binary })).status).toBe(406);
    const json = await server.admin.get(shelf, { accept: `${binary}, application/json` });
    expect(json.body).toMatchObject({ place: "wall" });
    const sent = await server.admin.ask("PUT", shelf, {
      contentType: binary,
      raw: Buffer.concat([
        Buffer.from("k8s\0"),
        Buffer.from([0x0a, 28, 0x0a, 19]),
        Buffer.from("shop.example.com/v1"),
        Buffer.from([0x12, 5]),
        Buffer.from("Shelf"),
        Buffer.from([0x12, 0]),
      ]),
    });
    expect(sent.status).toBe(415);
  });

  it("and is deleted with its namespace", async () => {
    await server.admin.post("/api/v1/namespaces", { metadata: { name: "gone" } });
    const here = { ...anOrder("x"), metadata: { name: "x", namespace: "gone" } };
    const path = orders.replace("default", "gone");
    expect((await server.admin.post(path, here)).status).toBe(201);
    const watch = await server.admin.watch(path);
    await watch.next();
    await server.admin.delete("/api/v1/namespaces/gone");
    expect((await watch.next()).type).toBe("DELETED");
    watch.close();
  });
});

describe("createServer rejects kinds that it can't serve and names them", () => {
  const { kind, field, string, ObjectMeta } = declareGroup("shop.example.com", "v1");
  const metadata = field(1, ObjectMeta, "Metadata.");
  const plain = {
    name: "Thing",
    resource: "things",
    singular: "thing",
    scope: "Cluster",
    doc: "A thing.",
    fields: { metadata },
  } as const;
  const inGroup = (group: string, version = "v1") => declareGroup(group, version).kind(plain);

  test.each<[string, readonly unknown[], string]>([
    ["no list", "x" as unknown as [], 'kinds: "x" is not a list'],
    ["no kind", [{}], "kinds[0].name: is needed, and must be a text"],
    ["nothing", [undefined], "kinds[0]: is needed, and must be an object with name, resource, "],
    [
      "a group without a dot",
      [inGroup("shop")],
      'kinds: Thing: "shop" is not a group like "shop.example.com"',
    ],
    ["a built-in group", [inGroup("apps")], "kinds: Thing: "],
    [
      "the vocabulary's domain",
      [inGroup("shop.platform.io")],
      "groups below platform.io are the server's own",
    ],
    ["a version", [inGroup("a.b", "1.0")], '"1.0" is not a version like "v1"'],
    ["a kind twice", [kind(plain), kind(plain)], "kinds: Thing: the kind Thing is declared twice"],
    [
      "a short name twice",
      [
        kind({ ...plain, shortNames: ["t"] }),
        kind({ ...plain, name: "Tea", resource: "teas", singular: "t" }),
      ],
      "kinds: Tea: the name t is declared twice in shop.example.com/v1",
    ],
    ["a kind that isn't stored", [kind({ ...plain, verbs: ["create"] })], "with the verbs create and get"],
    ["no metadata", [kind({ ...plain, fields: {} })], "the field metadata must have the type ObjectMeta"],
    [
      "a number twice",
      [kind({ ...plain, fields: { metadata, other: field(1, string, "Other.") } })],
      "Thing: two fields have the number 1",
    ],
    [
      "fields that can't be read",
      [
        kind({
          ...plain,
          fields: () => {
            throw new Error("not yet");
          },
        }),
      ],
      "its fields can't be read: Error: not yet",
    ],
    [
      "a subresource that does something",
      [
        kind({
          ...plain,
          subresources: { log: { shape: "connect", verbs: ["get"], optionsKind: "PodLogOptions" } },
        }),
      ],
      "subresource log: only parts and views of the object can be added",
    ],
  ])("%s", async (_what, kinds, message) => {
    const starting = createServer({ port: false, kinds: kinds as readonly Kind[] });
    await expect(starting).rejects.toThrow(OptionsError);
    await expect(starting).rejects.toThrow(message);
  });
});
