import {
  listMapBy,
  boolean,
  integer,
  list,
  map,
  number,
  object,
  preserving,
  rulesOf,
  schemasOf,
  string,
  wholeObject,
  withRule,
  type Json,
  type ReferenceCase,
} from "../case.ts";

const set = { "x-kubernetes-list-type": "set", maxItems: 10 };
const nullable = { nullable: true };

const places = schemasOf("rules", [
  ["at a list of preserved values", withRule(list(preserving), "self.size() > 0"), [1]],
  ["at a preserved value", withRule(preserving, "true"), 1],
  [
    "at an open object without properties",
    withRule({ type: "object", ...preserving }, "has(self.a)"),
    { a: 1 },
  ],
  ["at an open object", withRule({ type: "object", ...preserving }, "self == self"), { a: 1 }],
  ["at an object without properties", withRule({ type: "object" }, "true"), {}],
  [
    "at an embedded resource",
    withRule(
      { type: "object", ...preserving, "x-kubernetes-embedded-resource": true },
      "self.kind == 'A' && self.metadata.name == 'a'",
    ),
    { apiVersion: "v1", kind: "A", metadata: { name: "a" } },
    { apiVersion: "v1", kind: "B", metadata: { name: "a" } },
  ],
  [
    "at an embedded resource, of its labels",
    withRule(
      { type: "object", ...preserving, "x-kubernetes-embedded-resource": true },
      "self.metadata.labels.a == 'b'",
    ),
    { apiVersion: "v1", kind: "A", metadata: { name: "a" } },
  ],
  [
    "of an embedded resource below",
    withRule(
      object({ e: { type: "object", ...preserving, "x-kubernetes-embedded-resource": true } }),
      "self.e.kind == 'A' && has(self.e.metadata.name)",
    ),
    { e: { apiVersion: "v1", kind: "A", metadata: { name: "a" } } },
  ],
  [
    "at an int-or-string",
    withRule({ "x-kubernetes-int-or-string": true }, "type(self) == int ? self > 0 : self.size() > 0"),
    1,
    "a",
    0,
    "",
  ],
  ["at a text", withRule(string, "self == 'a'"), "a", "b"],
  ["at an integer", withRule(integer, "self > 0"), 1, 0],
  ["at a number", withRule(number, "self > 0.5"), 1, 0],
  ["at a boolean", withRule(boolean, "self"), true, false],
  ["at a list", withRule(list(integer), "self.size() < 2"), [1], [1, 2]],
  ["at a map", withRule(map(integer), "self.size() < 2"), { a: 1 }, { a: 1, b: 2 }],
  ["at a nullable text", withRule({ ...string, ...nullable }, "self == 'a'"), "a", null],
  ["at a nullable object", withRule(object({ a: string }, nullable), "has(self.a)"), { a: "a" }, null, {}],
  [
    "of a nullable text below",
    withRule(object({ a: { ...string, ...nullable } }), "has(self.a)"),
    { a: "a" },
    { a: null },
    {},
  ],
  [
    "of a nullable text below, used",
    withRule(object({ a: { ...string, ...nullable } }), "!has(self.a) || self.a == 'a'"),
    { a: "a" },
    { a: null },
    { a: "b" },
  ],
  [
    "of a nullable object below",
    withRule(object({ o: object({ a: string }, nullable) }), "!has(self.o) || has(self.o.a)"),
    { o: null },
    { o: {} },
    { o: { a: "a" } },
  ],
  ["of a value that isn't declared", withRule(object({ a: string }), "self.b == 'a'"), {}],
  ["of a preserved value below", withRule(object({ a: preserving }), "has(self.a)"), { a: 1 }],
  [
    "of a list of preserved values below",
    withRule(object({ a: list(preserving) }), "has(self.a)"),
    { a: [1] },
  ],
  [
    "of an open object below",
    withRule(object({ a: { type: "object", ...preserving } }), "has(self.a)"),
    { a: { b: 1 } },
    {},
  ],
  ["of a default", withRule(object({ a: { type: "integer", default: 5 } }), "self.a == 5"), {}, { a: 6 }],
  ["that a default breaks", object({ a: withRule({ type: "integer", default: 5 }, "self > 5") })],
  [
    "that a default keeps",
    object({ a: withRule({ type: "integer", default: 6 }, "self > 5") }),
    {},
    { a: 5 },
  ],
  [
    "that a default of an object breaks",
    withRule(object({ a: integer }, { default: { a: 1 } }), "self.a > 5"),
  ],
  ["that fails on a default", object({ a: withRule({ type: "string", default: "x" }, "int(self) > 5") })],
  [
    "in items and outside",
    withRule(list(withRule(integer, "self > 0"), { maxItems: 10 }), "self.size() > 1"),
    [1, 2],
    [0],
    [1],
    [0, 0],
  ],
  ["in values of a map", map(withRule(integer, "self > 0"), { maxProperties: 10 }), { a: 1 }, { a: 0 }],
  [
    "in a nested object",
    object({ a: object({ b: withRule(object({ c: integer }), "self.c > 0") }) }),
    { a: { b: { c: 1 } } },
    { a: { b: { c: 0 } } },
    { a: {} },
    { a: { b: {} } },
  ],
  [
    "several",
    withRule(object({ a: integer }), "self.a > 0", "self.a > 1", "self.a < 5"),
    { a: 2 },
    { a: 0 },
    { a: 5 },
    {},
  ],
  ["the same twice", withRule(object({ a: integer }), "self.a > 0", "self.a > 0"), { a: 0 }],
  [
    "with a fault of the schema too",
    withRule(object({ a: { type: "integer", maximum: 5 } }), "self.a < 4"),
    { a: 6 },
    { a: 4 },
  ],
  [
    "with a wrong type",
    withRule(object({ a: integer, b: string }), "self.a < 4"),
    { a: "x" },
    { a: 5, b: 1 },
  ],
  ["with a missing field", withRule(object({ a: integer }, { required: ["a"] }), "self.a < 4"), {}],
  [
    "with a text that is too long",
    withRule(object({ a: { type: "string", maxLength: 2 } }), "self.a == 'abc'"),
    { a: "abc" },
  ],
  [
    "with too many items",
    withRule(object({ a: list(integer, { maxItems: 1 }) }), "self.a.size() == 2"),
    { a: [1, 2] },
  ],
  [
    "with a value outside the enumeration",
    withRule(object({ a: { type: "string", enum: ["a"] } }), "self.a == 'a'"),
    { a: "b" },
  ],
  [
    "with a wrong format",
    withRule(object({ a: { type: "string", format: "date-time" } }), "self.a > timestamp(0)"),
    { a: "x" },
  ],
  [
    "with a wrong pattern",
    withRule(object({ a: { type: "string", pattern: "^a$" } }), "self.a == 'a'"),
    { a: "b" },
  ],
  [
    "whose message is blank",
    { ...object({ a: integer }), "x-kubernetes-validations": [{ rule: "true", message: " " }] },
  ],
  [
    "whose message has a line break",
    { ...object({ a: integer }), "x-kubernetes-validations": [{ rule: "true", message: "a\nb" }] },
  ],
  [
    "with a line break and without a message",
    { ...object({ a: integer }), "x-kubernetes-validations": [{ rule: "true\n&& true" }] },
  ],
  [
    "with a line break and a message",
    { ...object({ a: integer }), "x-kubernetes-validations": [{ rule: "true\n&& false", message: "never" }] },
    { a: 1 },
  ],
  ["that is missing", { ...object({ a: integer }), "x-kubernetes-validations": [{ rule: "" }] }],
  ["in anyOf", { ...object({ a: integer }), anyOf: [{ "x-kubernetes-validations": [{ rule: "true" }] }] }],
]);

