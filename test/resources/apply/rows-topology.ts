import { apply, patch, redeclare, type Row } from "./steps.ts";

const granular = {
  labels: { x: "1", y: "1" },
  option: { level: 1, note: "n" },
  tags: ["t"],
  ports: [{ port: 80 }],
};
const asOne = { labels: "atomic", option: "atomic", tags: "atomic", ports: "atomic" } as const;
const stored = { ...granular, ports: [{ port: 80, protocol: "TCP" }] };

/** Declarations that change while objects stand. */
export const topologyRows: readonly Row[] = [
  {
    rule: "C-4.10-23 when a type becomes atomic, owners of any element own the whole",
    steps: [
      apply("a", { labels: { x: "1" }, option: { level: 1 }, tags: ["t"], ports: [{ port: 80 }] }),
      apply("b", { labels: { y: "1" }, option: { note: "n" } }),
      redeclare(asOne),
      apply("c", { image: "i" }),
    ],
    thing: { ...stored, image: "i" },
    owners: { a: ["labels", "option", "ports", "tags"], b: ["labels", "option"], c: ["image"] },
  },
  {
    rule: "C-4.10-23 when a type has become atomic, any change conflicts with all former owners",
    steps: [
      apply("a", { labels: { x: "1" } }),
      apply("b", { labels: { y: "1" } }),
      redeclare(asOne),
      apply(
        "c",
        { labels: { x: "1", y: "1", z: "1" } },
        { refused: ["Conflict", 'with "a": .labels', 'with "b": .labels'] },
      ),
      apply("a", { labels: { x: "1" } }, { refused: ["Conflict", "1 conflict:", 'with "b": .labels'] }),
      apply("a", { labels: { x: "2" } }, { force: true }),
    ],
    thing: { labels: { x: "2" } },
    owners: { a: ["labels"] },
  },
  {
    rule: "C-4.10-23 a former owner that no longer applies it leaves the whole to the others",
    steps: [
      apply("a", { tags: ["t"], image: "i" }),
      apply("b", { tags: ["u"] }),
      redeclare(asOne),
      apply("a", { image: "i" }),
    ],
    thing: { image: "i", tags: ["t", "u"] },
    owners: { a: ["image"], b: ["tags"] },
  },
  {
    rule: "C-4.10-23 when the last former owner no longer applies it, the whole is removed",
    steps: [apply("a", { ports: [{ port: 80 }], image: "i" }), redeclare(asOne), apply("a", { image: "i" })],
    thing: { image: "i" },
    owners: { a: ["image"] },
  },
  {
    rule: "C-4.10-24 when a type becomes granular, its owner owns the field but none of its parts",
    steps: [redeclare(asOne), apply("a", granular), redeclare({}), patch("you", "merge", { image: "i" })],
    thing: { ...stored, image: "i" },
    owners: { a: ["labels", "option", "ports", "tags"], "you updates": ["image"] },
  },
  {
    rule: "C-4.10-24 when a type has become granular, its parts don't conflict",
    steps: [
      redeclare(asOne),
      apply("a", granular),
      redeclare({}),
      apply("b", { labels: { x: "2" }, option: { level: 2 }, tags: ["u"], ports: [{ port: 80, name: "p" }] }),
    ],
    thing: {
      labels: { x: "2", y: "1" },
      option: { level: 2, note: "n" },
      tags: ["t", "u"],
      ports: [{ port: 80, protocol: "TCP", name: "p" }],
    },
    owners: {
      a: ["labels", "option", "ports", "tags"],
      b: [
        "labels.x",
        "option.level",
        'ports[port=80,protocol="TCP"]',
        'ports[port=80,protocol="TCP"].name',
        'ports[port=80,protocol="TCP"].port',
        'tags[="u"]',
      ],
    },
  },
  {
    rule: "C-4.10-24 the former owner of an atomic value owns the parts that it applies again and removes no others",
    steps: [redeclare(asOne), apply("a", granular), redeclare({}), apply("a", { labels: { x: "1" } })],
    thing: { labels: { x: "1", y: "1" } },
    owners: { a: ["labels.x"] },
  },
  {
    rule: "C-4.10-24 a removed value has no owners any more",
    steps: [
      redeclare(asOne),
      apply("a", { labels: { x: "1" }, image: "i" }),
      redeclare({}),
      patch("you", "merge", { labels: null }),
    ],
    thing: { image: "i" },
    owners: { a: ["image"] },
  },
  {
    rule: "C-4.10-23 C-4.10-24 when a type becomes granular and atomic again, all owners of parts own the whole",
    steps: [
      apply("a", { labels: { x: "1" } }),
      apply("b", { labels: { y: "1" } }),
      redeclare(asOne),
      apply("me", { image: "i" }),
      redeclare({}),
      apply("c", { labels: { x: "3" } }),
    ],
    thing: { image: "i", labels: { x: "3", y: "1" } },
    owners: { a: ["labels"], b: ["labels"], c: ["labels.x"], me: ["image"] },
  },
];
