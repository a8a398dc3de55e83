import { apply, create, patch, update, type Row } from "./steps.ts";

/** Who owns what, and what becomes of it: creating, sharing, taking over, giving up. */
export const ownershipRows: readonly Row[] = [
  {
    rule: "C-4.10-01 applying what doesn't exist creates it, and its manager owns all that it names",
    steps: [apply("me", { image: "a", labels: { x: "1" } })],
    thing: { image: "a", labels: { x: "1" } },
    owners: { me: ["image", "labels.x"] },
  },
  {
    rule: "C-2.5-01 whoever creates or replaces owns all that there is",
    steps: [create("you", { image: "a", labels: { x: "1" } }), update("you", { image: "b", args: ["c"] })],
    thing: { image: "b", args: ["c"] },
    owners: { "you updates": ["args", "image"] },
  },
  {
    rule: "C-4.10-02 what is applied is merged into what stands; other fields stay untouched",
    steps: [create("you", { image: "a", labels: { x: "1" } }), apply("me", { labels: { y: "2" } })],
    thing: { image: "a", labels: { x: "1", y: "2" } },
    owners: { me: ["labels.y"], "you updates": ["image", "labels", "labels.x"] },
  },
  {
    rule: "C-4.10-25 applying the same again changes nothing, not even the version",
    steps: [
      apply("me", { image: "a", tags: ["x"] }),
      apply("me", { tags: ["x"], image: "a" }, { changesNothing: true }),
    ],
    thing: { image: "a", tags: ["x"] },
    owners: { me: ["image", 'tags[="x"]'] },
  },
  {
    rule: "an apply that says less and wants the same of it gives the rest up",
    steps: [apply("me", { image: "a", args: ["b"] }), apply("me", { image: "a" })],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "C-4.10-05 C-4.10-06 an update owns what it changes, and takes it from whoever applied it",
    steps: [apply("me", { image: "a", args: ["b"] }), update("you", { image: "c", args: ["b"] })],
    thing: { image: "c", args: ["b"] },
    owners: { me: ["args"], "you updates": ["image"] },
  },
  {
    rule: "C-4.10-09 an update takes fields from other updaters and from appliers alike, and never conflicts",
    steps: [create("you", { image: "a" }), apply("me", { image: "a" }), update("third", { image: "b" })],
    thing: { image: "b" },
    owners: { "third updates": ["image"] },
  },
  {
    rule: "C-4.10-05 every way to patch records what it changed, and nothing else",
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
    rule: "an update that changes nothing owns nothing, and leaves the version",
    steps: [apply("me", { image: "a" }), update("you", { image: "a" }, { changesNothing: true })],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "what an update leaves out is no longer anybody's",
    steps: [apply("me", { image: "a", args: ["b"] }), update("you", { image: "a" })],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "one manager is two owners: what it updated and what it applies are apart",
    steps: [create("me", { image: "a" }), apply("me", { image: "a", args: ["b"] })],
    thing: { image: "a", args: ["b"] },
    owners: { "me updates": ["image"], me: ["args", "image"] },
  },
  {
    rule: "and another value than it updated itself conflicts, as with anybody",
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
    rule: "C-4.10-08 a later apply that changes a shared value conflicts with every other owner",
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
    rule: "a refused apply changes nothing, not even what isn't contested",
    steps: [
      create("you", { image: "a" }),
      apply("me", { image: "b", args: ["c"] }, { refused: ["Conflict", ".image"] }),
    ],
    thing: { image: "a" },
    owners: { "you updates": ["image"] },
  },
  {
    rule: "C-4.10-10 by force a contested field changes hands, and all that isn't contested stays whose it is",
    steps: [apply("a", { image: "i", args: ["x"] }), apply("b", { image: "j" }, { force: true })],
    thing: { image: "j", args: ["x"] },
    owners: { a: ["args"], b: ["image"] },
  },
  {
    rule: "C-4.10-10 by force an owner of nothing else is forgotten",
    steps: [apply("a", { image: "i" }), apply("b", { image: "j" }, { force: true })],
    thing: { image: "j" },
    owners: { b: ["image"] },
  },
  {
    rule: "C-4.10-11 an applier leaves a contested field out: the value stays, and it gives the field up",
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
    rule: "C-4.10-12 an applier takes the value that stands, and shares it",
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
    rule: "C-4.10-13 or reset to its default, where it has one",
    steps: [apply("me", { limits: { most: 3, least: 1 } }), apply("me", { limits: { least: 1 } })],
    thing: { limits: { most: 10, least: 1 } },
    owners: { me: ["limits.least"] },
  },
  {
    rule: "a default that the server fills in is nobody's, and whoever wants another value just takes it",
    steps: [apply("me", { limits: { least: 1 } }), apply("you", { limits: { most: 4 } })],
    thing: { limits: { least: 1, most: 4 } },
    owners: { me: ["limits.least"], you: ["limits.most"] },
  },
  {
    rule: "a default that comes with an update belongs to the updater",
    steps: [
      create("you", { limits: { least: 1 } }),
      apply("me", { limits: { most: 4 } }, { refused: ["Conflict", ".limits.most"] }),
    ],
    thing: { limits: { least: 1, most: 10 } },
    owners: { "you updates": ["limits", "limits.least", "limits.most"] },
  },
  {
    rule: "C-4.10-14 a field that is no longer applied stays where another applies it too",
    steps: [
      apply("a", { image: "i" }),
      apply("b", { image: "i", args: [] }),
      apply("a", { labels: { x: "1" } }),
    ],
    thing: { image: "i", labels: { x: "1" } },
    owners: { a: ["labels.x"], b: ["args", "image"] },
  },
  {
    rule: "C-4.10-14 and where another updated it to the same value it is the updater's as well",
    steps: [create("you", { image: "i" }), apply("me", { image: "i" }), apply("me", {})],
    thing: { image: "i" },
    owners: { "you updates": ["image"] },
  },
  {
    rule: "what was never applied stays when an applier wants less",
    steps: [create("you", { labels: { y: "1" } }), apply("me", { labels: { x: "1" } }), apply("me", {})],
    thing: { labels: { y: "1" } },
    owners: { "you updates": ["labels", "labels.y"] },
  },
  {
    rule: "an apply of nothing to nothing makes an object that is nobody's",
    steps: [apply("me", {})],
    thing: {},
    owners: {},
  },
  {
    rule: "C-4.10-26 a field is handed over by applying it alone under another name",
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
    rule: "C-4.10-07 C-4.10-08 a zero that isn't stored, because the field is zero when absent, is owned, shared and contested like any value",
    steps: [
      apply("a", { option: { level: 0, note: "n" } }),
      apply("b", { option: { level: 0 } }),
      apply("b", { option: { level: 1 } }, { refused: ["Conflict", 'conflict with "a": .option.level'] }),
    ],
    thing: { option: { note: "n" } },
    owners: { a: ["option.level", "option.note"], b: ["option.level"] },
  },
  {
    rule: "C-4.10-08 and to set another's field to zero is a conflict",
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
    rule: "null is a value: the field goes, and its manager owns that; of an object with fields of its own nothing goes",
    steps: [
      create("you", { image: "a", labels: { x: "1" } }),
      apply("me", { image: null, labels: null, args: ["b"] }, { refused: ["Conflict", "image"] }),
      apply("me", { image: null, labels: null, args: ["b"] }, { force: true }),
    ],
    thing: { labels: { x: "1" }, args: ["b"] },
    owners: { me: ["args", "image", "labels"], "you updates": ["labels", "labels.x"] },
  },
  {
    rule: "C-2.5-01 entries are told apart by manager, operation, version of an update, and subresource",
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
    rule: "beyond ten, the oldest updates of one version become one, whose name says so",
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
