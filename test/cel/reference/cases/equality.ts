import {
  rulesOf,
  integer,
  list,
  map,
  object,
  preserving,
  few,
  string,
  type Json,
  type ReferenceCase,
} from "../case.ts";

const open = (properties: Json): Json => object(properties, preserving);

const twoOpen = object({ l: list(open({ a: integer, o: object({ b: string }) }), { maxItems: 5 }) });

/** Objects with members that expressions can't select. */
const wholeObjects: ReferenceCase[] = [
  ...rulesOf("equality of open objects", twoOpen, [
    [
      "self.l[0] == self.l[1]",
      { l: [{ a: 1 }, { a: 1 }] },
      { l: [{ a: 1 }, { a: 2 }] },
      { l: [{ a: 1 }, {}] },
    ],
    [
      "self.l[0] != self.l[1]",
      {
        l: [
          { a: 1, x: 1 },
          { a: 1, x: 2 },
        ],
      },
      {
        l: [
          { a: 1, x: 1 },
          { a: 1, x: 1 },
        ],
      },
      {
        l: [
          { a: 1, x: { y: [1, 2] } },
          { a: 1, x: { y: [1, 3] } },
        ],
      },
      { l: [{ a: 1, x: "1" }, { a: 1 }] },
      {
        l: [
          { a: 1, o: { b: "1" } },
          { a: 1, o: { b: "2" } },
        ],
      },
    ],
    [
      "self.l[0] != self.l[1] && self.l.size() == 2",
      {
        l: [
          { a: 1, x: 1 },
          { a: 1, y: 1 },
        ],
      },
      { l: [{ x: 1 }, { y: 1 }] },
    ],
    ["self.l[0] in [self.l[1]]", { l: [{ x: 1 }, { x: 1 }] }, { l: [{ x: 1 }, { x: 2 }] }],
    ["self.l == [self.l[1], self.l[0]]", { l: [{ x: 1 }, { x: 1 }] }, { l: [{ x: 1 }, { x: 2 }] }],
    ["self.l.indexOf(self.l[1]) == 1", { l: [{ x: 1 }, { x: 2 }] }, { l: [{ x: 1 }, { x: 1 }] }],
    ["self.l.exists_one(o, o == self.l[0])", { l: [{ x: 1 }, { x: 2 }] }, { l: [{ x: 1 }, { x: 1 }] }],
    ["has(self.l[0].x)", { l: [{ x: 1 }] }],
    ["self.l[0].x == 1", { l: [{ x: 1 }] }],
  ]),
  ...rulesOf(
    "equality of names that can't be written",
    object({
      a: object({ "a b": integer, "1": string, ü: string, c: integer }),
      b: object({ "a b": integer, "1": string, ü: string, c: integer }),
    }),
    [
      [
        "type(self.a) == type(self.b) && dyn(self.a) == dyn(self.b)",
        { a: { "a b": 1 }, b: { "a b": 1 } },
        { a: { "a b": 1 }, b: { "a b": 2 } },
      ],
      [
        "dyn(self.a) != dyn(self.b)",
        { a: { "1": "x", c: 1 }, b: { "1": "y", c: 1 } },
        { a: { ü: "x", c: 1 }, b: { ü: "x", c: 1 } },
      ],
    ],
  ),
  ...rulesOf(
    "equality of lists of names that can't be written",
    object({ l: list(object({ "a b": integer, c: integer }), few) }),
    [
      ["self.l[0] == self.l[1]", { l: [{ "a b": 1 }, { "a b": 1 }] }, { l: [{ "a b": 1 }, { "a b": 2 }] }],
      [
        "self.l[0] != self.l[1]",
        {
          l: [
            { c: 1, "a b": 1 },
            { c: 1, "a b": 2 },
          ],
        },
        { l: [{ c: 1 }, { c: 1 }] },
      ],
    ],
  ),
  ...rulesOf(
    "equality of dynamic values",
    object({
      o: object({ a: integer, b: string }),
      p: object({ a: integer, b: string }),
      m: map(integer),
      any: { "x-kubernetes-int-or-string": true },
    }),
    [
      [
        "dyn(self.o) == dyn(self.p)",
        { o: { a: 1 }, p: { a: 1 } },
        { o: { a: 1 }, p: { a: 2 } },
        { o: { a: 1 }, p: { a: 1, b: "" } },
      ],
      ["dyn(self.o) == dyn(self.m)", { o: { a: 1 }, m: { a: 1 } }, { o: { a: 1 }, m: { a: 2 } }],
      ["dyn(self.m) == dyn({'a': 1})", { m: { a: 1 } }, { m: { a: 1, b: 1 } }],
      ["'a' in dyn(self.o)", { o: { a: 1 } }, { o: { b: "" } }],
      ["dyn(self.o)['a'] == 1", { o: { a: 1 } }, { o: { b: "" } }],
      ["size(dyn(self.o)) == 1", { o: { a: 1 } }, { o: { a: 1, b: "" } }],
      ["dyn(self.o).all(k, k == 'a')", { o: { a: 1 } }, { o: { b: "" } }],
      ["dyn(self.m) == dyn('a') || true", { m: {} }],
      ["dyn(self.m) != dyn('a')", { m: {} }],
      ["dyn(self.o) == dyn([1])", { o: {} }],
      ["dyn(1) == dyn(1.0) && dyn(1u) == dyn(1) && dyn(1) != dyn('1')", {}],
      ["self.any == dyn(1) || self.any == dyn('1')", { any: 1 }, { any: "1" }, { any: 2 }],
      ["{'a': dyn(1)} == {'a': dyn('x')} || true", {}],
      ["[dyn(1), dyn('a')] == [dyn(1.0), dyn('a')]", {}],
    ],
  ),
];

export const equalityCases: readonly ReferenceCase[] = wholeObjects;
