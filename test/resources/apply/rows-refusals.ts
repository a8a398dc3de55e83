import { apply, applyWhole, create, type Row } from "./steps.ts";

const head = { kind: "Thing", apiVersion: "tests.platform.io/v1" };

/** What is refused, and what is promised before a write. */
export const refusalRows: readonly Row[] = [
  {
    rule: "C-2.5-03 the applied object must have the kind, version and name of the URL, and no managedFields",
    steps: [
      applyWhole("me", null, { refused: ["BadRequest"] }),
      applyWhole("me", [], { refused: ["BadRequest"] }),
      applyWhole("me", "text", { refused: ["BadRequest"] }),
      applyWhole("me", { metadata: { name: "it" } }, { refused: ["BadRequest", "apiVersion and kind"] }),
      applyWhole(
        "me",
        { kind: "Thing", metadata: { name: "it" } },
        { refused: ["BadRequest", "apiVersion and kind"] },
      ),
      applyWhole(
        "me",
        { ...head, kind: "", metadata: { name: "it" } },
        { refused: ["BadRequest", "apiVersion and kind"] },
      ),
      applyWhole(
        "me",
        { ...head, kind: "Other", metadata: { name: "it" } },
        { refused: ["BadRequest", "Other"] },
      ),
      applyWhole(
        "me",
        { ...head, apiVersion: "tests.platform.io/v9", metadata: { name: "it" } },
        { refused: ["BadRequest", "v9"] },
      ),
      applyWhole("me", { ...head, metadata: { name: "" } }, { refused: ["BadRequest", "is empty"] }),
      apply("me", {}, { metadata: { name: "other" }, refused: ["BadRequest", "other", "it"] }),
      apply(
        "me",
        {},
        { metadata: { managedFields: [] }, refused: ["BadRequest", "metadata.managedFields must be nil"] },
      ),
      apply(
        "me",
        {},
        { metadata: { managedFields: [{}] }, refused: ["BadRequest", "metadata.managedFields must be nil"] },
      ),
    ],
    thing: undefined,
    owners: {},
  },
  {
    rule: "values of a wrong type are rejected; the message names the field",
    steps: [
      apply("me", { image: 7 }, { refused: ["BadRequest", "image"] }),
      apply("me", { labels: [] }, { refused: ["BadRequest", "labels"] }),
      apply("me", { ports: {} }, { refused: ["BadRequest", "ports"] }),
      apply("me", { ports: [{ port: "x" }] }, { refused: ["BadRequest", "ports[0].port"] }),
    ],
    thing: undefined,
    owners: {},
  },
  {
    rule: "C-4.10-18 items without a required key, and duplicate keys or values, are rejected",
    steps: [
      apply("me", { steps: [{ command: ["x"] }] }, { refused: ["BadRequest", ".steps", "name"] }),
      apply(
        "me",
        { steps: [{ name: "x" }, { name: "x" }] },
        { refused: ["BadRequest", ".steps", '"x"', "twice"] },
      ),
      apply(
        "me",
        { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] },
        { refused: ["BadRequest", ".ports", "twice"] },
      ),
      apply("me", { tags: ["x", "x"] }, { refused: ["BadRequest", ".tags", '"x"', "twice"] }),
    ],
    thing: undefined,
    owners: {},
  },
  {
    rule: "an unknown field is rejected with strict validation, otherwise dropped without an owner",
    steps: [
      apply("me", { nope: 1 }, { strict: true, refused: ["BadRequest", 'unknown field "nope"'] }),
      apply("me", { nope: 1, image: "a" }),
    ],
    thing: { image: "a" },
    owners: { me: ["image"] },
  },
  {
    rule: "a resourceVersion or uid is a precondition; without a live object a uid fails, and a resourceVersion is ignored",
    steps: [
      apply("me", {}, { metadata: { uid: "uid-of-it" }, refused: ["Conflict", "uid-of-it"] }),
      apply("me", { image: "a" }, { metadata: { resourceVersion: "7" } }),
      apply("me", { image: "b" }, { metadata: { resourceVersion: "1" }, refused: ["Conflict", "modified"] }),
      apply("me", { image: "b" }, { metadata: { uid: "another" }, refused: ["Invalid", "metadata.uid"] }),
      apply("me", { image: "b" }, { metadata: { resourceVersion: "2", uid: "uid-of-it" } }),
    ],
    thing: { image: "b" },
    owners: { me: ["image"] },
  },
  {
    rule: "a subresource of a missing object can't be applied",
    steps: [
      apply("me", { status: { phase: "p" } }, { through: "status", refused: ["NotFound"] }),
      apply("me", { spec: { replicas: 1 } }, { through: "scale", refused: ["NotFound"] }),
    ],
    thing: undefined,
    owners: {},
  },
  {
    rule: "a dry run returns the result or the rejection of the apply and changes nothing",
    steps: [
      apply("me", { image: "a" }, { dryRun: true }),
      create("you", { image: "b" }),
      apply("me", { image: "a" }, { dryRun: true, refused: ["Conflict"] }),
      apply("me", { image: "a" }, { dryRun: true, force: true }),
      apply("me", { spec: { replicas: 3 } }, { dryRun: true, through: "scale" }),
    ],
    thing: { image: "b" },
    owners: { "you updates": ["image"] },
  },
];
