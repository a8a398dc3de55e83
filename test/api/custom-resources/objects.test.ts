import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { type Answer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, order, served, version } from "./support.ts";

let orders: string;
const server = useServer({ enabledControllers: [] });
beforeAll(async () => {
  const subresources = {
    status: {},
    scale: {
      specReplicasPath: ".spec.size",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  };
  const additionalPrinterColumns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How large it is." },
    { name: "Ready", type: "string", jsonPath: '.spec.parts[?(@.key=="b")].value', priority: 1 },
    { name: "Made", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ];
  orders = await served(
    server.admin,
    definition({ versions: [version("v1", { subresources, additionalPrinterColumns })] }),
  );
});

const causesOf = ({ status, body }: Answer) => [
  status,
  ...(body.details?.causes ?? []).map((cause: { field: string; reason: string }) => [
    cause.field,
    cause.reason.replace("FieldValue", ""),
  ]),
];

describe("writes of custom resources", () => {
  test("defaults are set at every depth, unknown fields are dropped with a warning", async () => {
    const { status, body, warnings } = await server.admin.post(
      orders,
      order("a", { size: 3, unknown: 1, nested: {} }, { extra: {} }),
    );
    expect([status, body.spec]).toEqual([201, { color: "red", nested: { deep: "d" }, size: 3 }]);
    expect(body.extra).toBeUndefined();
    expect(warnings).toEqual(['unknown field "spec.unknown"', 'unknown field "extra"']);
    expect(body.metadata).toMatchObject({ generation: 1, namespace: "default" });
    const strict = await server.admin.post(`${orders}?fieldValidation=Strict`, order("s", { size: 1, x: 1 }));
    expect([strict.status, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.x"'),
    ]);
  });

  test("C-4.8-04 x-platform-preserve-unknown-fields keeps unknown fields only below its schema", async () => {
    const free = { kept: [1, { deep: null }], __proto__: undefined };
    const { body } = await server.admin.post(orders, order("b", { size: 1, free, other: free }));
    expect(body.spec.free).toEqual({ kept: [1, { deep: null }] });
    expect(body.spec.other).toBeUndefined();
  });

  test("an embedded object keeps apiVersion, kind and metadata, whose unknown fields are dropped", async () => {
    const embedded = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", unknown: 1 }, spec: { a: 1 } };
    const { body } = await server.admin.post(orders, order("c", { size: 1, embedded }));
    expect(body.spec.embedded).toMatchObject({ kind: "Pod", metadata: { name: "p" }, spec: { a: 1 } });
    expect(body.spec.embedded.metadata.unknown).toBeUndefined();
  });

  test("null is kept when it is nullable, replaced by a default, or removed", async () => {
    const { body } = await server.admin.post(
      orders,
      order("d", { size: 1, maybe: null, color: null, code: null }),
    );
    expect(body.spec).toEqual({ color: "red", maybe: null, nested: { deep: "d" }, size: 1 });
  });

  test("integers beyond 2^53 are stored exactly", async () => {
    const raw = JSON.stringify(order("e", { size: 1, limits: { max: 0 } })).replace(
      '"max":0',
      '"max":9007199254740993',
    );
    await ok(server.admin.ask("POST", orders, { raw, contentType: "application/json" }));
    expect((await server.admin.get(`${orders}/e`)).text).toContain('"max":9007199254740993');
  });
});

describe("invalid values, with the field and reason of each cause", () => {
  test.each<[string, object | null, unknown[]]>([
    ["without what is required", {}, [["spec.size", "Required"]]],
    ["below the minimum", { size: 0 }, [["spec.size", "Invalid"]]],
    ["above the maximum", { size: 11 }, [["spec.size", "Invalid"]]],
    [
      "a fraction for an integer",
      { size: 1.5 },
      [
        [".spec.size", "Invalid"],
        ["spec.size", "TypeInvalid"],
      ],
    ],
    [
      "a text for an integer",
      { size: "1" },
      [
        [".spec.size", "Invalid"],
        ["spec.size", "TypeInvalid"],
      ],
    ],
    ["outside the closed set", { size: 1, color: "blue" }, [["spec.color", "NotSupported"]]],
    ["against the pattern", { size: 1, code: "ABC" }, [["spec.code", "Invalid"]]],
    ["too long", { size: 1, code: "abcdefg" }, [["spec.code", "TooLong"]]],
    ["neither integer nor text", { size: 1, port: true }, [["spec.port", "TypeInvalid"]]],
    ["too many items", { size: 1, tags: ["a", "b", "c", "d"] }, [["spec.tags", "TooMany"]]],
    ["a value twice in a set", { size: 1, tags: ["a", "a"] }, [["spec.tags[1]", "Duplicate"]]],
    ["a key twice", { size: 1, parts: [{ key: "a" }, { key: "a" }] }, [["spec.parts[1]", "Duplicate"]]],
    ["an item without its key", { size: 1, parts: [{ value: "a" }] }, [["spec.parts[0].key", "Required"]]],
    ["against the format", { size: 1, when: "today" }, [["spec.when", "TypeInvalid"]]],
    ["a value of a map", { size: 1, limits: { a: "b" } }, [["spec.limits.a", "TypeInvalid"]]],
    ["a list for an object", { size: 1, nested: [] }, [["spec.nested", "TypeInvalid"]]],
  ])("%s is 422", async (_, spec, causes) => {
    expect(causesOf(await server.admin.post(orders, order("bad", spec!)))).toEqual([422, ...causes]);
  });

  test("the message of a cause names the path in the body once more", async () => {
    const spec = { size: 0, when: "today", limits: { a: "b" }, code: "ABC" };
    const { body } = await server.admin.post(orders, order("bad", spec));
    const messages = body.details.causes.map(({ message }: { message: string }) => message);
    expect(messages.toSorted()).toEqual([
      expect.stringContaining("spec.code in body should match "),
      'Invalid value: "string": spec.limits.a in body must be of type integer: "string"',
      'Invalid value: "today": spec.when in body must be of type date-time: "today"',
      "Invalid value: 0: spec.size in body should be greater than or equal to 1",
    ]);
  });

  test("another kind, another apiVersion and metadata of a wrong type are invalid", async () => {
    const other = await server.admin.post(orders, { ...order("bad"), kind: "Other" });
    expect([...causesOf(other), other.body.details.kind]).toEqual([422, ["kind", "Invalid"], "Other"]);
    const v2 = { ...order("bad"), apiVersion: "shop.example.com/v2" };
    expect((await server.admin.post(orders, v2)).status).toBe(400);
    expect((await server.admin.post(orders, { ...order("bad"), metadata: { labels: 5 } })).status).toBe(400);
    expect(causesOf(await server.admin.post(orders, order("Not_Valid")))).toEqual([
      422,
      ["metadata.name", "Invalid"],
    ]);
  });

  test("a patch with an invalid result changes nothing; a strategic merge patch is 415", async () => {
    await ok(server.admin.post(orders, order("kept")));
    expect(causesOf(await server.admin.patch(`${orders}/kept`, { spec: { size: 99 } }))).toEqual([
      422,
      ["spec.size", "Invalid"],
    ]);
    const strategic = await server.admin.patch(`${orders}/kept`, { spec: { size: 2 } }, "strategic");
    expect([strategic.status, strategic.body.reason]).toEqual([415, "UnsupportedMediaType"]);
    expect((await server.admin.get(`${orders}/kept`)).body.spec.size).toBe(1);
  });
});

describe("subresources of custom resources", () => {
  test("a status write changes only the status", async () => {
    const made = await server.admin.post(orders, order("st", { size: 2 }, { status: { ready: true } }));
    expect(made.body.status).toBeUndefined();
    const { body } = await server.admin.put(`${orders}/st/status`, {
      ...made.body,
      metadata: { ...made.body.metadata, labels: { ignored: "x" } },
      spec: { size: 9 },
      status: { ready: true, replicas: 2, selector: "a=b", unknown: 1 },
    });
    expect(body).toMatchObject({ spec: { size: 2 }, status: { ready: true, replicas: 2, selector: "a=b" } });
    expect([body.metadata.labels, body.metadata.generation, body.status.unknown]).toEqual([
      undefined,
      1,
      undefined,
    ]);
    const updated = await server.admin.put(`${orders}/st`, {
      ...body,
      spec: { size: 3 },
      status: { ready: false },
    });
    expect([updated.body.status.ready, updated.body.metadata.generation]).toEqual([true, 2]);
  });

  test("the scale subresource reads and changes the number of replicas", async () => {
    await ok(server.admin.post(orders, order("sc", { size: 2 })));
    await ok(server.admin.patch(`${orders}/sc/status`, { status: { replicas: 1, selector: "a=b" } }));
    const scale = await server.admin.get(`${orders}/sc/scale`);
    expect(scale.body).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 2 },
      status: { replicas: 1, selector: "a=b" },
    });
    await ok(server.admin.patch(`${orders}/sc/scale`, { spec: { replicas: 5 } }));
    expect((await server.admin.get(`${orders}/sc`)).body.spec.size).toBe(5);
    expect(causesOf(await server.admin.patch(`${orders}/sc/scale`, { spec: { replicas: 50 } }))).toEqual([
      422,
      ["spec.size", "Invalid"],
    ]);
  });
});

