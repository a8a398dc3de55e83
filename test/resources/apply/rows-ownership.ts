import { apply, create, patch, update, type Row } from "./steps.ts";

/** Who owns what, and what becomes of it: creating, sharing, taking over, giving up. */
export const ownershipRows: readonly Row[] = [
  {
    rule: "C-4.10-01 an apply of a missing object creates it; its manager owns all applied fields",
    steps: [apply("me", { image: "a", labels: { x: "1" } })],
    thing: { image: "a", labels: { x: "1" } },
    owners: { me: ["image", "labels.x"] },
  },
  {
    rule: "C-2.5-01 a create or replace owns all fields of the object",
    steps: [create("you", { image: "a", labels: { x: "1" } }), update("you", { image: "b", args: ["c"] })],
    thing: { image: "b", args: ["c"] },
    owners: { "you updates": ["args", "image"] },
  },
  {
    rule: "C-4.10-02 an apply is merged into the live object; other fields don't change",
    steps: [create("you", { image: "a", labels: { x: "1" } }), apply("me", { labels: { y: "2" } })],
    thing: { image: "a", labels: { x: "1", y: "2" } },
    owners: { me: ["labels.y"], "you updates": ["image", "labels", "labels.x"] },
  },
  {
    rule: "C-4.10-25 applying the same again changes nothing, not even the resource version",
    steps: [
      apply("me", { image: "a", tags: ["x"] }),
      apply("me", { tags: ["x"], image: "a" }, { changesNothing: true }),
    ],
    thing: { image: "a", tags: ["x"] },
    owners: { me: ["image", 'tags[="x"]'] },
  },
  {
    rule: "an apply with fewer fields removes the others",
    steps: [apply("me", { image: "a", args: ["b"] }), apply("me", { image: "a" })],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "C-4.10-05 C-4.10-06 an update owns the fields that it changes; appliers of other values lose them",
    steps: [apply("me", { image: "a", args: ["b"] }), update("you", { image: "c", args: ["b"] })],
    thing: { image: "c", args: ["b"] },
    owners: { me: ["args"], "you updates": ["image"] },
  },
  {
    rule: "C-4.10-09 an update takes fields from other updaters and from appliers, and never conflicts",
    steps: [create("you", { image: "a" }), apply("me", { image: "a" }), update("third", { image: "b" })],
    thing: { image: "b" },
    owners: { "third updates": ["image"] },
  },
  {
    rule: "C-4.10-05 every patch type records the changed fields only",
    steps: [
      create("you", { image: "a" }),
      patch("m", "merge", { labels: { m: "1" } }),
      patch("s", "strategic", { labels: { s: "1" } }),
      patch("j", "json", [{ op: "add", path: "/labels/j", value: "1" }]),
    ],
    thing: { image: "a", labels: { m: "1", s: "1", j: "1" } },
    owners: {
      "j updates": ["labels.j"],
      "m updates": ["labels", "labels.m"],
      "s updates": ["labels.s"],
      "you updates": ["image"],
    },
  },
  {
    rule: "an update that changes nothing owns nothing and keeps the resource version",
    steps: [apply("me", { image: "a" }), update("you", { image: "a" }, { changesNothing: true })],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "a field that an update removes has no owner any more",
    steps: [apply("me", { image: "a", args: ["b"] }), update("you", { image: "a" })],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "one manager has separate entries for updates and applies",
    steps: [create("me", { image: "a" }), apply("me", { image: "a", args: ["b"] })],
    thing: { image: "a", args: ["b"] },
    owners: { "me updates": ["image"], me: ["args", "image"] },
  },
  {
    rule: "applying another value than the own update conflicts, as with other managers",
    steps: [
      create("me", { image: "a" }),
      apply(
        "me",
        { image: "b" },
        { refused: ["Conflict", 'conflict with "me" using tests.platform.io/v1: .image'] },
      ),
    ],
    thing: { image: "a" },
    owners: { "me updates": ["image"] },
  },
  {
    rule: "C-4.10-07 managers that set a field to the same value share it",
    steps: [apply("a", { image: "i" }), apply("b", { image: "i" })],
    thing: { image: "i" },
    owners: { a: ["image"], b: ["image"] },
  },
  {
    rule: "C-4.10-08 an apply that changes a shared value conflicts with every other owner",
    steps: [
      apply("a", { image: "i" }),
      apply("b", { image: "i" }),
      apply("a", { image: "j" }, { refused: ["Conflict", "1 conflict:", 'conflict with "b": .image'] }),
      apply("c", { image: "j" }, { refused: ["Conflict", "2 conflicts:", 'with "a"', 'with "b"'] }),
    ],
    thing: { image: "i" },
    owners: { a: ["image"], b: ["image"] },
  },
  {
    rule: "a rejected apply changes nothing, not even fields without a conflict",
    steps: [
      create("you", { image: "a" }),
      apply("me", { image: "b", args: ["c"] }, { refused: ["Conflict", ".image"] }),
    ],
    thing: { image: "a" },
    owners: { "you updates": ["image"] },
  },
  {
    rule: "C-4.10-10 a forced apply takes conflicting fields; other fields keep their owners",
    steps: [apply("a", { image: "i", args: ["x"] }), apply("b", { image: "j" }, { force: true })],
    thing: { image: "j", args: ["x"] },
    owners: { a: ["args"], b: ["image"] },
  },
  {
    rule: "C-4.10-10 a forced apply removes the entry of an owner without other fields",
    steps: [apply("a", { image: "i" }), apply("b", { image: "j" }, { force: true })],
    thing: { image: "j" },
    owners: { b: ["image"] },
  },
  {
    rule: "C-4.10-11 an applier that omits a conflicting field gives it up; the value stays",
    steps: [
      apply("me", { image: "a", args: ["b"] }),
      patch("you", "merge", { image: "c" }),
      apply("me", { image: "a", args: ["b"] }, { refused: ["Conflict"] }),
      apply("me", { args: ["b"] }, { changesNothing: true }),
    ],
    thing: { image: "c", args: ["b"] },
    owners: { me: ["args"], "you updates": ["image"] },
  },
  {
    rule: "C-4.10-12 an applier that applies the live value shares the field",
    steps: [apply("me", { image: "a" }), patch("you", "merge", { image: "c" }), apply("me", { image: "c" })],
    thing: { image: "c" },
    owners: { me: ["image"], "you updates": ["image"] },
  },
  {
    rule: "C-4.10-13 a field that is no longer applied is deleted",
    steps: [apply("me", { image: "a", args: ["b"] }), apply("me", { args: ["b"] })],
    thing: { args: ["b"] },
    owners: { me: ["args"] },
  },
  {
    rule: "C-4.10-13 a field with a default that is no longer applied gets its default",
    steps: [apply("me", { limits: { most: 3, least: 1 } }), apply("me", { limits: { least: 1 } })],
    thing: { limits: { most: 10, least: 1 } },
    owners: { me: ["limits.least"] },
  },
  {
    rule: "a default set by the server has no owner; another value doesn't conflict",
    steps: [apply("me", { limits: { least: 1 } }), apply("you", { limits: { most: 4 } })],
    thing: { limits: { least: 1, most: 4 } },
    owners: { me: ["limits.least"], you: ["limits.most"] },
  },
  {
    rule: "a default set during an update belongs to the updater",
    steps: [
      create("you", { limits: { least: 1 } }),
      apply("me", { limits: { most: 4 } }, { refused: ["Conflict", ".limits.most"] }),
    ],
    thing: { limits: { least: 1, most: 10 } },
    owners: { "you updates": ["limits", "limits.least", "limits.most"] },
  },
  {
    rule: "C-4.10-14 a field that is no longer applied stays if another manager applies it",
    steps: [
      apply("a", { image: "i" }),
      apply("b", { image: "i", args: [] }),
      apply("a", { labels: { x: "1" } }),
    ],
    thing: { image: "i", labels: { x: "1" } },
    owners: { a: ["labels.x"], b: ["args", "image"] },
  },
  {
    rule: "C-4.10-14 a field that is no longer applied stays if another manager updated it to the same value",
    steps: [create("you", { image: "i" }), apply("me", { image: "i" }), apply("me", {})],
    thing: { image: "i" },
    owners: { "you updates": ["image"] },
  },
  {
    rule: "a field that the applier never applied stays when it applies fewer fields",
    steps: [create("you", { labels: { y: "1" } }), apply("me", { labels: { x: "1" } }), apply("me", {})],
    thing: { labels: { y: "1" } },
    owners: { "you updates": ["labels", "labels.y"] },
  },
  {
    rule: "an empty apply of a missing object creates it without owners",
    steps: [apply("me", {})],
    thing: {},
    owners: {},
  },
  {
    rule: "C-4.10-26 a field is transferred when another manager applies it and the first stops applying it",
    steps: [
      apply("me", { image: "a", args: ["b"] }),
      apply("heir", { image: "a" }),
      apply("me", { args: ["b"] }),
      apply("heir", { image: "c" }),
      apply("me", { image: "d", args: ["b"] }, { refused: ["Conflict", 'conflict with "heir": .image'] }),
    ],
    thing: { image: "c", args: ["b"] },
    owners: { me: ["args"], heir: ["image"] },
  },
  {
    rule: "C-4.10-07 C-4.10-08 a zero that isn't stored, because it equals an absent field, is owned, shared and conflicts like any value",
    steps: [
      apply("a", { option: { level: 0, note: "n" } }),
      apply("b", { option: { level: 0 } }),
      apply("b", { option: { level: 1 } }, { refused: ["Conflict", 'conflict with "a": .option.level'] }),
    ],
    thing: { option: { note: "n" } },
    owners: { a: ["option.level", "option.note"], b: ["option.level"] },
  },
  {
    rule: "C-4.10-08 setting another manager's field to zero conflicts",
    steps: [
      apply("a", { option: { level: 1 } }),
      apply("b", { option: { level: 0 } }, { refused: ["Conflict", 'conflict with "a": .option.level'] }),
      apply("b", { option: { level: 0 } }, { force: true }),
      apply("b", { option: { level: 0 } }, { changesNothing: true }),
    ],
    thing: { option: {} },
    owners: { b: ["option.level"] },
  },
  {
    rule: "null removes the field, and its manager owns the removal; members of a null map or struct stay",
    steps: [
      create("you", { image: "a", labels: { x: "1" } }),
      apply("me", { image: null, labels: null, args: ["b"] }, { refused: ["Conflict", "image"] }),
      apply("me", { image: null, labels: null, args: ["b"] }, { force: true }),
    ],
    thing: { labels: { x: "1" }, args: ["b"] },
    owners: { me: ["args", "image", "labels"], "you updates": ["labels", "labels.x"] },
  },
  {
    rule: "C-2.5-01 entries are identified by manager, operation, version of an update, and subresource",
    steps: [
      create("me", { image: "a" }),
      patch("me", "merge", { labels: { x: "1" } }, { version: "v1beta1" }),
      patch("me", "merge", { status: { phase: "p" } }, { through: "status" }),
      apply("me", { args: ["b"] }),
    ],
    thing: { image: "a", labels: { x: "1" }, args: ["b"], status: { phase: "p" } },
    owners: {
      me: ["args"],
      "me updates": ["image"],
      "me updates status": ["status", "status.phase"],
      "me updates v1beta1": ["labels", "labels.x"],
    },
  },
  {
    rule: "above ten update entries, the oldest ones of a version are merged under a common name",
    steps: [
      create("u00", { labels: { k: "00" } }),
      ...Array.from({ length: 11 }, (_, i) => {
        const n = String(i + 1).padStart(2, "0");
        return patch(`u${n}`, "merge", { labels: { [`k${n}`]: n } });
      }),
    ],
    thing: {
      labels: {
        k: "00",
        ...Object.fromEntries(
          Array.from({ length: 11 }, (_, i) => String(i + 1).padStart(2, "0")).map((n) => [`k${n}`, n]),
        ),
      },
    },
    owners: {
      "ancient-changes updates": ["labels", "labels.k", "labels.k01", "labels.k02"],
      "u03 updates": ["labels.k03"],
      "u04 updates": ["labels.k04"],
      "u05 updates": ["labels.k05"],
      "u06 updates": ["labels.k06"],
      "u07 updates": ["labels.k07"],
      "u08 updates": ["labels.k08"],
      "u09 updates": ["labels.k09"],
      "u10 updates": ["labels.k10"],
      "u11 updates": ["labels.k11"],
    },
  },
];
