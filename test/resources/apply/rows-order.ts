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
    rule: "applied items have the applied order",
    live: ["a", "b"],
    applied: ["zero", "b", "mid", "a"],
    result: ["zero", "b", "mid", "a"],
  },
  {
    rule: "new items after the live ones",
    live: ["a", "b"],
    applied: ["a", "b", "c", "d"],
    result: ["a", "b", "c", "d"],
  },
  {
    rule: "new items before and between the live ones",
    live: ["a", "b"],
    applied: ["x", "a", "y", "b"],
    result: ["x", "a", "y", "b"],
  },
  {
    rule: "items of others stay before the next common item",
    live: ["o1", "a", "o2", "b", "o3"],
    applied: ["a", "b"],
    result: ["o1", "a", "o2", "b", "o3"],
  },
  {
    rule: "new items follow the items of others at the same position",
    live: ["b", "a"],
    applied: ["d", "a", "c"],
    result: ["b", "d", "a", "c"],
  },
  {
    rule: "items of others follow the items whose order changes",
    live: ["o1", "a", "o2", "b", "o3"],
    applied: ["b", "new", "a"],
    result: ["o1", "o2", "b", "o3", "new", "a"],
  },
  {
    rule: "without a common item, live items come first",
    live: ["o1", "o2"],
    applied: ["b", "a"],
    result: ["o1", "o2", "b", "a"],
  },
  {
    rule: "the last item can become the first",
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
    rule: "another order alone changes only owners",
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
    rule: "a repeated apply in another order changes nothing",
    steps: [apply("me", { tags: ["x", "y"] }), apply("me", { tags: ["y", "x"] }, { changesNothing: true })],
    thing: { tags: ["x", "y"] },
    owners: { me: ownedValues(["x", "y"]) },
  },
  {
    rule: "another order together with another change is stored",
    steps: [
      apply("me", { image: "i", steps: items(["a", "b"]) }),
      apply("me", { image: "j", steps: items(["b", "a"]) }),
    ],
    thing: { image: "j", steps: items(["b", "a"]) },
    owners: { me: ["image", ...ownedItems(["a", "b"])] },
  },
  {
    rule: "items that are no longer applied are removed; the others have the applied order",
    steps: [
      apply("me", { steps: items(["a", "b", "c"]) }),
      patch("you", "json", [{ op: "add", path: "/steps/1", value: { name: "o" } }]),
      apply("me", { steps: items(["c", "new", "a"]) }),
    ],
    thing: { steps: items(["o", "c", "new", "a"]) },
    owners: { me: ownedItems(["a", "c", "new"]), "you updates": ownedItems(["o"]) },
  },
  {
    rule: "values that are no longer applied are removed; values of others keep their position",
    steps: [
      apply("you", { tags: ["b"] }),
      apply("me", { tags: ["a", "b", "c"] }),
      apply("me", { image: "i", tags: ["c", "a"] }),
    ],
    thing: { image: "i", tags: ["b", "c", "a"] },
    owners: { me: ["image", ...ownedValues(["a", "c"])], you: ownedValues(["b"]) },
  },
];
