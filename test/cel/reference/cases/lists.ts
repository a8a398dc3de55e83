import { rulesOf, schemasOf, integer, list, listMapBy, object, string, type ReferenceCase } from "../case.ts";

const set = { "x-kubernetes-list-type": "set", maxItems: 10 };
const atomic = { "x-kubernetes-list-type": "atomic" };
const nullable = { nullable: true };
const record = object({ k: { type: "string", maxLength: 10 }, v: integer }, { required: ["k"] });

const lists = [
  ...schemasOf("lists", [
    ["a set of texts", list(string, set), ["a"], ["a", "a"]],
    ["a set of nullable texts", list({ ...string, ...nullable }, set), ["a"]],
    ["a set of nullable integers", list({ ...integer, ...nullable }, set), [1]],
    ["a set of atomic lists", list(list(string), set), [["a"]], [["a"], ["a"]]],
    ["a set of nullable lists", list(list(string, nullable), set), [["a"]]],
    ["a set of sets", list(list(string, set), set)],
    [
      "a set of atomic objects",
      list(object({ a: string }, { "x-kubernetes-map-type": "atomic" }), set),
      [{ a: "a" }],
      [{ a: "a" }, { a: "a" }],
    ],
    ["a set of granular objects", list(object({ a: string }), set)],
    ["a list map", list(record, listMapBy("k")), [{ k: "a" }], [{ k: "a" }, { k: "a" }], [{}]],
    ["a list map of nullable objects", list({ ...record, ...nullable }, listMapBy("k")), [{ k: "a" }]],
    [
      "a list map with a nullable key",
      list(object({ k: { ...string, ...nullable } }, { required: ["k"] }), listMapBy("k")),
    ],
    ["a list map with an optional key", list(object({ k: string }), listMapBy("k"))],
    [
      "a list map with a key of a default",
      list(object({ k: { type: "string", default: "a" } }), listMapBy("k")),
      [{}],
      [{}, {}],
      [{}, { k: "b" }],
    ],
    [
      "a list map with a key of an object",
      list(object({ k: object({}) }, { required: ["k"] }), listMapBy("k")),
    ],
    [
      "a list map with a key of any type",
      list(object({ k: { "x-kubernetes-int-or-string": true } }, { required: ["k"] }), listMapBy("k")),
      [{ k: 1 }, { k: "1" }],
      [{ k: 1 }, { k: 1 }],
    ],
    ["a list map without the key", list(object({ a: string }), listMapBy("k"))],
    ["a list map with a key twice", list(record, listMapBy("k", "k"))],
    ["a list map without keys", list(record, { "x-kubernetes-list-type": "map" })],
    ["a list map of texts", list(string, listMapBy("k"))],
    ["keys of an atomic list", list(record, { ...listMapBy("k"), ...atomic })],
    ["keys without a list type", list(record, { "x-kubernetes-list-map-keys": ["k"] })],
    ["an atomic list of nullable texts", list({ ...string, ...nullable }, atomic), ["a", null]],
    ["a list of nullable texts", list({ ...string, ...nullable }), ["a", null]],
    ["an unknown list type", list(string, { "x-kubernetes-list-type": "bag" })],
    ["a list type of an object", object({ a: string }, { "x-kubernetes-list-type": "set" })],
    ["a map type of a list", list(string, { "x-kubernetes-map-type": "atomic" })],
    ["an unknown map type", object({ a: string }, { "x-kubernetes-map-type": "bag" })],
  ]),
  ...rulesOf(
    "equality of sets",
    object({
      a: list(string, set),
      b: list(string, set),
      i: list(integer, set),
      j: list(integer, set),
      l: list(string),
    }),
    [
      [
        "self.a == self.b",
        { a: ["a", "b"], b: ["b", "a"] },
        { a: ["a"], b: ["b"] },
        { a: ["a", "b"], b: ["a"] },
      ],
      ["self.a == self.l", { a: ["a", "b"], l: ["b", "a"] }],
      ["self.l == self.a", { a: ["a", "b"], l: ["b", "a"] }, { a: ["a", "b"], l: ["a", "b"] }],
      ["self.a == ['b', 'a']", { a: ["a", "b"] }],
      ["['b', 'a'] == self.a", { a: ["a", "b"] }],
      ["self.i == [2, 1] && self.i == self.j", { i: [1, 2], j: [2, 1] }],
      ["(self.a + self.b).size() == 2", { a: ["a"], b: ["a", "b"] }, { a: ["a"], b: ["c", "b"] }],
      ["self.a + self.b == ['a', 'b']", { a: ["a"], b: ["a", "b"] }],
      ["self.a + ['a', 'c'] == ['a', 'c']", { a: ["a"] }],
      ["(self.l + self.a).size() == 2", { a: ["a"], l: ["a"] }],
      ["self.a[0] == 'a' && 'a' in self.a && self.a.size() == 1", { a: ["a"] }],
      ["self.a.all(x, x == 'a') && self.a.isSorted()", { a: ["a"] }],
      ["self.a != self.b", { a: ["a", "b"], b: ["b", "a"] }, { a: ["a"], b: ["b"] }],
    ],
  ),
  ...rulesOf(
    "equality of list maps",
    object({ a: list(record, listMapBy("k")), b: list(record, listMapBy("k")), l: list(record) }),
    [
      [
        "self.a == self.b",
        { a: [{ k: "a" }, { k: "b" }], b: [{ k: "b" }, { k: "a" }] },
        { a: [{ k: "a", v: 1 }], b: [{ k: "a", v: 2 }] },
        { a: [{ k: "a" }], b: [] },
      ],
      ["self.a == self.l", { a: [{ k: "a" }, { k: "b" }], l: [{ k: "b" }, { k: "a" }] }],
      [
        "self.a + self.b == self.l",
        { a: [{ k: "a", v: 1 }], b: [{ k: "a", v: 2 }, { k: "b" }], l: [{ k: "b" }, { k: "a", v: 2 }] },
      ],
      ["(self.a + self.b).all(x, x.v == 2)", { a: [{ k: "a", v: 1 }], b: [{ k: "a", v: 2 }] }],
      [
        "(self.a + self.b)[0].k == 'a' && (self.a + self.b).size() == 2",
        { a: [{ k: "a", v: 1 }], b: [{ k: "b" }, { k: "a" }] },
      ],
      ["self.a.exists_one(x, x.k == 'a') && self.a[0] in self.a", { a: [{ k: "a" }] }],
    ],
  ),
  ...rulesOf(
    "equality of nullable fields",
    object({
      a: object({ n: { ...integer, ...nullable }, s: string }),
      l: list(object({ n: { ...integer, ...nullable } })),
    }),
    [
      ["self.a == self.a", { a: { n: null } }, { a: { n: 1 } }, { a: {} }],
      [
        "self.l[0] == self.l[1]",
        { l: [{ n: null }, { n: null }] },
        { l: [{ n: null }, {}] },
        { l: [{ n: null }, { n: 1 }] },
      ],
      ["self.l[0] != self.l[1]", { l: [{ n: null }, {}] }, { l: [{ n: 2 }, { n: 1 }] }],
    ],
  ),
  ...rulesOf(
    "equality of sets of times",
    object({
      a: list({ type: "string", format: "date-time" }, set),
      b: list({ type: "string", format: "date-time" }, set),
    }),
    [
      [
        "self.a == self.b",
        { a: ["2021-01-01T00:00:00Z"], b: ["2021-01-01T00:00:00Z"] },
        { a: ["2021-01-01T00:00:00Z"], b: ["2022-01-01T00:00:00Z"] },
      ],
      ["self.a.all(x, x in self.b)", { a: ["2021-01-01T00:00:00Z"], b: ["2021-01-01T00:00:00Z"] }],
    ],
  ),
  ...rulesOf(
    "equality of sets of objects",
    object({
      a: list(object({ a: string }, { "x-kubernetes-map-type": "atomic" }), set),
      b: list(object({ a: string }, { "x-kubernetes-map-type": "atomic" }), set),
    }),
    [["self.a.all(x, x in self.b)", { a: [{ a: "a" }], b: [{ a: "a" }] }, { a: [{ a: "a" }], b: [] }]],
  ),
  ...rulesOf(
    "equality of list maps by a key with a dash",
    object({
      a: list(object({ "k-k": integer, v: integer }, { required: ["k-k"] }), listMapBy("k-k")),
      b: list(object({ "k-k": integer, v: integer }, { required: ["k-k"] }), listMapBy("k-k")),
    }),
    [
      ["self.a.all(x, x in self.b)", { a: [{ "k-k": 1 }], b: [{ "k-k": 1 }] }],
      ["size(self.a + self.b) == 2", { a: [{ "k-k": 1 }], b: [{ "k-k": 2 }] }],
      [
        "self.a == self.b",
        { a: [{ "k-k": 1 }, { "k-k": 2 }], b: [{ "k-k": 2 }, { "k-k": 1 }] },
        { a: [{ "k-k": 1 }], b: [{ "k-k": 2 }] },
      ],
    ],
  ),
  ...rulesOf(
    "equality of list maps by two keys",
    object({
      a: list(
        object({ k: string, "l-l": integer, v: integer }, { required: ["k", "l-l"] }),
        listMapBy("k", "l-l"),
      ),
      b: list(
        object({ k: string, "l-l": integer, v: integer }, { required: ["k", "l-l"] }),
        listMapBy("k", "l-l"),
      ),
    }),
    [
      [
        "size(self.a) == size(self.b)",
        {
          a: [
            { k: "a", "l-l": 1 },
            { k: "a", "l-l": 2 },
          ],
          b: [
            { k: "a", "l-l": 2 },
            { k: "a", "l-l": 1 },
          ],
        },
      ],
    ],
  ),
];

export const listCases: readonly ReferenceCase[] = lists;
