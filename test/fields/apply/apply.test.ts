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

/** What applies and updates make of an object, and who owns what of it then. */
const cases: readonly Case[] = [
  {
    name: "the first apply creates, and owns all that it names",
    steps: [{ apply: "a", object: { replicas: 1, labels: { x: "1" } } }],
    object: { replicas: 1, labels: { x: "1" } },
    owners: { a: ["f:labels f:x", "f:replicas"] },
  },
  {
    name: "applying the same again changes nothing",
    steps: [
      { apply: "a", object: { replicas: 1, tags: ["t"] } },
      { apply: "a", object: { replicas: 1, tags: ["t"] } },
    ],
    object: { replicas: 1, tags: ["t"] },
    owners: { a: ["f:replicas", 'f:tags v:"t"'] },
  },
  {
    name: "two that apply the same value share it",
    steps: [
      { apply: "a", object: { replicas: 1 } },
      { apply: "b", object: { replicas: 1 } },
    ],
    object: { replicas: 1 },
    owners: { a: ["f:replicas"], b: ["f:replicas"] },
  },
  {
    name: "C-4.10-14 who gives a shared field up leaves it to the other",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { apply: "b", object: { replicas: 1 } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { replicas: 1, image: "i" },
    owners: { a: ["f:image"], b: ["f:replicas"] },
  },
  {
    name: "what nobody wants any more is removed",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { image: "i" },
    owners: { a: ["f:image"] },
  },
  {
    name: "an apply of nothing gives everything up",
    steps: [
      { apply: "a", object: { replicas: 1, labels: { x: "1" } } },
      { apply: "a", object: {} },
    ],
    object: {},
    owners: {},
  },
  {
    name: "an update owns what it changes and takes it from the others",
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
    name: "an update that removes a field takes it from its owner",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { update: "u", object: { image: "i" } },
    ],
    object: { image: "i" },
    owners: { a: ["f:image"] },
  },
  {
    name: "by force a field changes hands",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { apply: "b", object: { replicas: 2 }, force: true },
    ],
    object: { replicas: 2, image: "i" },
    owners: { a: ["f:image"], b: ["f:replicas"] },
  },
  {
    name: "what was never applied stays when others apply",
    steps: [
      { update: "u", object: { replicas: 3, labels: { u: "1" } } },
      { apply: "a", object: { labels: { a: "1" } } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { replicas: 3, labels: { u: "1" }, image: "i" },
    owners: { "u*": ["f:labels", "f:labels f:u", "f:replicas"], a: ["f:image"] },
  },
  {
    name: "C-4.10-15 members of a map have an owner each",
    steps: [
      { apply: "a", object: { labels: { x: "1", y: "2" } } },
      { apply: "b", object: { labels: { z: "3" } } },
      { apply: "a", object: { labels: { y: "2" } } },
    ],
    object: { labels: { y: "2", z: "3" } },
    owners: { a: ["f:labels f:y"], b: ["f:labels f:z"] },
  },
  {
    name: "a map that is one has one owner",
    steps: [
      { apply: "a", object: { whole: { x: "1", y: "2" } } },
      { apply: "a", object: { whole: { y: "3" } } },
    ],
    object: { whole: { y: "3" } },
    owners: { a: ["f:whole"] },
  },
  {
    name: "C-4.10-21 a struct that is one is replaced",
    steps: [
      { apply: "a", object: { selector: { app: "x", tier: "y" } } },
      { apply: "a", object: { selector: { app: "z" } } },
    ],
    object: { selector: { app: "z" } },
    owners: { a: ["f:selector"] },
  },
  {
    name: "a list that is one is replaced",
    steps: [
      { apply: "a", object: { args: ["a", "b"] } },
      { apply: "a", object: { args: ["c"] } },
    ],
    object: { args: ["c"] },
    owners: { a: ["f:args"] },
  },
  {
    name: "values of a set have an owner each",
    steps: [
      { apply: "a", object: { tags: ["x", "y"] } },
      { apply: "b", object: { tags: ["z", "y"] } },
      { apply: "a", object: { tags: ["x"] } },
    ],
    object: { tags: ["x", "z", "y"] },
    owners: { a: ['f:tags v:"x"'], b: ['f:tags v:"y"', 'f:tags v:"z"'] },
  },
  {
    name: "items are told apart by their keys, with defaults, and merged",
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
    name: "C-4.10-15 an item goes with its last owner",
    steps: [
      { apply: "a", object: { ports: [{ port: 80, name: "web" }, { port: 90 }] } },
      { apply: "b", object: { ports: [{ port: 80 }] } },
      { apply: "a", object: { ports: [] } },
    ],
    object: { ports: [{ port: 80 }] },
    owners: { a: ["f:ports"], b: [tcp80, `${tcp80} f:port`] },
  },
  {
    name: "an item that somebody else filled in stays, without what its first owner gave up",
    steps: [
      { apply: "a", object: { ports: [{ port: 80, name: "web" }] } },
      { update: "u", object: { ports: [{ port: 80, name: "web", option: { level: 2 } }] } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { ports: [{ port: 80, option: { level: 2 } }], image: "i" },
    owners: { a: ["f:image"], "u*": [`${tcp80} f:option`, `${tcp80} f:option f:level`] },
  },
  {
    name: "a field that somebody else changed stays when its first owner gives it up",
    steps: [
      { apply: "a", object: { replicas: 1, image: "i" } },
      { update: "scaler", object: { replicas: 7, image: "i" } },
      { apply: "a", object: { image: "i" } },
    ],
    object: { replicas: 7, image: "i" },
    owners: { a: ["f:image"], "scaler*": ["f:replicas"] },
  },
  {
    name: "an empty object is owned itself, until there is something in it",
    steps: [
      { apply: "a", object: { option: {} } },
      { apply: "a", object: { option: { level: 1 } } },
    ],
    object: { option: { level: 1 } },
    owners: { a: ["f:option f:level"] },
  },
  {
    name: "what an update wrote before, the same manager may apply later",
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

/** Applies that must be forced, and what is contested. */
const conflicts: readonly {
  name: string;
  steps: readonly Step[];
  last: Step;
  contested: Record<string, string[]>;
}[] = [
  {
    name: "another value of a field that somebody applied",
    steps: [{ apply: "a", object: { replicas: 1, image: "i" } }],
    last: { apply: "b", object: { replicas: 2, image: "i" } },
    contested: { a: ["f:replicas"] },
  },
  {
    name: "another value of a field that somebody wrote",
    steps: [{ update: "u", object: { replicas: 1 } }],
    last: { apply: "a", object: { replicas: 2 } },
    contested: { "u*": ["f:replicas"] },
  },
  {
    name: "several fields of several owners",
    steps: [
      { apply: "a", object: { replicas: 1 } },
      { apply: "b", object: { image: "i", labels: { x: "1" } } },
    ],
    last: { apply: "c", object: { replicas: 2, image: "j", labels: { x: "1", y: "2" } } },
    contested: { a: ["f:replicas"], b: ["f:image"] },
  },
  {
    name: "another form of what is owned as one",
    steps: [{ apply: "a", object: { args: ["a"], whole: { x: "1" } } }],
    last: { apply: "b", object: { args: ["a", "b"], whole: { x: "1", y: "2" } } },
    contested: { a: ["f:args", "f:whole"] },
  },
  {
    name: "a field of an item",
    steps: [{ apply: "a", object: { ports: [{ port: 80, name: "web" }] } }],
    last: { apply: "b", object: { ports: [{ port: 80, name: "other" }] } },
    contested: { a: [`${tcp80} f:name`] },
  },
];

describe("conflicts", () => {
  test.each(conflicts)("$name", ({ steps, last, contested }) => {
    const state = run(steps);
    expect(conflictsOf(state, last)).toEqual(contested);
    // Nothing is changed by it, and by force it works.
    expect(() => take(state, { ...last, force: true } as Step)).not.toThrow();
  });

  test("no conflict with oneself", () => {
    const state = run([{ apply: "a", object: { replicas: 1 } }]);
    expect(take(state, { apply: "a", object: { replicas: 2 } }).object).toEqual({ replicas: 2 });
  });
});

test("a key that has to be said and isn't is as if it were zero", () => {
  const { object } = take(nothing, { apply: "a", object: { ports: [{ name: "web" }] } });
  expect(object).toEqual({ ports: [{ name: "web" }] });
  const twice = { ports: [{ name: "web" }, { port: 0, protocol: "TCP" }] };
  expect(() => take(nothing, { apply: "a", object: twice })).toThrow("occurs twice");
});

describe("what can't be applied", () => {
  test.each([
    ["an item that is no object", { ports: ["web"] }],
    ["an item that occurs twice", { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }],
    ["a value that occurs twice", { tags: ["a", "a"] }],
  ])("%s", (_name, object) => {
    expect(() => take(nothing, { apply: "a", object })).toThrow();
  });
});