const whole = (title: string, root: Json, ...objects: readonly Json[]): ReferenceCase => ({
  name: `rules of whole objects: ${title}`,
  schema: root,
  objects,
});
const named = (name: string, more: Json = {}): Json => ({
  ...wholeObject({ a: 1 }),
  metadata: { name, ...more },
});
const rootOf = (rule: string, more: Json = {}): Json =>
  withRule(object({ spec: object({ a: integer }), ...more }), rule);
const roots = [
  whole("the name", rootOf("self.metadata.name.startsWith('a')"), named("abc"), named("bcd")),
  whole(
    "the kind and version",
    rootOf("self.kind.startsWith('Case') && self.apiVersion.endsWith('/v1')"),
    named("a"),
  ),
  whole("labels", rootOf("has(self.metadata.labels)"), named("a")),
  whole("generateName", rootOf("!has(self.metadata.generateName)"), named("a")),
  whole(
    "a declared name",
    rootOf("self.metadata.name.size() < 5", {
      metadata: object({ name: { type: "string", maxLength: 10 } }),
    }),
    named("a"),
    named("abcdef"),
  ),
  whole(
    "labels that are declared",
    rootOf("has(self.metadata.labels)", { metadata: object({ labels: map(string) }) }),
    named("a"),
  ),
  whole("the spec", rootOf("self.spec.a > 0"), named("a"), wholeObject({ a: 0 }), wholeObject(undefined)),
  whole(
    "the status",
    rootOf("!has(self.status) || self.status.ready", { status: object({ ready: boolean }) }),
    named("a"),
    { ...named("a"), status: { ready: true } },
    { ...named("a"), status: { ready: false } },
  ),
  whole("equality with itself", rootOf("self == self"), named("a")),
];