describe("reads of custom resources", () => {
  test("a table has the columns of the definition after the name", async () => {
    await ok(server.admin.post(orders, order("tab", { size: 4, parts: [{ key: "b", value: "yes" }] })));
    const { body } = await server.admin.get(`${orders}/tab`, {
      accept: "application/json;as=Table;v=v1;g=meta.platform.io",
    });
    expect(
      body.columnDefinitions.map(({ name, type, priority }: Record<string, unknown>) => [
        name,
        type,
        priority,
      ]),
    ).toEqual([
      ["Name", "string", 0],
      ["Size", "integer", 0],
      ["Ready", "string", 1],
      ["Made", "date", 0],
    ]);
    expect(body.rows[0].cells).toEqual(["tab", 4, "yes", expect.stringMatching(/^\d+s$/)]);
  });

  test("C-4.7-06 the binary encoding is 406, and an Accept list falls back to JSON", async () => {
    const binary = "application/vnd.platform.protobuf";
    expect((await server.admin.get(orders, { accept: binary })).status).toBe(406);
    const fallback = await server.admin.get(orders, { accept: `${binary},application/json` });
    expect([fallback.status, fallback.body.kind]).toEqual([200, "OrderList"]);
  });

  test("a watch sends the changes of the objects that its label selector matches", async () => {
    const { body } = await server.admin.get(orders);
    const from = body.metadata.resourceVersion;
    const watch = await server.admin.watch(`${orders}?watch=1&resourceVersion=${from}&labelSelector=w`);
    await ok(server.admin.post(orders, order("unseen")));
    await ok(server.admin.post(orders, { ...order("seen"), metadata: { name: "seen", labels: { w: "1" } } }));
    await ok(server.admin.delete(`${orders}/seen`));
    const [added, deleted] = [await watch.next(), await watch.next()];
    expect([added.type, added.object.metadata.name, deleted.type]).toEqual(["ADDED", "seen", "DELETED"]);
    watch.close();
    const named = await server.admin.get(`${orders}?fieldSelector=metadata.name%3Dunseen`);
    expect(named.body.items).toHaveLength(1);
    expect((await server.admin.get(`${orders}?fieldSelector=spec.size%3D1`)).status).toBe(400);
  });

  test("a delete answers with a Status that has the object's name and uid", async () => {
    const { body } = await server.admin.post(orders, order("gone"));
    const answer = await server.admin.delete(`${orders}/gone`);
    expect([answer.status, answer.body.kind, answer.body.details]).toEqual([
      200,
      "Status",
      { group: "shop.example.com", kind: "orders", name: "gone", uid: body.metadata.uid },
    ]);
  });
});

