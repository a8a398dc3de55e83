import { apply, create, patch, type Row } from "./steps.ts";

const items = (names: readonly string[]) => names.map((name) => ({ name }));
const ownedItems = (names: readonly string[]) =>
  names.toSorted().flatMap((name) => [`steps[name="${name}"]`, `steps[name="${name}"].name`]);
const ownedValues = (names: readonly string[]) => names.toSorted().map((name) => `tags[="${name}"]`);

interface Order {
  readonly rule: string;
  readonly live: readonly string[];
  readonly applied: readonly string[];
  readonly result: readonly string[];
}

const orders: readonly Order[] = [
  {
    rule: "applied items come in the order in which they are applied",
    live: ["a", "b"],
    applied: ["zero", "b", "mid", "a"],
    result: ["zero", "b", "mid", "a"],
  },
  {
    rule: "new items behind those that stand",
    live: ["a", "b"],
    applied: ["a", "b", "c", "d"],
    result: ["a", "b", "c", "d"],
  },
  {
    rule: "new items before and between those that stand",
    live: ["a", "b"],
    applied: ["x", "a", "y", "b"],
    result: ["x", "a", "y", "b"],
  },
  {
    rule: "items of others stay before the next item that both have",
    live: ["o1", "a", "o2", "b", "o3"],
    applied: ["a", "b"],
    result: ["o1", "a", "o2", "b", "o3"],
  },
  {
    rule: "new items stand behind the items of others at the same place",
    live: ["b", "a"],
    applied: ["d", "a", "c"],
    result: ["b", "d", "a", "c"],
  },
  {
    rule: "items of others follow the items that are applied in another order",
    live: ["o1", "a", "o2", "b", "o3"],
    applied: ["b", "new", "a"],
    result: ["o1", "o2", "b", "o3", "new", "a"],
  },
  {
    rule: "without an item in common, what stands comes first",
    live: ["o1", "o2"],
    applied: ["b", "a"],
    result: ["o1", "o2", "b", "a"],
  },
  {
    rule: "the last item may become the first",
    live: ["a", "b", "c"],
    applied: ["c", "a", "b"],
    result: ["c", "a", "b"],
  },
];

/** Each order, once for items and once for the values of a set. */
const eachOrder: readonly Row[] = orders.flatMap(({ rule, live, applied, result }) => [
  {
    rule: `items: ${rule}`,
    steps: [create("you", { steps: items(live) }), apply("me", { image: "i", steps: items(applied) })],
    thing: { image: "i", steps: items(result) },
    owners: { "you updates": ["steps", ...ownedItems(live)], me: ["image", ...ownedItems(applied)] },
  },
  {
    rule: `values: ${rule}`,
    steps: [create("you", { tags: live }), apply("me", { image: "i", tags: applied })],
    thing: { image: "i", tags: result },
    owners: { "you updates": ["tags", ...ownedValues(live)], me: ["image", ...ownedValues(applied)] },
  },
]);

/** In which order the items of lists and the values of sets stand after an apply. */
export const orderRows: readonly Row[] = [
  ...eachOrder,
  {
    rule: "another order alone changes nothing but owners",
    steps: [
      create("you", { steps: items(["a", "b"]), tags: ["x", "y"] }),
      apply("me", { steps: items(["b", "a"]), tags: ["y", "x"] }),
    ],
    thing: { steps: items(["a", "b"]), tags: ["x", "y"] },
    owners: {
      "you updates": ["steps", ...ownedItems(["a", "b"]), "tags", ...ownedValues(["x", "y"])],
      me: [...ownedItems(["a", "b"]), ...ownedValues(["x", "y"])],
    },
  },
  {
    rule: "applied once more in another order, nothing changes",
    steps: [apply("me", { tags: ["x", "y"] }), apply("me", { tags: ["y", "x"] }, { changesNothing: true })],
    thing: { tags: ["x", "y"] },
    owners: { me: ownedValues(["x", "y"]) },
  },
  {
    rule: "another order together with another change is kept",
    steps: [
      apply("me", { image: "i", steps: items(["a", "b"]) }),
      apply("me", { image: "j", steps: items(["b", "a"]) }),
    ],
    thing: { image: "j", steps: items(["b", "a"]) },
    owners: { me: ["image", ...ownedItems(["a", "b"])] },
  },
  {
    rule: "items that are no longer applied go, and the rest is in the order of now",
    steps: [
      apply("me", { steps: items(["a", "b", "c"]) }),
      patch("you", "json", [{ op: "add", path: "/steps/1", value: { name: "o" } }]),
      apply("me", { steps: items(["c", "new", "a"]) }),
    ],
    thing: { steps: items(["o", "c", "new", "a"]) },
    owners: { me: ownedItems(["a", "c", "new"]), "you updates": ownedItems(["o"]) },
  },
  {
    rule: "values that are no longer applied go, but for those of others, which keep their place",
    steps: [
      apply("you", { tags: ["b"] }),
      apply("me", { tags: ["a", "b", "c"] }),
      apply("me", { image: "i", tags: ["c", "a"] }),
    ],
    thing: { image: "i", tags: ["b", "c", "a"] },
    owners: { me: ["image", ...ownedValues(["a", "c"])], you: ownedValues(["b"]) },
  },
];
