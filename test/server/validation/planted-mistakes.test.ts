import { expect, test } from "vitest";
import { validate } from "../../../src/index.ts";
import { bases, context, plantedMistakes, sorts } from "./mistakes.ts";

const right = [...context, ...Object.values(bases)];

test.each(["1.26", "1.33"] as const)(
  "objects without a mistake have no problem in release %s",
  async (release) => {
    const { objects } = await validate(right, { release });
    expect(
      objects.flatMap(({ kind, problems }) => problems.map((one) => [kind, one.field, one.message])),
    ).toEqual([]);
  },
);

test.each(["1.26", "1.33"] as const)(
  "every one of 306 mistakes of 34 kinds is found, and no other, in release %s",
  async (release) => {
    const mistakes = plantedMistakes(306, 1);
    expect(sorts).toHaveLength(34);
    const { objects } = await validate([...right, ...mistakes.map(({ object }) => object)], { release });
    const judged = objects.slice(right.length);
    const wrong = mistakes.flatMap(({ sort, rule, field, object }, at) => {
      const { problems } = judged[at]!;
      const hits = problems.filter((one) => one.rule === rule && one.field.startsWith(field));
      const others = problems.filter((one) => !hits.includes(one));
      return hits.length > 0 && others.length === 0 ? [] : [{ sort, object: object["spec"], problems }];
    });
    expect(wrong).toEqual([]);
    // Only references are no reason to reject an object.
    expect(judged.map(({ accepted }) => accepted)).toEqual(mistakes.map(({ rule }) => rule === "reference"));
    expect(objects.slice(0, right.length).flatMap(({ problems }) => problems)).toEqual([]);
  },
);