describe("apply of custom resources", () => {
  const apply = (name: string, manager: string, spec: object, more = "") =>
    server.admin.ask("PATCH", `${orders}/${name}?fieldManager=${manager}${more}`, {
      contentType: "application/apply-patch+yaml",
      body: order(name, spec),
    });
  const ownedBy = (answer: Answer, manager: string) =>
    answer.body.metadata.managedFields.find((one: { manager: string }) => one.manager === manager).fieldsV1[
      "f:spec"
    ];

  test("C-4.10-16 a list without a list type is atomic: replaced as a whole, with one owner", async () => {
    await ok(apply("l", "alice", { size: 1, steps: ["a", "b"] }));
    const conflict = await apply("l", "bob", { size: 1, steps: ["a"] });
    expect([
      conflict.status,
      conflict.body.details.causes.map((one: { field: string }) => one.field),
    ]).toEqual([409, [".spec.steps"]]);
    const forced = await apply("l", "bob", { size: 1, steps: ["c"] }, "&force=true");
    expect([forced.body.spec.steps, ownedBy(forced, "bob")["f:steps"]]).toEqual([["c"], {}]);
  });

  test("C-4.10-17 each value of a set list has its own owners", async () => {
    await ok(apply("s", "alice", { size: 1, tags: ["a", "b"] }));
    const both = await apply("s", "bob", { size: 1, tags: ["b", "c"] });
    expect([both.body.spec.tags, ownedBy(both, "bob")["f:tags"]]).toEqual([
      ["a", "b", "c"],
      { 'v:"b"': {}, 'v:"c"': {} },
    ]);
    const left = await apply("s", "alice", { size: 1 });
    expect(left.body.spec.tags).toEqual(["b", "c"]);
  });

  test("C-4.10-18 items of a map list are identified by their keys", async () => {
    await ok(apply("m", "alice", { size: 1, parts: [{ key: "a", value: "1" }] }));
    const both = await apply("m", "bob", { size: 1, parts: [{ key: "b", value: "2" }] });
    expect(both.body.spec.parts).toEqual([
      { key: "a", value: "1" },
      { key: "b", value: "2" },
    ]);
    expect(ownedBy(both, "bob")["f:parts"]).toEqual({
      'k:{"key":"b"}': { ".": {}, "f:key": {}, "f:value": {} },
    });
    expect((await apply("m", "bob", { size: 1, parts: [{ key: "a", value: "2" }] })).status).toBe(409);
  });

  test("C-4.10-19 an atomic map has one owner, a granular map an owner for each key", async () => {
    await ok(apply("g", "alice", { size: 1, whole: { a: "1" }, limits: { a: 1 } }));
    expect((await apply("g", "bob", { size: 1, whole: { b: "1" } })).status).toBe(409);
    const both = await apply("g", "bob", { size: 1, limits: { b: 2 } });
    expect([both.body.spec.limits, ownedBy(both, "bob")["f:limits"]]).toEqual([
      { a: 1, b: 2 },
      { "f:b": {} },
    ]);
  });

  test("C-4.10-22 a value without a schema has an owner for each member, and its lists are atomic", async () => {
    await ok(apply("f", "alice", { size: 1, free: { a: { b: 1 }, list: [1, 2] } }));
    const both = await apply("f", "bob", { size: 1, free: { a: { c: 2 } } });
    expect([both.body.spec.free.a, ownedBy(both, "bob")["f:free"]]).toEqual([
      { b: 1, c: 2 },
      { "f:a": { ".": {}, "f:c": {} } },
    ]);
    expect((await apply("f", "bob", { size: 1, free: { list: [1] } })).status).toBe(409);
  });

  test("C-4.10-22 a kind without a schema has the same ownership of members", async () => {
    const schema = { openAPIV3Schema: { type: "object", "x-platform-preserve-unknown-fields": true } };
    const loose = await served(
      server.admin,
      definition({ versions: [version("v1", { schema })] }, "looses", "Loose"),
    );
    const write = (manager: string, more: object) =>
      server.admin.ask("PATCH", `${loose}/x?fieldManager=${manager}`, {
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "shop.example.com/v1", kind: "Loose", metadata: { name: "x" }, ...more },
      });
    await ok(write("alice", { any: { a: 1 }, list: [{ k: 1 }] }));
    const both = await write("bob", { any: { b: 2 } });
    expect(both.body.any).toEqual({ a: 1, b: 2 });
    expect((await write("bob", { list: [{ k: 2 }] })).status).toBe(409);
    await ok(server.admin.delete(`${definitions}/looses.shop.example.com`));
  });
});
