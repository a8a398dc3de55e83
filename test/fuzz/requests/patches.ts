import type { Dice } from "../../support/dice.ts";

/** A patch with its media type. */
export interface RandomPatch {
  readonly contentType: string;
  readonly body: unknown;
}

const pointers = [
  "/metadata/labels",
  "/metadata/labels/a",
  "/spec",
  "/data",
  "/data/k",
  "/metadata/finalizers/-",
  "",
  "/a/0/~1",
  "/metadata/annotations",
];

/** A patch of a random type, with parts of an object. */
export function randomPatch(dice: Dice, object: object): RandomPatch {
  const kind = dice.below(4);
  if (kind === 0) {
    return {
      contentType: "application/json-patch+json",
      body: Array.from({ length: 1 + dice.below(4) }, () => operation(dice, object)),
    };
  }
  if (kind === 1) return { contentType: "application/apply-patch+yaml", body: object };
  const entries = Object.entries(object).map(([name, value]) => [name, dice.chance(0.1) ? null : value]);
  const body: Record<string, unknown> = Object.fromEntries(entries);
  if (kind === 2) return { contentType: "application/merge-patch+json", body };
  if (dice.chance(0.3))
    body[dice.pick(["$patch", "$retainKeys", "$setElementOrder/a"])] = dice.pick(["replace", ["a"]]);
  return { contentType: "application/strategic-merge-patch+json", body };
}

function operation(dice: Dice, object: object): object {
  return {
    op: dice.pick(["add", "replace", "remove", "move", "copy", "test", "x"]),
    path: dice.pick(pointers),
    from: dice.pick(pointers),
    value: dice.pick<unknown>([null, "a", {}, [], 1, object]),
  };
}
