import { expect, test } from "vitest";
import { DefinitionWatches } from "../../src/custom-resources/conversion/definition-watches.ts";
import { DefinitionChangedError } from "../../src/resources/registry/watch-change.ts";
import { revisionOf } from "../../src/storage/entry.ts";
import { settle } from "../support/manual-clock.ts";

const after = revisionOf(1);
const source = () => ({ position: after, sync: () => after, close: () => undefined });

test("watches of a replaced definition end although the observer of one of them throws", async () => {
  const watches = new DefinitionWatches("basis");
  const bug = new Error("bug");
  const failures: unknown[] = [];
  const ends: Error[] = [];
  const throwing = () => {
    throw bug;
  };
  for (const ended of [throwing, (error: Error) => void ends.push(error)])
    watches.watch(source, { changes: () => undefined, ended }, after);
  watches.end((error) => failures.push(error));
  await settle();
  expect(failures).toEqual([bug]);
  expect(ends).toEqual([expect.any(DefinitionChangedError)]);
});
