import { expect, it } from "vitest";
import { Later } from "../../src/base/later.ts";

it("a part can be used once it is made, and is made once", () => {
  const part = new Later<object>("the engine");
  const { get } = part;
  expect(get).toThrow("the engine is used before it is made");
  const made = {};
  expect(part.set(made)).toBe(made);
  expect(get()).toBe(made);
  expect(() => part.set({})).toThrow("the engine is made twice");
});
