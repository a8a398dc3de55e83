import { describe, expect, it } from "vitest";
import { Rotation } from "../../src/flow/fair-turns.ts";

function all(rotation: Rotation<string>): string[] {
  const taken: string[] = [];
  while (!rotation.isEmpty) taken.push(rotation.take());
  return taken;
}

describe("rotation of flows", () => {
  it("returns the items of a flow in order, and flows in rotation", () => {
    const rotation = new Rotation<string>();
    for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) rotation.add(item[0]!, item);
    expect(rotation.take()).toBe("a1");
    rotation.add("b", "b2");
    rotation.add("d", "d1");
    expect(all(rotation)).toEqual(["b1", "c1", "a2", "d1", "b2", "c2", "a3"]);
  });

  it("reports which flows have waiting items", () => {
    const rotation = new Rotation<string>();
    expect(rotation.isEmpty).toBe(true);
    rotation.add("a", "a1");
    rotation.add("b", "b1");
    rotation.take();
    expect([rotation.has("a"), rotation.has("b"), rotation.isEmpty]).toEqual([false, true, false]);
    rotation.add("a", "a2");
    expect(all(rotation)).toEqual(["b1", "a2"]);
    rotation.add("a", "a3");
    expect(all(rotation)).toEqual(["a3"]);
  });

  it("keeps the order of 1,000 items of a flow that is never empty", () => {
    const rotation = new Rotation<string>();
    const taken: string[] = [];
    for (let index = 0; index < 1000; index++) {
      rotation.add("a", `a${index}`);
      if (index % 3 !== 0) taken.push(rotation.take());
    }
    taken.push(...all(rotation));
    expect(taken).toEqual(Array.from({ length: 1000 }, (_, index) => `a${index}`));
  });
});
