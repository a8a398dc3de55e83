import { apply, create, patch, update, type Row, type Step } from "./steps.ts";

const entry = (manager: string, fieldsV1: object, more: object = {}) => ({
  manager,
  operation: "Apply",
  apiVersion: "tests.platform.io/v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
  ...more,
});

/** The same reset in the four ways to write. */
const writers: readonly (readonly [
  string,
  (managedFields: unknown, image: string, more?: object) => Step,
])[] = [
  [
    "merge patch",
    (managedFields, image, more) => patch("you", "merge", { metadata: { managedFields }, image }, more),
  ],
  [
    "strategic merge patch",
    (managedFields, image, more) => patch("you", "strategic", { metadata: { managedFields }, image }, more),
  ],
  [
    "JSON patch",
    (managedFields, image, more) =>
      patch(
        "you",
        "json",
        [
          { op: "replace", path: "/metadata/managedFields", value: managedFields },
          { op: "replace", path: "/image", value: image },
        ],
        more,
      ),
  ],
  [
    "update",
    (managedFields, image, more) =>
      update("you", { image, args: ["b"] }, { metadata: { managedFields }, ...more }),
  ],
];

/** Ownership records that clients clear or rewrite. */
export const recordRows: readonly Row[] = [
  ...writers.flatMap(([how, write]): Row[] => [
    {
      rule: `C-4.10-27 a list with one empty entry clears managedFields: ${how}`,
      steps: [apply("me", { image: "a", args: ["b"] }), write([{}], "a")],
      thing: { image: "a", args: ["b"] },
      owners: {},
    },
    {
      rule: `C-4.10-29 a reset together with a change clears managedFields first; the writer owns the change: ${how}`,
      steps: [apply("me", { image: "a", args: ["b"] }), write([{}], "c")],
      thing: { image: "c", args: ["b"] },
      owners: { "you updates": ["image"] },
    },
    {
      rule: `C-4.10-28 an empty list doesn't change managedFields: ${how}`,
      steps: [apply("me", { image: "a", args: ["b"] }), write([], "a", { changesNothing: true })],
      thing: { image: "a", args: ["b"] },
      owners: { me: ["args", "image"] },
    },
    {
      rule: `a list of entries replaces managedFields, so that a client can migrate them: ${how}`,
      steps: [
        apply("me", { image: "a", args: ["b"] }),
        write([entry("heir", { "f:image": {} }), entry("other", { "f:args": {} })], "a"),
      ],
      thing: { image: "a", args: ["b"] },
      owners: { heir: ["image"], other: ["args"] },
    },
    {
      rule: `invalid entries don't change managedFields: ${how}`,
      steps: [
        apply("me", { image: "a", args: ["b"] }),
        write([entry("heir", { "f:image": {} }), { manager: "x" }], "a", { changesNothing: true }),
        write([entry("heir", { "k:{": {} })], "a", { changesNothing: true }),
        write([entry("heir", { image: {} })], "a", { changesNothing: true }),
        write([entry("heir", {}, { fieldsType: "FieldsV2" })], "a", { changesNothing: true }),
        write([entry("heir", {}, { operation: "Delete" })], "a", { changesNothing: true }),
      ],
      thing: { image: "a", args: ["b"] },
      owners: { me: ["args", "image"] },
    },
    {
      rule: `entries with invalid manager names are rejected: ${how}`,
      steps: [
        apply("me", { image: "a", args: ["b"] }),
        write([entry("x".repeat(129), { "f:image": {} })], "a", {
          refused: ["Invalid", "metadata.managedFields[0].manager", "128"],
        }),
        write([entry("bell\u0007", { "f:image": {} })], "a", { refused: ["Invalid", "printable"] }),
        write([entry("x", { "f:image": {} }, { subresource: "s".repeat(257) })], "a", {
          refused: ["Invalid", "metadata.managedFields[0].subresource", "256"],
        }),
      ],
      thing: { image: "a", args: ["b"] },
      owners: { me: ["args", "image"] },
    },
  ]),
  {
    rule: "entries of unknown versions are removed",
    steps: [
      apply("me", { image: "a", args: ["b"] }),
      patch("you", "merge", {
        metadata: {
          managedFields: [
            entry("old", { "f:image": {} }, { apiVersion: "tests.platform.io/v0" }),
            entry("me", { "f:args": {} }),
          ],
        },
      }),
      apply("me", { image: "c", args: ["b"] }),
    ],
    thing: { image: "c", args: ["b"] },
    owners: { me: ["args", "image"] },
  },
  {
    rule: "unknown fields stay in managedFields without effect",
    steps: [
      apply("me", { image: "a" }),
      patch("you", "merge", {
        metadata: { managedFields: [entry("me", { "f:image": {}, "f:gone": { "f:x": {} } })] },
      }),
      patch("you", "merge", { args: ["b"] }),
      apply("other", { image: "c" }, { force: true }),
    ],
    thing: { image: "c", args: ["b"] },
    owners: { me: ["gone.x"], other: ["image"], "you updates": ["args"] },
  },
  {
    rule: "the first apply to an object without managedFields assigns the live fields to a manager of earlier writes",
    steps: [
      create("you", { image: "a" }),
      patch("you", "merge", { metadata: { managedFields: [{}] } }),
      apply("me", { image: "b" }, { refused: ["Conflict", 'conflict with "before-first-apply"'] }),
      apply("me", { args: ["c"] }),
    ],
    thing: { image: "a", args: ["c"] },
    owners: { me: ["args"], "before-first-apply updates": ["image"] },
  },
];
