import { expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { connectingSubresources } from "../../src/kinds/connecting-subresources.ts";

test("connectingSubresources lists the subresources of shape connect", () => {
  const declared = builtInKinds.flatMap(({ subresources }) =>
    Object.entries(subresources).flatMap(([name, { shape }]) => (shape === "connect" ? [name] : [])),
  );
  expect([...connectingSubresources].toSorted()).toEqual([...new Set(declared)].toSorted());
});
