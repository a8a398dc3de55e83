import { apply, create, patch, type Row } from "./steps.ts";

const tcp80 = 'ports[port=80,protocol="TCP"]';
const udp80 = 'ports[port=80,protocol="UDP"]';
const tcp90 = 'ports[port=90,protocol="TCP"]';

/** How each sort of field is merged: maps and structs, sets, lists by keys, and what is one. */
export const mergingRows: readonly Row[] = [
  {
    rule: "C-4.10-19 the keys of a granular map have separate owners",
    steps: [apply("a", { labels: { x: "1", y: "1" } }), apply("b", { labels: { z: "1" } })],
    thing: { labels: { x: "1", y: "1", z: "1" } },
    owners: { a: ["labels.x", "labels.y"], b: ["labels.z"] },
  },
  {
    rule: "C-4.10-15 a key that is no longer applied is removed; the others stay",
    steps: [
      apply("a", { labels: { x: "1", y: "1" } }),
      apply("b", { labels: { z: "1" } }),
      apply("a", { labels: { y: "1" } }),
    ],
    thing: { labels: { y: "1", z: "1" } },
    owners: { a: ["labels.y"], b: ["labels.z"] },
  },
  {
    rule: "an empty map is owned as a field and doesn't affect keys of others",
    steps: [apply("a", { labels: { x: "1" } }), apply("b", { labels: {} })],
    thing: { labels: { x: "1" } },
    owners: { a: ["labels.x"], b: ["labels"] },
  },
  {
    rule: "C-4.10-19 an atomic map is replaced as a whole",
    steps: [apply("a", { whole: { x: "1", y: "1" } }), apply("a", { whole: { y: "2" } })],
    thing: { whole: { y: "2" } },
    owners: { a: ["whole"] },
  },
  {
    rule: "C-4.10-19 an atomic map has one owner: another key conflicts",
    steps: [
      apply("a", { whole: { x: "1" } }),
      apply("b", { whole: { x: "1", y: "1" } }, { refused: ["Conflict", 'conflict with "a": .whole'] }),
    ],
    thing: { whole: { x: "1" } },
    owners: { a: ["whole"] },
  },
  {
    rule: "C-4.10-21 an atomic struct is replaced as a whole, with all nested fields",
    steps: [apply("a", { selector: { app: "x", tier: "y" } }), apply("a", { selector: { tier: "z" } })],
    thing: { selector: { tier: "z" } },
    owners: { a: ["selector"] },
  },
  {
    rule: "the fields of a granular struct have separate owners",
    steps: [apply("a", { option: { level: 1 } }), apply("b", { option: { note: "n" } }), apply("a", {})],
    thing: { option: { note: "n" } },
    owners: { b: ["option.note"] },
  },
  {
    rule: "an empty struct is owned as a field until it has fields",
    steps: [apply("a", { option: {} }), apply("a", { option: { level: 1 } })],
    thing: { option: { level: 1 } },
    owners: { a: ["option.level"] },
  },
  {
    rule: "C-4.10-16 an atomic list is replaced as a whole, in the applied order",
    steps: [apply("a", { args: ["x", "y"] }), apply("a", { args: ["y", "x", "y"] })],
    thing: { args: ["y", "x", "y"] },
    owners: { a: ["args"] },
  },
  {
    rule: "C-4.10-16 an atomic list has one owner: another item conflicts",
    steps: [
      create("you", { args: ["x"] }),
      apply("a", { args: ["x", "y"] }, { refused: ["Conflict", "using tests.platform.io/v1: .args"] }),
    ],
    thing: { args: ["x"] },
    owners: { "you updates": ["args"] },
  },
  {
    rule: "C-4.10-17 the values of a set have separate owners",
    steps: [apply("a", { tags: ["x", "y"] }), apply("b", { tags: ["z", "x"] })],
    thing: { tags: ["z", "x", "y"] },
    owners: { a: ['tags[="x"]', 'tags[="y"]'], b: ['tags[="x"]', 'tags[="z"]'] },
  },
  {
    rule: "C-4.10-15 a value of a set is removed when its last owner no longer applies it",
    steps: [apply("a", { tags: ["x", "y"] }), apply("b", { tags: ["x"] }), apply("a", { image: "i" })],
    thing: { image: "i", tags: ["x"] },
    owners: { a: ["image"], b: ['tags[="x"]'] },
  },
  {
    rule: "values of a set never conflict",
    steps: [create("you", { tags: ["x"] }), apply("a", { tags: ["y"] })],
    thing: { tags: ["x", "y"] },
    owners: { a: ['tags[="y"]'], "you updates": ["tags", 'tags[="x"]'] },
  },
  {
    rule: "C-4.10-17 the values of a set may be numbers",
    steps: [apply("a", { ids: [1, 2] }), apply("b", { ids: [2] }), apply("a", { ids: [3] })],
    thing: { ids: [2, 3] },
    owners: { a: ["ids[=3]"], b: ["ids[=2]"] },
  },
  {
    rule: "C-4.10-20 a list of scalars that strategic merge patch merges is a set",
    steps: [apply("a", { words: ["x"] }), apply("b", { words: ["y"] })],
    thing: { words: ["x", "y"] },
    owners: { a: ['words[="x"]'], b: ['words[="y"]'] },
  },
  {
    rule: "C-4.10-20 a list without a list type that strategic merge patch merges by a key is a map by that key",
    steps: [
      apply("a", { steps: [{ name: "x", command: ["1"] }] }),
      apply("b", { steps: [{ name: "y", command: ["2"] }, { name: "x" }] }),
    ],
    thing: {
      steps: [
        { name: "y", command: ["2"] },
        { name: "x", command: ["1"] },
      ],
    },
    owners: {
      a: ['steps[name="x"]', 'steps[name="x"].command', 'steps[name="x"].name'],
      b: [
        'steps[name="x"]',
        'steps[name="x"].name',
        'steps[name="y"]',
        'steps[name="y"].command',
        'steps[name="y"].name',
      ],
    },
  },
  {
    rule: "C-4.10-18 items are identified by all their keys",
    steps: [
      apply("a", { ports: [{ port: 80, protocol: "TCP", name: "x" }] }),
      apply("b", { ports: [{ port: 80, protocol: "UDP", name: "y" }] }),
    ],
    thing: {
      ports: [
        { port: 80, protocol: "TCP", name: "x" },
        { port: 80, protocol: "UDP", name: "y" },
      ],
    },
    owners: {
      a: [tcp80, `${tcp80}.name`, `${tcp80}.port`, `${tcp80}.protocol`],
      b: [udp80, `${udp80}.name`, `${udp80}.port`, `${udp80}.protocol`],
    },
  },
  {
    rule: "C-4.10-18 a missing key has its default; only applied keys are owned",
    steps: [
      apply("a", { ports: [{ port: 80, name: "x" }] }),
      apply("b", { ports: [{ port: 80, protocol: "TCP" }] }),
    ],
    thing: { ports: [{ port: 80, protocol: "TCP", name: "x" }] },
    owners: {
      a: [tcp80, `${tcp80}.name`, `${tcp80}.port`],
      b: [tcp80, `${tcp80}.port`, `${tcp80}.protocol`],
    },
  },
  {
    rule: "a field of an item conflicts; the message names the item by its keys",
    steps: [
      apply("a", { ports: [{ port: 80, name: "x" }] }),
      apply("b", { ports: [{ port: 80, name: "y" }] }, { refused: ["Conflict", `.${tcp80}.name`] }),
    ],
    thing: { ports: [{ port: 80, protocol: "TCP", name: "x" }] },
    owners: { a: [tcp80, `${tcp80}.name`, `${tcp80}.port`] },
  },
  {
    rule: "C-4.10-15 an item missing compared to the applier's previous apply and owned by no other is removed",
    steps: [apply("a", { ports: [{ port: 80 }, { port: 90 }] }), apply("a", { ports: [{ port: 90 }] })],
    thing: { ports: [{ port: 90, protocol: "TCP" }] },
    owners: { a: [tcp90, `${tcp90}.port`] },
  },
  {
    rule: "C-4.10-14 an item with another owner stays, without the fields of the first applier",
    steps: [
      apply("a", { ports: [{ port: 80, name: "x" }] }),
      apply("b", { ports: [{ port: 80 }] }),
      apply("a", { image: "i" }),
    ],
    thing: { image: "i", ports: [{ port: 80, protocol: "TCP" }] },
    owners: { a: ["image"], b: [tcp80, `${tcp80}.port`] },
  },
  {
    rule: "an item of which an updater owns one field stays with its keys",
    steps: [
      apply("a", { ports: [{ port: 80 }] }),
      patch("you", "json", [{ op: "add", path: "/ports/0/name", value: "x" }]),
      apply("a", {}),
    ],
    thing: { ports: [{ port: 80, protocol: "TCP", name: "x" }] },
    owners: { "you updates": [`${tcp80}.name`] },
  },
  {
    rule: "items of an atomic type have one owner each: another field conflicts on the item",
    steps: [
      apply("a", { links: [{ name: "x", target: "1" }] }),
      apply(
        "b",
        { links: [{ name: "x", target: "2" }] },
        { refused: ["Conflict", 'conflict with "a": .links[name="x"]'] },
      ),
    ],
    thing: { links: [{ name: "x", target: "1" }] },
    owners: { a: ['links[name="x"]'] },
  },
  {
    rule: "an item of an atomic type is replaced as a whole",
    steps: [
      apply("a", { links: [{ name: "x", target: "1" }] }),
      apply("b", { links: [{ name: "x" }, { name: "y" }] }, { force: true }),
    ],
    thing: { links: [{ name: "x" }, { name: "y" }] },
    owners: { b: ['links[name="x"]', 'links[name="y"]'] },
  },
  {
    rule: "an item of an atomic type is removed when it is no longer applied",
    steps: [
      apply("a", { links: [{ name: "x", target: "1" }] }),
      apply("b", { links: [{ name: "y" }] }),
      apply("a", { image: "i" }),
    ],
    thing: { image: "i", links: [{ name: "y" }] },
    owners: { a: ["image"], b: ['links[name="y"]'] },
  },
  {
    rule: "an empty list is owned as a field and doesn't affect items of others",
    steps: [apply("a", { ports: [{ port: 80 }], tags: ["x"] }), apply("b", { ports: [], tags: [] })],
    thing: { ports: [{ port: 80, protocol: "TCP" }], tags: ["x"] },
    owners: { a: [tcp80, `${tcp80}.port`, 'tags[="x"]'], b: ["ports", "tags"] },
  },
  {
    rule: "applying an item with live duplicates leaves one item",
    steps: [
      create("you", {
        ports: [{ port: 80, name: "x" }, { port: 90 }, { port: 80, name: "y" }],
        tags: ["t", "u", "t"],
      }),
      apply("me", { ports: [{ port: 80, name: "z" }], tags: ["t"] }, { force: true }),
    ],
    thing: {
      ports: [
        { port: 80, protocol: "TCP", name: "z" },
        { port: 90, protocol: "TCP" },
      ],
      tags: ["t", "u"],
    },
    owners: {
      me: [
        'ports[port=80,protocol="TCP"]',
        'ports[port=80,protocol="TCP"].name',
        'ports[port=80,protocol="TCP"].port',
        'tags[="t"]',
      ],
      "you updates": [
        "ports",
        'ports[port=80,protocol="TCP"]',
        'ports[port=80,protocol="TCP"].port',
        'ports[port=80,protocol="TCP"].protocol',
        'ports[port=90,protocol="TCP"]',
        'ports[port=90,protocol="TCP"].port',
        'ports[port=90,protocol="TCP"].protocol',
        "tags",
        'tags[="t"]',
        'tags[="u"]',
      ],
    },
  },
  {
    rule: "live duplicates don't change when other items are applied",
    steps: [
      create("you", { steps: [{ name: "x" }, { name: "x" }], tags: ["t", "t"] }),
      apply("me", { steps: [{ name: "y" }], tags: ["u"] }),
    ],
    thing: { steps: [{ name: "x" }, { name: "x" }, { name: "y" }], tags: ["t", "t", "u"] },
    owners: {
      me: ['steps[name="y"]', 'steps[name="y"].name', 'tags[="u"]'],
      "you updates": ["steps", 'steps[name="x"]', 'steps[name="x"].name', "tags", 'tags[="t"]'],
    },
  },
  {
    rule: "an item with an empty key is the same item when it is applied again",
    steps: [
      apply("a", { steps: [{ name: "", command: ["x"] }] }),
      apply("a", { steps: [{ name: "", command: ["x"] }] }, { changesNothing: true }),
      apply("b", { steps: [{ name: "" }] }),
    ],
    thing: { steps: [{ command: ["x"] }] },
    owners: {
      a: ['steps[name=""]', 'steps[name=""].command', 'steps[name=""].name'],
      b: ['steps[name=""]', 'steps[name=""].name'],
    },
  },
  {
    rule: "a field without a schema in a built-in kind has one owner",
    steps: [
      apply("a", { free: { one: { deep: 1, other: 2 } } }),
      apply("b", { free: { two: [1, 2] } }, { refused: ["Conflict", 'conflict with "a": .free'] }),
    ],
    thing: { free: { one: { deep: 1, other: 2 } } },
    owners: { a: ["free"] },
  },
];
