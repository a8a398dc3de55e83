import { describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { TestServer, type Answer } from "../../support/api.ts";
import { definition, order, served } from "./support.ts";
import { validations, ruled, causesOf, integer, text, useRules } from "./rules-support.ts";

/** The causes without their messages. */
const placesOf = (answer: Answer) =>
  causesOf(answer).map((cause) => (Array.isArray(cause) ? cause.slice(0, 2) : cause));

const { server, kind } = useRules();

describe("evaluation of rules when an object is written", () => {
  test("a rule that is false rejects the object with its field and the message or the rule", async () => {
    const { create, orders, object } = await kind(
      ruled(
        { min: integer, max: integer, name: { ...text, ...validations("self.startsWith('a')") } },
        validations({ rule: "self.min <= self.max", message: " min must not exceed max " }),
        validations("self.metadata.name != 'forbidden' && self.kind == self.kind"),
      ),
    );
    expect(causesOf(await create({ min: 2, max: 1, name: "b" }))).toEqual([
      422,
      ["spec", "Invalid", 'Invalid value: "object": min must not exceed max'],
      ["spec.name", "Invalid", `Invalid value: "string": failed rule: self.startsWith('a')`],
    ]);
    expect(placesOf(await server.admin.post(orders, object("forbidden", { min: 1, max: 2 })))).toEqual([
      422,
      ["<nil>", "Invalid"],
    ]);
    await ok(create({ min: 1, max: 2, name: "a" }));
    expect(placesOf(await server.admin.patch(`${orders}/one`, { spec: { min: 3 } }))).toEqual([
      422,
      ["spec", "Invalid"],
    ]);
  });

  test("errors of list items and map values have fields of their own", async () => {
    const positive = { ...integer, ...validations("self > 0") };
    const { create } = await kind(
      ruled({
        list: { type: "array", maxItems: 10, items: positive },
        map: { type: "object", maxProperties: 10, additionalProperties: positive },
      }),
    );
    expect(placesOf(await create({ list: [1, 0, -1], map: { a: 1, b: 0 } }))).toEqual([
      422,
      ["spec.list[1]", "Invalid"],
      ["spec.list[2]", "Invalid"],
      ["spec.map[b]", "Invalid"],
    ]);
  });

  test("values have the types of the schema; invalid identifiers are escaped", async () => {
    const properties = {
      when: { type: "string", format: "date-time" },
      day: { type: "string", format: "date" },
      wait: { type: "string", format: "duration" },
      data: { type: "string", format: "byte", maxLength: 100 },
      ratio: { type: "number" },
      port: { "x-platform-int-or-string": true },
      "a-b": text,
      namespace: text,
      __x: text,
      free: { type: "object", "x-platform-preserve-unknown-fields": true, properties: { a: integer } },
      embedded: {
        type: "object",
        "x-platform-embedded-resource": true,
        "x-platform-preserve-unknown-fields": true,
      },
      maybe: { ...text, nullable: true },
      flags: { type: "object", maxProperties: 3, additionalProperties: { type: "boolean" } },
    };
    const rules = [
      "self.when > timestamp('2020-01-01T00:00:00Z') && self.day.getFullYear() == 2021",
      "self.wait > duration('1h')",
      "self.data == b'ab' && self.ratio == 1.0",
      "type(self.port) == int ? self.port == 5 : self.port == '5'",
      "self.a__dash__b == 'x' && self.__namespace__ == 'y' && self.__underscores__x == 'z'",
      "self.free.a == 1 && self.embedded.metadata.name == 'n' && self.embedded.kind == 'K'",
      "!has(self.maybe)",
      "self.flags.all(name, self.flags[name]) && has(self.flags.on)",
    ];
    const { create } = await kind(ruled(properties, validations(...rules)));
    const spec = {
      when: "2023-01-01T00:00:00Z",
      day: "2021-05-05",
      wait: "1d",
      data: "YWI=",
      ratio: 1,
      port: "5",
      "a-b": "x",
      namespace: "y",
      __x: "z",
      free: { a: 1, b: 2 },
      embedded: { apiVersion: "v1", kind: "K", metadata: { name: "n" } },
      maybe: null,
      flags: { on: true },
    };
    await ok(create(spec));
    expect(placesOf(await create({ ...spec, wait: "10m", flags: { on: false } }))).toEqual([
      422,
      ["spec", "Invalid"],
      ["spec", "Invalid"],
    ]);
  });

  test("transition rules apply to an update, and are skipped for values that didn't exist", async () => {
    const { create, orders } = await kind(
      ruled(
        { fixed: { ...text, ...validations("self == oldSelf") }, size: integer },
        validations({ rule: "self.size >= oldSelf.size", message: "may only grow" }),
      ),
    );
    await ok(create({ size: 5 }));
    await ok(server.admin.patch(`${orders}/one`, { spec: { fixed: "a" } }));
    expect(causesOf(await server.admin.patch(`${orders}/one`, { spec: { fixed: "b", size: 4 } }))).toEqual([
      422,
      ["spec", "Invalid", 'Invalid value: "object": may only grow'],
      ["spec.fixed", "Invalid", 'Invalid value: "string": failed rule: self == oldSelf'],
    ]);
    await ok(server.admin.patch(`${orders}/one`, { spec: { fixed: null, size: 6 } }));
  });

  test("items of a map list are compared with the old item of the same keys", async () => {
    const parts = {
      type: "array",
      maxItems: 10,
      "x-platform-list-type": "map",
      "x-platform-list-map-keys": ["key"],
      items: {
        type: "object",
        required: ["key"],
        properties: { key: text, value: { ...integer, ...validations("self == oldSelf") } },
      },
    };
    const { create, orders } = await kind(ruled({ parts }));
    await ok(create({ parts: [{ key: "a", value: 1 }] }));
    const update = (list: object) => server.admin.patch(`${orders}/one`, { spec: { parts: list } });
    await ok(
      update([
        { key: "b", value: 2 },
        { key: "a", value: 1 },
      ]),
    );
    expect(
      placesOf(
        await update([
          { key: "b", value: 2 },
          { key: "a", value: 3 },
        ]),
      ),
    ).toEqual([422, ["spec.parts[1].value", "Invalid"]]);
  });

  test("the order of items in sets and maps is ignored, and their concatenation has each item once", async () => {
    const items = {
      type: "object",
      required: ["key"],
      properties: { key: text, value: integer },
    };
    const lists = {
      set: { type: "array", maxItems: 5, items: text, "x-platform-list-type": "set" },
      map: {
        type: "array",
        maxItems: 5,
        items,
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["key"],
      },
    };
    const { create, orders } = await kind(
      ruled(
        { ...lists, size: integer },
        validations(
          "self.set == oldSelf.set",
          "self.map == oldSelf.map",
          "size(self.set + oldSelf.set) == self.size && size(self.map + oldSelf.map) == self.size",
        ),
      ),
    );
    const map = [{ key: "a", value: 1 }, { key: "b" }];
    await ok(create({ set: ["a", "b"], map, size: 2 }));
    await ok(server.admin.patch(`${orders}/one`, { spec: { set: ["b", "a"], map: map.toReversed() } }));
    expect(
      placesOf(
        await server.admin.patch(`${orders}/one`, {
          spec: { set: ["b", "c"], map: [{ key: "a", value: 2 }, { key: "b" }], size: 3 },
        }),
      ),
    ).toEqual([422, ["spec", "Invalid"], ["spec", "Invalid"], ["spec", "Invalid"]]);
  });

  test("a status write must satisfy the rules of the whole object", async () => {
    const { create, orders } = await kind(
      ruled({ size: integer }, {}, validations("!has(self.status) || self.status.ready <= self.spec.size"), {
        subresources: { status: {} },
      }),
    );
    await ok(create({ size: 1 }));
    await ok(server.admin.patch(`${orders}/one/status`, { status: { ready: 1 } }));
    expect(placesOf(await server.admin.patch(`${orders}/one/status`, { status: { ready: 2 } }))).toEqual([
      422,
      ["<nil>", "Invalid"],
    ]);
  });

  test("rules are not evaluated for an object that violates the schema, and a cause says so", async () => {
    const { create } = await kind(
      ruled({ size: { ...integer, minimum: 5 }, name: text }, validations("self.size > 3")),
    );
    expect(causesOf(await create({ size: "1" })).at(-1)).toEqual([
      "<nil>",
      "Invalid",
      expect.stringContaining("some validation rules were not checked"),
    ]);
    expect(placesOf(await create({ size: "1" }))).not.toContainEqual(["spec", "Invalid"]);
    // A number out of range has the right type.
    expect(placesOf(await create({ size: 1 }))).toEqual([422, ["spec.size", "Invalid"], ["spec", "Invalid"]]);
  });

  test("a rule that fails to evaluate rejects the object with the reason", async () => {
    const { create } = await kind(
      ruled(
        { a: integer, port: { "x-platform-int-or-string": true } },
        validations("self.a / self.a == 1", "self.port < 5"),
      ),
    );
    expect(causesOf(await create({ a: 0, port: "x" }))).toEqual([
      422,
      ["spec", "Invalid", expect.stringContaining("division by zero evaluating rule: self.a / self.a == 1")],
      ["spec", "Invalid", expect.stringContaining("'no such overload': call arguments did not match")],
    ]);
  });

  test("each version has its own rules", async () => {
    const size = (rule: string, more: object = {}) => ({
      ...ruled({ size: { ...integer, ...validations(rule) } }),
      ...more,
    });
    const versions = [size("self < 5"), size("self < 3", { name: "v2", storage: false })];
    const orders = await served(server.admin, definition({ versions }, "doubles", "Double"));
    const named = { ...order("a", { size: 4 }), kind: "Double" };
    const other = { ...named, apiVersion: "shop.example.com/v2" };
    expect(placesOf(await server.admin.post(orders.replace("v1", "v2"), other))).toEqual([
      422,
      ["spec.size", "Invalid"],
    ]);
    await ok(server.admin.post(orders, named));
  });

  test("rules are dropped from definitions when the feature gate is off", async () => {
    const without = await TestServer.start({
      enabledControllers: [],
      featureGates: "CustomResourceValidationExpressions=false",
    });
    const orders = await served(
      without.admin,
      definition({ versions: [ruled({ size: integer }, validations("false"))] }),
    );
    await ok(without.admin.post(orders, order("a", { size: 1 })));
    await without.close();
  });
});

describe("evaluation cost of rules", () => {
  const pairs = "self.all(a, self.all(b, a == b || a != b))";
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const listOf = (...rules: readonly string[]) =>
    ruled({ list: { type: "array", maxItems: 500, items: integer, ...validations(...rules) } });
  const repeated = (count: number) => numbers(count).map((index) => `${pairs} || ${index} == 0`);

  test("one evaluation may cost up to 1,000,000", async () => {
    const { create } = await kind(listOf(pairs, "false"));
    expect(causesOf(await create({ list: numbers(500) }))).toEqual([
      422,
      [
        "spec.list",
        "Invalid",
        expect.stringContaining(
          "operation cancelled: actual cost limit exceeded': no further validation rules will be run",
        ),
      ],
    ]);
  });

  test("all rules together may cost up to 10,000,000 for one object", async () => {
    const { create } = await kind(listOf(...repeated(20), "false"));
    expect(causesOf(await create({ list: numbers(300) }))).toEqual([
      422,
      [
        "spec.list",
        "Invalid",
        expect.stringContaining(
          "validation failed due to running out of cost budget, no further validation rules will be run",
        ),
      ],
    ]);
    await ok((await kind(listOf(...repeated(20)))).create({ list: numbers(50) }));
  });

  test("evaluation yields to the event loop between rules", async () => {
    const { create } = await kind(listOf(...repeated(20)));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await create({ list: numbers(250) });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});