const spec = object({ a: integer, s: string });
const transitions = [
  ...rulesOf(
    "changes",
    spec,
    [
      ["self.a >= oldSelf.a", { a: 2 }, { a: 0 }, {}],
      ["self == oldSelf", { a: 1, s: "a" }, { a: 2 }],
      ["self.s == oldSelf.s", { s: "a", a: 5 }, { s: "b" }],
      ["!has(oldSelf.a) || has(self.a)", { a: 5 }, { s: "a" }],
      ["self.a > 0", { a: 1 }, { a: 0 }],
      ["type(oldSelf) == type(self)", { a: 1 }],
    ],
    { a: 1, s: "a" },
  ),
  ...[
    [
      "an open object",
      withRule(object({ a: integer }, preserving), "self == oldSelf"),
      { a: 1, x: 1 },
      [{ a: 1, x: 1 }, { a: 1, x: 2 }, { a: 1 }],
    ],
    [
      "a nullable field",
      withRule(object({ a: { ...integer, ...nullable }, s: string }), "self == oldSelf"),
      { a: 1 },
      [{ a: 1 }, { a: null }, {}],
    ],
    ["a field", object({ a: withRule(integer, "self >= oldSelf") }), { a: 1 }, [{ a: 2 }, { a: 0 }, {}]],
    ["a new field", object({ a: withRule(integer, "self >= oldSelf") }), {}, [{ a: 2 }, { a: 0 }]],
    [
      "a value of a map",
      map(withRule(integer, "self >= oldSelf"), { maxProperties: 5 }),
      { a: 1 },
      [{ a: 2 }, { a: 0 }, { b: 0 }],
    ],
    ["an item of a list", list(withRule(integer, "self >= oldSelf"), { maxItems: 5 }), [1], [[2]]],
    ["an item of a set", list(withRule(integer, "self >= oldSelf"), set), [1], [[2]]],
    [
      "an item of a list map",
      list(withRule(object({ k: string, v: integer }, { required: ["k"] }), "self.v >= oldSelf.v"), {
        maxItems: 5,
        ...listMapBy("k"),
      }),
      [{ k: "a", v: 1 }],
      [[{ k: "a", v: 2 }], [{ k: "a", v: 0 }], [{ k: "b", v: 0 }]],
    ],
    [
      "a field below an item of a list map",
      list(object({ k: string, v: withRule(integer, "self >= oldSelf") }, { required: ["k"] }), {
        maxItems: 5,
        ...listMapBy("k"),
      }),
      [{ k: "a", v: 1 }],
      [[{ k: "a", v: 2 }], [{ k: "a", v: 0 }], [{ k: "b", v: 0 }]],
    ],
    [
      "a field below an item of a list",
      list(object({ v: withRule(integer, "self >= oldSelf") }), { maxItems: 5 }),
      [{ v: 1 }],
      [[{ v: 2 }]],
    ],
    [
      "a field of an atomic object",
      object({
        o: object({ v: withRule(integer, "self >= oldSelf") }, { "x-kubernetes-map-type": "atomic" }),
      }),
      { o: { v: 1 } },
      [{ o: { v: 2 } }, { o: { v: 0 } }],
    ],
    [
      "an atomic object",
      object({
        o: withRule(object({ v: integer }, { "x-kubernetes-map-type": "atomic" }), "self.v >= oldSelf.v"),
      }),
      { o: { v: 1 } },
      [{ o: { v: 2 } }, { o: { v: 0 } }],
    ],
    [
      "a field of a granular object",
      object({
        o: object({ v: withRule(integer, "self >= oldSelf") }, { "x-kubernetes-map-type": "granular" }),
      }),
      { o: { v: 1 } },
      [{ o: { v: 2 } }, { o: { v: 0 } }],
    ],
    [
      "a value of an atomic map",
      object({
        m: map(withRule(integer, "self >= oldSelf"), { maxProperties: 5, "x-kubernetes-map-type": "atomic" }),
      }),
      { m: { a: 1 } },
      [{ m: { a: 2 } }, { m: { a: 0 } }],
    ],
    [
      "a list as a whole",
      withRule(list(integer, { maxItems: 5 }), "self.size() >= oldSelf.size()"),
      [1],
      [[1, 2], []],
    ],
    ["a set as a whole", withRule(list(string, set), "self == oldSelf"), ["a", "b"], [["b", "a"], ["a"]]],
    ["a text", withRule(string, "self == oldSelf"), "a", ["a", "b"]],
    ["a text within a condition", withRule(string, "self == 'x' || self == oldSelf"), "a", ["a", "b", "x"]],
    [
      "a variable that hides the value of before",
      withRule(list(integer, { maxItems: 5 }), "self.all(oldSelf, oldSelf > 0)"),
      [1],
      [[1], [0]],
    ],
  ].map(([title, schema, old, news]) => ({
    name: `changes of ${title as string}`,
    schema: object({ spec: schema as Json }),
    objects: (news as unknown[]).map(wholeObject),
    old: wholeObject(old),
  })),
];

const numbers = Array.from({ length: 1000 }, (_, index) => index);
const limits = rulesOf(
  "limits",
  object({ l: list(integer, { maxItems: 1100 }), s: { type: "string", maxLength: 20_000 } }),
  [
    ["self.l.all(x, self.l.exists(y, y == x))", { l: numbers.slice(0, 100) }, { l: numbers }],
    ["self.l.all(x, x >= 0)", { l: numbers }],
    ["self.l.filter(x, x > 0).size() >= 0", { l: numbers }],
    ["self.s.split('').size() >= 0", { s: "a".repeat(20_000) }],
    ["self.s.contains('b') || self.s.matches('^(a+)+$')", { s: "a".repeat(20_000) }],
  ],
);

export const ruleCases: readonly ReferenceCase[] = [...places, ...roots, ...transitions, ...limits];
