import { expect, test } from "vitest";
import { circlesOf } from "./circles.ts";
import { importsOf, sources } from "./source-files.ts";

const circles = circlesOf(new Map(sources.map((file) => [file, importsOf(file)])));

test("no files import each other in a circle, types included", () => {
  expect(circles).toEqual([]);
});

test("circles are found, however long they are", () => {
  const edges = { a: ["b"], b: ["c", "d"], c: ["a"], d: ["e"], e: [], f: ["f"], g: ["d"] };
  expect(circlesOf(new Map(Object.entries(edges)))).toEqual([["a", "b", "c"], ["f"]]);
});
