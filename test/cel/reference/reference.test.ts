import { describe, expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";
import { referenceCases } from "./cases/index.ts";
import { aspects, differences, shownAspect } from "./differences.ts";
import { readVerdicts } from "./verdict-file.ts";
import { verdictOf, type Verdict } from "./verdict.ts";
import { effort } from "../../support/effort.ts";

const theirs = readVerdicts();
/** By case and aspect. */
const intended = new Set(
  differences.flatMap((one) => one.cases.flatMap((name) => one.aspects.map((aspect) => `${aspect} ${name}`))),
);

const server = useServer({ vocabulary: "kubernetes", enabledControllers: [] });

function shown(verdict: Verdict, name: string, which: "equal" | "different"): string[] {
  return aspects
    .filter((aspect) => intended.has(`${aspect} ${name}`) === (which === "different"))
    .map((aspect) => `${aspect} ${shownAspect(verdict, aspect)}`);
}

/** In short every fifth case. */
const replayed = referenceCases
  .map((one, index) => ({ ...one, index }))
  .filter(({ index }) => index % effort(10, 1) === 0);

describe("the verdict, the estimated cost and the cost equal the reference", () => {
  test.each(replayed)("$name", async ({ index, ...one }) => {
    const ours = await verdictOf(server, one, index);
    const expected = theirs.get(one.name)!;
    expect(shown(ours, one.name, "equal")).toEqual(shown(expected, one.name, "equal"));
    // A listed difference must exist.
    const different = shown(ours, one.name, "different");
    expect(different.filter((line) => shown(expected, one.name, "different").includes(line))).toEqual([]);
  });
});

test("verdicts of the reference exist for all cases; there are at least 600 cases with unique names", () => {
  const names = referenceCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect([...theirs.keys()]).toEqual(names);
  expect(names.length).toBeGreaterThanOrEqual(600);
});

test("every difference names existing cases", () => {
  const names = new Set(referenceCases.map(({ name }) => name));
  expect(differences.flatMap(({ cases }) => cases).filter((name) => !names.has(name))).toEqual([]);
});
