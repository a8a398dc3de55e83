import { expect, test } from "vitest";
import { circlesOf } from "./circles.ts";
import { importsOf, sources } from "./source-files.ts";

/** Folders whose files still import each other in circles. It only gets shorter; at the end it is empty. */
const stillInCircles: readonly string[] = ["src/authorization/rbac/"];

/** The folder of {@link stillInCircles} that all files of a circle are in. */
function exceptionFor(circle: readonly string[]): string | undefined {
  return stillInCircles.find((folder) => circle.every((file) => file.startsWith(folder)));
}

const circles = circlesOf(new Map(sources.map((file) => [file, importsOf(file)])));

test("no files import each other in a circle, types included", () => {
  expect(circles.filter((circle) => exceptionFor(circle) === undefined)).toEqual([]);
});

test("each exception is still needed", () => {
  const needed = new Set(circles.map(exceptionFor));
  expect(stillInCircles.filter((folder) => !needed.has(folder))).toEqual([]);
});

test("circles are found, however long they are", () => {
  const edges = { a: ["b"], b: ["c", "d"], c: ["a"], d: ["e"], e: [], f: ["f"], g: ["d"] };
  expect(circlesOf(new Map(Object.entries(edges)))).toEqual([["a", "b", "c"], ["f"]]);
});
