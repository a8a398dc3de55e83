import { apply, create, patch, update, type Row } from "./steps.ts";

/** Other versions of the kind, and its subresources. */
export const versionRows: readonly Row[] = [
  {
    rule: "owned fields have the names of the applied version",
    steps: [apply("me", { picture: "a" }, { version: "v1beta1" })],
    thing: { image: "a" },
    owners: { "me v1beta1": ["picture"] },
  },
  {
    rule: "conflicts across versions show the owner's field name",
    steps: [
      apply("me", { picture: "a" }, { version: "v1beta1" }),
      apply("you", { image: "b" }, { refused: ["Conflict", 'conflict with "me": .picture'] }),
      apply("you", { image: "a" }),
    ],
    thing: { image: "a" },
    owners: { "me v1beta1": ["picture"], you: ["image"] },
  },
  {
    rule: "a manager that changes the version keeps its fields; an omitted field is removed",
    steps: [apply("me", { picture: "a", args: ["b"] }, { version: "v1beta1" }), apply("me", { args: ["b"] })],
    thing: { args: ["b"] },
    owners: { me: ["args"] },
  },
  {
    rule: "fields of others in another version stay",
    steps: [
      apply("me", { picture: "a" }, { version: "v1beta1" }),
      apply("you", { image: "a", args: ["b"] }),
      apply("me", {}, { version: "v1beta1" }),
    ],
    thing: { image: "a", args: ["b"] },
    owners: { you: ["args", "image"] },
  },
  {
    rule: "an update in one version takes fields from owners in another",
    steps: [
      apply("me", { picture: "a", args: ["b"] }, { version: "v1beta1" }),
      patch("you", "merge", { image: "c" }),
    ],
    thing: { image: "c", args: ["b"] },
    owners: { "me v1beta1": ["args"], "you updates": ["image"] },
  },
  {
    rule: "the subresource status has its own entries",
    steps: [
      create("you", { image: "a", status: { phase: "made" } }),
      patch("ctl", "merge", { status: { seen: 1 } }, { through: "status" }),
      apply("me", { status: { phase: "p" } }, { through: "status" }),
    ],
    thing: { image: "a", status: { seen: 1, phase: "p" } },
    owners: {
      "me status": ["status.phase"],
      "ctl updates status": ["status.seen"],
      "you updates": ["image"],
    },
  },
  {
    rule: "status fields applied to the main resource have no effect and no owner",
    steps: [
      apply("me", { image: "a" }),
      apply("me", { image: "a", status: { phase: "p" } }, { changesNothing: true }),
    ],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "other fields than metadata applied to the subresource status have no effect, no owner and no conflict",
    steps: [
      create("you", { image: "a" }),
      apply(
        "me",
        { image: "b", status: { phase: "p" } },
        { through: "status", metadata: { labels: { x: "1" } } },
      ),
    ],
    thing: { image: "a", status: { phase: "p" } },
    owners: { "me status": ["metadata.labels.x", "status.phase"], "you updates": ["image"] },
  },
  {
    rule: "a status field that is no longer applied is removed",
    steps: [
      apply("me", { image: "a" }),
      apply("me", { status: { phase: "p", seen: 1 } }, { through: "status" }),
      apply("me", { status: { seen: 1 } }, { through: "status" }),
    ],
    thing: { image: "a", status: { seen: 1 } },
    owners: { me: ["image"], "me status": ["status.seen"] },
  },
  {
    rule: "the writer of the scale owns the replicas; applying another number conflicts",
    steps: [
      apply("me", { spec: { replicas: 1 } }),
      patch("hpa", "merge", { spec: { replicas: 5 } }, { through: "scale" }),
      apply(
        "me",
        { spec: { replicas: 1 } },
        { refused: ["Conflict", 'conflict with "hpa" with subresource "scale"'] },
      ),
    ],
    thing: { spec: { replicas: 5 } },
    owners: { "hpa updates scale": ["spec.replicas"] },
  },
  {
    rule: "an apply of the scale conflicts with owners of the object's replicas; a forced one takes them",
    steps: [
      apply("me", { image: "a", spec: { replicas: 1 } }),
      apply(
        "hpa",
        { spec: { replicas: 5 } },
        { through: "scale", refused: ["Conflict", 'with "me": .spec.replicas'] },
      ),
      apply("hpa", { spec: { replicas: 5 } }, { through: "scale", force: true }),
    ],
    thing: { image: "a", spec: { replicas: 5 } },
    owners: { "hpa scale": ["spec.replicas"], me: ["image"] },
  },
  {
    rule: "an owner in another version keeps the replicas under that version's name, or loses them to the scale",
    steps: [
      apply("me", { spec: { replicas: 1 }, picture: "a" }, { version: "v1beta1" }),
      apply("hpa", { spec: { replicas: 1 } }, { through: "scale" }),
      update("third", { spec: { replicas: 2 } }, { through: "scale" }),
    ],
    thing: { image: "a", spec: { replicas: 2 } },
    owners: { "me v1beta1": ["picture"], "third updates scale": ["spec.replicas"] },
  },
];
