import { apply, create, patch, update, type Row } from "./steps.ts";

/** Other versions of the kind, and its subresources. */
export const versionRows: readonly Row[] = [
  {
    rule: "fields are owned as they are named in the version that was applied",
    steps: [apply("me", { picture: "a" }, { version: "v1beta1" })],
    thing: { image: "a" },
    owners: { "me v1beta1": ["picture"] },
  },
  {
    rule: "and conflict across versions, under the name that their owner gave them",
    steps: [
      apply("me", { picture: "a" }, { version: "v1beta1" }),
      apply("you", { image: "b" }, { refused: ["Conflict", 'conflict with "me": .picture'] }),
      apply("you", { image: "a" }),
    ],
    thing: { image: "a" },
    owners: { "me v1beta1": ["picture"], you: ["image"] },
  },
  {
    rule: "a manager that moves to another version keeps its fields, and one that it leaves out then is removed",
    steps: [apply("me", { picture: "a", args: ["b"] }, { version: "v1beta1" }), apply("me", { args: ["b"] })],
    thing: { args: ["b"] },
    owners: { me: ["args"] },
  },
  {
    rule: "what others own in another version stays",
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
    rule: "status has owners of its own, through its own path",
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
    rule: "what is applied of status to the object itself is nobody's and changes nothing",
    steps: [
      apply("me", { image: "a" }),
      apply("me", { image: "a", status: { phase: "p" } }, { changesNothing: true }),
    ],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "what is applied of the object to its status is nobody's, changes nothing and conflicts with nobody, but for metadata",
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
    rule: "what is no longer applied of status goes",
    steps: [
      apply("me", { image: "a" }),
      apply("me", { status: { phase: "p", seen: 1 } }, { through: "status" }),
      apply("me", { status: { seen: 1 } }, { through: "status" }),
    ],
    thing: { image: "a", status: { seen: 1 } },
    owners: { me: ["image"], "me status": ["status.seen"] },
  },
  {
    rule: "who scales owns the number of replicas, and an apply of another one conflicts with it",
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
    rule: "an apply through the scale conflicts with the object's owners, and takes the number by force",
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
    rule: "an owner in another version keeps its number in that version's name, or loses it to the scale",
    steps: [
      apply("me", { spec: { replicas: 1 }, picture: "a" }, { version: "v1beta1" }),
      apply("hpa", { spec: { replicas: 1 } }, { through: "scale" }),
      update("third", { spec: { replicas: 2 } }, { through: "scale" }),
    ],
    thing: { image: "a", spec: { replicas: 2 } },
    owners: { "me v1beta1": ["picture"], "third updates scale": ["spec.replicas"] },
  },
];
