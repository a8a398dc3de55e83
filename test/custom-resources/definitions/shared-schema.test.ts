import { expect, test } from "vitest";
import { sharedSchema } from "../../../src/custom-resources/definitions/shared-schema.ts";

const prefix = "x-kubernetes-";
const json = (name: string, description = "") =>
  Buffer.from(JSON.stringify({ type: "object", properties: { [name]: { type: "string", description } } }));

test("equal schemas are one, parsed once; others are different", () => {
  const [one, same, other] = [sharedSchema(json("a")), sharedSchema(json("a")), sharedSchema(json("b"))];
  expect(same).toBe(one);
  expect(same.parsed(prefix)).toBe(one.parsed(prefix));
  expect(other.digest).not.toBe(one.digest);
  expect([...other.parsed(prefix).node.properties.keys()]).toEqual(["b"]);
});

test("a schema is parsed separately for each prefix of the extensions", () => {
  const schema = sharedSchema(Buffer.from('{"type":"object","x-a-preserve-unknown-fields":true}'));
  expect(schema.parsed("x-a-").node.preserves).toBe(true);
  expect(schema.parsed("x-b-").node.preserves).toBe(false);
});

test("a schema is read as it was stored, small or large", () => {
  for (const length of [10, 300 * 1024]) {
    const bytes = json("a", "d".repeat(length));
    expect(sharedSchema(bytes).read()).toEqual(JSON.parse(bytes.toString()));
  }
});
