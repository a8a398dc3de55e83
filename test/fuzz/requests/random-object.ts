import type { Dice } from "../../support/dice.ts";
import { resolveString } from "../../../src/schema/check.ts";
import type { Field, ScalarName, StructType, Type } from "../../../src/schema/types.ts";
import type { Vocabulary } from "../../../src/vocabulary/vocabulary.ts";

/** Depth below which only required fields are added. */
const maxDepth = 7;

const texts = [
  "a",
  "b",
  "example.com/a",
  "A b",
  "",
  "x".repeat(64),
  "1",
  "system:a",
  "ä😀",
  "__proto__",
  "a.b.c",
  "/",
];
const numbers = [0, 1, 2, 80, -1, 65_536, 2 ** 31, 1.5];

/** Chooses random values for the declaration of a kind: mostly valid ones. */
export class RandomObject {
  /** @param wild part of the values that are of any kind. */
  constructor(
    private readonly dice: Dice,
    private readonly vocabulary: Vocabulary,
    private readonly wild: number,
  ) {}

  struct(type: StructType, depth = 0): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    const entries = Object.entries(type.fields);
    const optional = depth === 0 ? 0.8 : 2.5 / (entries.length + depth * 2);
    for (const [name, field] of entries) {
      if (name === "kind" || name === "apiVersion" || (depth === 0 && name === "metadata")) continue;
      const { required, mustBeGiven } = field.facts;
      if (!required && !mustBeGiven && (depth >= maxDepth || !this.dice.chance(optional))) continue;
      value[name] = this.member(name, field, depth + 1);
    }
    return value;
  }

  private member(name: string, { type, facts }: Field, depth: number): unknown {
    if (this.dice.chance(this.wild)) return this.anything();
    const words = facts.oneOf ?? facts.knownValues;
    if (words !== undefined && type.shape === "scalar" && this.dice.chance(0.9)) {
      return resolveString(this.dice.pick(words), this.vocabulary);
    }
    return this.value(type, depth, name);
  }

  private value(type: Type, depth: number, name: string): unknown {
    switch (type.shape) {
      case "scalar":
        return this.scalar(type.name, name);
      case "list":
        return Array.from({ length: this.count(depth) }, () => this.value(type.element, depth + 1, name));
      case "map":
        return Object.fromEntries(
          Array.from({ length: this.count(depth) }, () => [
            this.dice.pick(texts),
            this.value(type.value, depth + 1, name),
          ]),
        );
      case "struct":
        return this.struct(type, depth);
      case "union":
        return this.value(this.dice.pick(Object.values(type.forms)).type, depth, name);
    }
  }

  private count(depth: number): number {
    return depth > maxDepth ? 0 : this.dice.pick([0, 1, 1, 1, 2, 3]);
  }

  private scalar(type: ScalarName, name: string): unknown {
    const { dice } = this;
    switch (type) {
      case "bool":
        return dice.chance(0.5);
      case "int32":
      case "int64":
      case "double":
        return dice.chance(0.7) ? 1 + dice.below(1000) : dice.pick(numbers);
      case "intOrString":
        return dice.pick(["http", "50%", 80, 1]);
      case "bytes":
        return dice.pick(["eA==", "", "!", "e30="]);
      case "time":
        return dice.pick(["2026-01-01T00:00:00Z", "2099-12-31T23:59:59Z", null, "x"]);
      case "microTime":
        return "2026-01-01T00:00:00.000001Z";
      case "duration":
        return dice.pick(["1m0s", "0s", "-1s", "x"]);
      case "quantity":
        return dice.pick(["1", "100m", "2Gi", "-1", "1e3", "x"]);
      case "fieldsV1":
        return { "f:metadata": { "f:labels": { ".": {}, "f:a": {} } }, 'k:{"name":"a"}': {} };
      case "json":
      case "object":
        return this.anything();
      case "string":
        return dice.chance(0.7) ? this.textFor(name) : dice.pick(texts);
    }
  }

  private textFor(name: string): string {
    const { dice } = this;
    if (/ip|cidr|address/i.test(name)) return dice.pick(["10.0.0.1", "10.0.0.0/24", "::1", "fe80::/64"]);
    if (/rule|expression|condition/i.test(name))
      return dice.pick(["true", "self.a == 1", "self.all(x, x > 0)", "1 +"]);
    if (/pattern/i.test(name)) return dice.pick(["^a+$", "(a{1,9}){9}", "["]);
    if (/path/i.test(name)) return dice.pick(["/a", "/", "a/../b", ".spec.a"]);
    if (/version/i.test(name)) return dice.pick(["v1", "v1beta1", "example.com/v1"]);
    if (/url/i.test(name)) return dice.pick(["https://127.0.0.1:1/a", "http://a", "a"]);
    return dice.pick(["a", "b", "c", "default"]);
  }

  private anything(depth = 0): unknown {
    const { dice } = this;
    if (depth < 3 && dice.chance(0.4)) {
      return dice.chance(0.5)
        ? Array.from({ length: dice.below(3) }, () => this.anything(depth + 1))
        : Object.fromEntries(
            Array.from({ length: dice.below(3) }, () => [dice.pick(texts), this.anything(depth + 1)]),
          );
    }
    return dice.pick<unknown>([null, true, 0, -1, 1e308, "", "a", 2 ** 53, ...texts]);
  }
}
