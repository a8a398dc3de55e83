import { describe, expect, test } from "vitest";
import { conflictsOf, nothing, ownersOf, take, type State, type Step } from "./support.ts";

interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly object: object;
  readonly owners: Record<string, string[]>;
}

const run = (steps: readonly Step[]): State => steps.reduce(take, nothing);
const tcp80 = 'f:ports k:{"port":80,"protocol":"TCP"}';
const tcp90 = 'f:ports k:{"port":90,"protocol":"TCP"}';

/** Sequences of writes with the resulting object and owners. */
const cases: readonly Case[] = [
  {
    name: "the first apply creates the object and owns all its fields",
    steps: [{ apply: "a", object: { replicas: 1, labels: { x: "1" } } }],
    object: { replicas: 1, labels: { x: "1" } },
    owners: { a: ["f:labels f:x", "f:replicas"] },
  },
  {
    name: "applying the same configuration again changes nothing",
    steps: [
      { apply: "a", object: { replicas: 1, tags: ["t"] } },
      { apply: "a", object: { replicas: 1, tags: ["t"] } },
    ],
    object: { replicas: 1, tags: ["t"] },
    owners: { a: ["f:replicas", 'f:tags v:"t"'] },
  },
  {
    name: "two managers that apply the same value both own the field",
    steps: [
      { apply: "a", object: { replicas: 1 } },
      { apply: "b", object: { replicas: 1 } },
    ],
    object: { replicas: 1 },
    owners: { a: ["f:replicas"], b: ["f:replicas"] },
  },
  {
    name: "C-4.10-14 a shared field stays with the other owner when one manager no longer applies it",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { apply: "b", object: { replicas: 1 } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { replicas: 1, image: "i" },
    owners: { a: ["f:image"], b: ["f:replicas"] },
  },
  {
    name: "a field is removed when its only owner no longer applies it",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { image: "i" },
    owners: { a: ["f:image"] },
  },
  {
    name: "an empty apply removes all fields of the manager",
    steps: [
      { apply: "a", object: { replicas: 1, labels: { x: "1" } } },
      { apply: "a", object: {} },
    ],
    object: {},
    owners: {},
  },
  {
    name: "an update becomes the only owner of the fields that it changes",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { update: "u", object: { replicas: 5, image: "i" } },
    ],
    object: { replicas: 5, image: "i" },
    owners: { a: ["f:image"], "u*": ["f:replicas"] },
  },
  {
    name: "an update that changes nothing owns nothing",
    steps: [
      { apply: "a", object: { replicas: 1 } },
      { update: "u", object: { replicas: 1 } },
    ],
    object: { replicas: 1 },
    owners: { a: ["f:replicas"] },
  },
  {
    name: "an update that removes a field removes it from its owner's fields",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { update: "u", object: { image: "i" } },
    ],
    object: { image: "i" },
    owners: { a: ["f:image"] },
  },
  {
    name: "a forced apply takes over a field",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { apply: "b", object: { replicas: 2 }, force: true },
    ],
    object: { replicas: 2, image: "i" },
    owners: { a: ["f:image"], b: ["f:replicas"] },
  },
  {
    name: "fields that were never applied stay when other fields are applied",
    steps: [
      { update: "u", object: { replicas: 3, labels: { u: "1" } } },
      { apply: "a", object: { labels: { a: "1" } } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { replicas: 3, labels: { u: "1" }, image: "i" },
    owners: { "u*": ["f:labels", "f:labels f:u", "f:replicas"], a: ["f:image"] },
  },
  {
    name: "C-4.10-15 each key of a granular map has its own owners",
    steps: [
      { apply: "a", object: { labels: { x: "1", y: "2" } } },
      { apply: "b", object: { labels: { z: "3" } } },
      { apply: "a", object: { labels: { y: "2" } } },
    ],
    object: { labels: { y: "2", z: "3" } },
    owners: { a: ["f:labels f:y"], b: ["f:labels f:z"] },
  },
  {
    name: "an atomic map is replaced and has one owner",
    steps: [
      { apply: "a", object: { whole: { x: "1", y: "2" } } },
      { apply: "a", object: { whole: { y: "3" } } },
    ],
    object: { whole: { y: "3" } },
    owners: { a: ["f:whole"] },
  },
  {
    name: "C-4.10-21 an atomic struct is replaced",
    steps: [
      { apply: "a", object: { selector: { app: "x", tier: "y" } } },
      { apply: "a", object: { selector: { app: "z" } } },
    ],
    object: { selector: { app: "z" } },
    owners: { a: ["f:selector"] },
  },
  {
    name: "an atomic list is replaced",
    steps: [
      { apply: "a", object: { args: ["a", "b"] } },
      { apply: "a", object: { args: ["c"] } },
    ],
    object: { args: ["c"] },
    owners: { a: ["f:args"] },
  },
  {
    name: "each item of a set has its own owners",
    steps: [
      { apply: "a", object: { tags: ["x", "y"] } },
      { apply: "b", object: { tags: ["z", "y"] } },
      { apply: "a", object: { tags: ["x"] } },
    ],
    object: { tags: ["x", "z", "y"] },
    owners: { a: ['f:tags v:"x"'], b: ['f:tags v:"y"', 'f:tags v:"z"'] },
  },
  {
    name: "list items are identified by their keys, with defaults, and merged",
    steps: [
      { apply: "a", object: { ports: [{ port: 80, name: "web" }] } },
      { apply: "b", object: { ports: [{ port: 80, protocol: "TCP", option: { level: 1 } }, { port: 90 }] } },
    ],
    object: { ports: [{ port: 80, name: "web", protocol: "TCP", option: { level: 1 } }, { port: 90 }] },
    owners: {
      a: [tcp80, `${tcp80} f:name`, `${tcp80} f:port`],
      b: [
        tcp80,
        `${tcp80} f:option f:level`,
        `${tcp80} f:port`,
        `${tcp80} f:protocol`,
        tcp90,
        `${tcp90} f:port`,
      ],
    },
  },
  {
    name: "C-4.10-15 a list item is removed when its last owner no longer applies it",
    steps: [
      { apply: "a", object: { ports: [{ port: 80, name: "web" }, { port: 90 }] } },
      { apply: "b", object: { ports: [{ port: 80 }] } },
      { apply: "a", object: { ports: [] } },
    ],
    object: { ports: [{ port: 80 }] },
    owners: { a: ["f:ports"], b: [tcp80, `${tcp80} f:port`] },
  },
  {
    name: "a list item with fields of another manager stays, without the fields that its first owner no longer applies",
    steps: [
      { apply: "a", object: { ports: [{ port: 80, name: "web" }] } },
      { update: "u", object: { ports: [{ port: 80, name: "web", option: { level: 2 } }] } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { ports: [{ port: 80, option: { level: 2 } }], image: "i" },
    owners: { a: ["f:image"], "u*": [`${tcp80} f:option`, `${tcp80} f:option f:level`] },
  },
  {
    name: "a field that another manager changed stays when its first owner no longer applies it",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { update: "scaler", object: { replicas: 7, image: "i" } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { replicas: 7, image: "i" },
    owners: { a: ["f:image"], "scaler*": ["f:replicas"] },
  },
  {
    name: "the path of an empty object is owned until the object has fields",
    steps: [
      { apply: "a", object: { option: {} } },
      { apply: "a", object: { option: { level: 1 } } },
    ],
    object: { option: { level: 1 } },
    owners: { a: ["f:option f:level"] },
  },
  {
    name: "a manager can apply a field that it set by an update",
    steps: [
      { update: "a", object: { replicas: 1 } },
      { apply: "a", object: { replicas: 1 } },
    ],
    object: { replicas: 1 },
    owners: { "a*": ["f:replicas"], a: ["f:replicas"] },
  },
];

describe("apply", () => {
  test.each(cases)("$name", ({ steps, object, owners }) => {
    const state = run(steps);
    expect(state.object).toEqual(object);
    expect(ownersOf(state)).toEqual(owners);
  });
});

/** Applies that need force, with the expected conflicts. */
const conflicts: readonly {
  name: string;
  steps: readonly Step[];
  last: Step;
  contested: Record<string, string[]>;
}[] = [
  {
    name: "another value of an applied field",
    steps: [{ apply: "a", object: { replicas: 1, image: "i" } }],
    last: { apply: "b", object: { replicas: 2, image: "i" } },
    contested: { a: ["f:replicas"] },
  },
  {
    name: "another value of an updated field",
    steps: [{ update: "u", object: { replicas: 1 } }],
    last: { apply: "a", object: { replicas: 2 } },
    contested: { "u*": ["f:replicas"] },
  },
  {
    name: "fields of several owners",
    steps: [
      { apply: "a", object: { replicas: 1 } },
      { apply: "b", object: { image: "i", labels: { x: "1" } } },
    ],
    last: { apply: "c", object: { replicas: 2, image: "j", labels: { x: "1", y: "2" } } },
    contested: { a: ["f:replicas"], b: ["f:image"] },
  },
  {
    name: "another value of an atomic list and an atomic map",
    steps: [{ apply: "a", object: { args: ["a"], whole: { x: "1" } } }],
    last: { apply: "b", object: { args: ["a", "b"], whole: { x: "1", y: "2" } } },
    contested: { a: ["f:args", "f:whole"] },
  },
  {
    name: "a field of a list item",
    steps: [{ apply: "a", object: { ports: [{ port: 80, name: "web" }] } }],
    last: { apply: "b", object: { ports: [{ port: 80, name: "other" }] } },
    contested: { a: [`${tcp80} f:name`] },
  },
];

describe("an apply conflicts for", () => {
  test.each(conflicts)("$name", ({ steps, last, contested }) => {
    const state = run(steps);
    expect(conflictsOf(state, last)).toEqual(contested);
    // With force it succeeds.
    expect(() => take(state, { ...last, force: true } as Step)).not.toThrow();
  });

  test("no field of the manager itself", () => {
    const state = run([{ apply: "a", object: { replicas: 1 } }]);
    expect(take(state, { apply: "a", object: { replicas: 2 } }).object).toEqual({ replicas: 2 });
  });
});

test("a missing required key counts as zero", () => {
  const { object } = take(nothing, { apply: "a", object: { ports: [{ name: "web" }] } });
  expect(object).toEqual({ ports: [{ name: "web" }] });
  const twice = { ports: [{ name: "web" }, { port: 0, protocol: "TCP" }] };
  expect(() => take(nothing, { apply: "a", object: twice })).toThrow("occurs twice");
});

describe("an apply is rejected for", () => {
  test.each([
    ["a list item that isn't an object", { ports: ["web"] }],
    ["two list items with the same keys", { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }],
    ["a value that occurs twice in a set", { tags: ["a", "a"] }],
  ])("%s", (_name, object) => {
    expect(() => take(nothing, { apply: "a", object })).toThrow();
  });
});
