import { describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { definition, definitions, order, served } from "./support.ts";
import { validations, ruled, causesOf, integer, text, useRules } from "./rules-support.ts";

const { server, kind } = useRules();

/** The causes that reject a definition with this version. */
async function refusal(one: object): Promise<unknown[]> {
  const answer = await server.admin.post(definitions, definition({ versions: [one] }, "refuseds", "Refused"));
  const place = "spec.validation.openAPIV3Schema.";
  return causesOf(answer).map((cause) =>
    Array.isArray(cause) ? [cause[0].replace(place, ""), ...cause.slice(1)] : cause,
  );
}

describe("validation of a definition's rules", () => {
  test("a rule that doesn't compile is rejected with its field", async () => {
    expect(await refusal(ruled({ a: integer }, validations("true", "self.b == 1")))).toEqual([
      422,
      [
        "properties[spec].x-platform-validations[1].rule",
        "Invalid",
        expect.stringMatching(/compilation failed: .*undefined field 'b'/),
      ],
    ]);
    expect(await refusal(ruled({ a: integer }, validations("self.a")))).toEqual([
      422,
      [
        "properties[spec].x-platform-validations[0].rule",
        "Invalid",
        expect.stringContaining("must evaluate to bool"),
      ],
    ]);
  });

  test.each([
    ["the labels of an object", {}, "self.metadata.labels == {}"],
    ["what the schema doesn't know", { "x-platform-preserve-unknown-fields": true }, "self.spec.free == 1"],
    ["a value without a type", {}, "has(self.spec.any)"],
  ])("%s can't be used in a rule", async (_, spec, rule) => {
    const any = { "x-platform-preserve-unknown-fields": true };
    expect(await refusal(ruled({ any }, spec, validations(rule)))).toEqual([
      422,
      ["x-platform-validations[0].rule", "Invalid", expect.stringContaining("undefined field")],
    ]);
  });

  test("transition rules are rejected in lists whose items can't be matched", async () => {
    const list = (type: object) => ({
      type: "array",
      maxItems: 5,
      ...type,
      items: { type: "object", properties: { deep: { ...text, ...validations("self == oldSelf") } } },
    });
    const place = "properties[spec].properties[list].items.properties[deep].x-platform-validations[0].rule";
    expect(await refusal(ruled({ list: list({}) }))).toEqual([
      422,
      [
        place,
        "Invalid",
        expect.stringContaining(
          "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[list]",
        ),
      ],
    ]);
  });

  test("a rule with an estimated cost above 10,000,000 is rejected; limits in the schema reduce the cost", async () => {
    const pairs = validations("self.all(a, self.all(b, a == b))");
    const list = (limits: object, items: object = {}) =>
      ruled({ list: { type: "array", ...limits, items: { type: "string", ...items }, ...pairs } });
    const place = "properties[spec].properties[list].x-platform-validations[0].rule";
    expect(await refusal(list({}))).toEqual([
      422,
      [
        place,
        "Forbidden",
        expect.stringContaining("estimated rule cost exceeds budget by factor of more than 100x"),
      ],
      [place, "Forbidden", expect.stringContaining("contributed to estimated rule cost total")],
      [
        "spec.validation.openAPIV3Schema",
        "Forbidden",
        expect.stringContaining("rule cost total for entire OpenAPIv3 schema exceeds budget"),
      ],
    ]);
    await kind(list({ maxItems: 10 }, { maxLength: 10 }));
  });

  test("the cost of a rule is multiplied by the maximum number of its values in an object", async () => {
    const inner = { type: "string", maxLength: 1000, ...validations("self.contains('a')") };
    const place = "properties[spec].properties[map].additionalProperties.x-platform-validations[0].rule";
    const map = (limits: object) =>
      ruled({ map: { type: "object", ...limits, additionalProperties: inner } });
    expect((await refusal(map({}))).slice(0, 2)).toEqual([
      422,
      [place, "Forbidden", expect.stringContaining("estimated rule cost exceeds budget")],
    ]);
    await kind(map({ maxProperties: 100 }));
  });

  test("the rules of a schema may have a total cost of 100,000,000", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
    const field = {
      type: "array",
      maxItems: 900,
      items: { type: "string", maxLength: 10 },
      ...validations("self.all(a, self.all(b, a == b))"),
    };
    const found = await refusal(ruled(Object.fromEntries(names.map((name) => [name, field]))));
    expect(found).toEqual([
      422,
      ...names
        .slice(0, 4)
        .map(() => [expect.any(String), "Forbidden", expect.stringContaining("contributed to")]),
      [
        "spec.validation.openAPIV3Schema",
        "Forbidden",
        expect.stringMatching(
          /rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1\.\d+x/,
        ),
      ],
    ]);
    await kind(ruled(Object.fromEntries(names.slice(0, 5).map((name) => [name, field]))));
  });

  test("a default must satisfy its rules", async () => {
    const size = (value: number) => ({ ...integer, default: value, ...validations("self > 2") });
    expect(await refusal(ruled({ size: size(1) }))).toEqual([
      422,
      [
        "properties[spec].properties[size].default",
        "Invalid",
        expect.stringContaining("failed rule: self > 2"),
      ],
    ]);
    await kind(ruled({ size: size(3) }));
  });

  test.each([
    ["an empty rule", { rule: " " }, "rule", "Required"],
    ["a blank message", { rule: "true", message: "  " }, "message", "Invalid"],
    ["a message of two lines", { rule: "true", message: "a\nb" }, "message", "Invalid"],
    ["a rule of two lines without a message", { rule: "true &&\ntrue" }, "message", "Required"],
  ])("%s is refused", async (_, rule, at, reason) => {
    expect((await refusal(ruled({}, validations(rule)))).slice(0, 2)).toEqual([
      422,
      [`properties[spec].x-platform-validations[0].${at}`, reason, expect.any(String)],
    ]);
  });

  test("a changed rule applies to the next write", async () => {
    const plural = "changings";
    const make = (rule: string) =>
      definition({ versions: [ruled({ size: { ...integer, ...validations(rule) } })] }, plural, "Changing");
    const orders = await served(server.admin, make("self > 5"));
    const object = (name: string) => ({ ...order(name, { size: 5 }), kind: "Changing" });
    expect((await server.admin.post(orders, object("a"))).status).toBe(422);
    const path = `${definitions}/${plural}.shop.example.com`;
    await ok(server.admin.patch(path, { spec: make("self > 4").spec }));
    await ok(server.admin.post(orders, object("a")));
  });
});
