import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type FieldRequirement,
  parseFieldSelector,
  pinnedValue,
} from "../../src/base/selectors/field-selector.ts";
import {
  type LabelOperator,
  type LabelRequirement,
  compileLabelSelector,
  compileRequirements,
  labelSelectorFaults,
  parseLabelRequirements,
} from "../../src/base/selectors/label-selector.ts";
import { StatusError } from "../../src/base/status-error.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message;
    throw error;
  }
  return "accepted";
};

const require = (key: string, operator: LabelOperator, ...values: string[]): LabelRequirement => ({
  key,
  operator,
  values,
});

describe("label selector text", () => {
  it.each<readonly [string, readonly LabelRequirement[]]>([
    ["", []],
    ["  ", []],
    ["a", [require("a", "Exists")]],
    ["!a", [require("a", "DoesNotExist")]],
    ["! a , b", [require("a", "DoesNotExist"), require("b", "Exists")]],
    ["a=b", [require("a", "In", "b")]],
    ["a==b", [require("a", "In", "b")]],
    [" a = b ", [require("a", "In", "b")]],
    ["a=", [require("a", "In", "")]],
    ["a=,b", [require("a", "In", ""), require("b", "Exists")]],
    ["a!=b", [require("a", "NotIn", "b")]],
    ["a!=", [require("a", "NotIn", "")]],
    ["a in (b,c)", [require("a", "In", "b", "c")]],
    ["a in ( b , c )", [require("a", "In", "b", "c")]],
    ["a in (b,b)", [require("a", "In", "b")]],
    ["a in (,)", [require("a", "In", "")]],
    ["a in (b,)", [require("a", "In", "b", "")]],
    ["a notin (b)", [require("a", "NotIn", "b")]],
    ["in in (in,notin)", [require("in", "In", "in", "notin")]],
    ["in=notin,notin", [require("in", "In", "notin"), require("notin", "Exists")]],
    ["a>1,b<22", [require("a", "Gt", "1"), require("b", "Lt", "22")]],
    ["example.com/a=b,c", [require("example.com/a", "In", "b"), require("c", "Exists")]],
  ])("C-4.3-05 reads %j", (text, requirements) => {
    expect(parseLabelRequirements(text)).toEqual(requirements);
  });

  it.each([
    [",", 'at character 1: found ",", expected a label key'],
    ["a,", "at character 3: found the end, expected a label key"],
    ["a b", 'at character 3: found "b", expected "=", "==", "!=", "in", "notin", "<", ">", "," or the end'],
    ["!a=b", 'at character 3: found "=", expected "," or the end'],
    ["a=b=c", 'at character 4: found "=", expected "," or the end'],
    ["a=(b)", 'at character 3: found "(", expected a label value'],
    ["a in b", 'at character 6: found "b", expected "("'],
    ["a in ()", "at character 6: the list of values for label a is empty"],
    ["a in (b", 'at character 8: found the end, expected "," or ")"'],
    ["a in (b c)", 'at character 9: found "c", expected "," or ")"'],
    ["a in (b=c)", 'at character 8: found "=", expected "," or ")"'],
    ["a>b", 'at character 3: label a can be compared with an integer only, not "b"'],
    ["a>", "at character 3: label a can be compared with an integer only, not the end"],
    ["a/b/c=d", 'at character 1: "a/b/c" isn\'t a label key: '],
    ["a=-b", 'at character 3: "-b" isn\'t a value for label a: '],
    ["a in (ä)", 'at character 7: "ä" isn\'t a value for label a: '],
    ["=a", 'at character 1: found "=", expected a label key'],
    ["((((", 'at character 1: found "(", expected a label key'],
  ])("refuses %j", (text, message) => {
    expect(refusal(() => parseLabelRequirements(text))).toContain(
      `unable to parse label selector ${message}`,
    );
  });

  it("reads long texts in linear time", () => {
    const usedMs = cpuStopwatch();
    expect(parseLabelRequirements("a=b,".repeat(200_000).slice(0, -1))).toHaveLength(200_000);
    refusal(() => parseLabelRequirements(`a in (${"b,".repeat(200_000)}`));
    expect(usedMs()).toBeLessThan(2000);
  });
});

describe("label matching", () => {
  it.each<readonly [string, Record<string, string> | undefined, boolean]>([
    ["", undefined, true],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["a", undefined, false],
    ["!a", { a: "" }, false],
    ["!a", undefined, true],
    ["a=b", { a: "b" }, true],
    ["a=b", { a: "c" }, false],
    ["a=", {}, false],
    ["a=", { a: "" }, true],
    ["a!=b", {}, true],
    ["a!=b", { a: "b" }, false],
    ["a in (b,c)", { a: "c" }, true],
    ["a in (b,c)", {}, false],
    ["a notin (b,c)", {}, true],
    ["a notin (b,c)", { a: "b" }, false],
    ["a>5", { a: "6" }, true],
    ["a>5", { a: "5" }, false],
    ["a>5", { a: "x" }, false],
    ["a>5", {}, false],
    ["a<5", { a: "04" }, true],
    ["a>9007199254740992", { a: "9007199254740993" }, true],
    ["a=b,c!=d", { a: "b", c: "d" }, false],
    ["toString", {}, false],
    ["!constructor", {}, true],
    ["toString!=x", {}, true],
  ])("C-4.3-05 %j on %o is %s", (text, labels, matches) => {
    expect(compileRequirements(parseLabelRequirements(text))(labels)).toBe(matches);
  });
});

const word = fc.stringMatching(/^[a-c]{1,2}$/);
const value = fc.oneof(word, fc.constant(""));
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key: word,
    operator: fc.constantFrom<LabelOperator>("Exists", "DoesNotExist"),
    values: fc.constant([]),
  }),
  fc.record({
    key: word,
    operator: fc.constantFrom<LabelOperator>("In", "NotIn"),
    values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key: word,
    operator: fc.constantFrom<LabelOperator>("Gt", "Lt"),
    values: fc.nat({ max: 9 }).map((number) => [String(number)]),
  }),
);
const labels = fc.dictionary(word, fc.oneof(value, fc.nat({ max: 9 }).map(String)));

function textOf({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "In":
    case "NotIn":
      // An empty value alone can only be written so.
      if (values.length === 1) return `${key}${operator === "In" ? "=" : "!="}${values[0]!}`;
      return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
    case "Gt":
      return `${key}>${values[0]!}`;
    case "Lt":
      return `${key}<${values[0]!}`;
  }
}

describe("label selector laws", () => {
  it("text and requirements say the same", () => {
    fc.assert(
      fc.property(fc.array(requirement), labels, (list, object) => {
        const text = list.map(textOf).join(",");
        expect(compileRequirements(parseLabelRequirements(text))(object)).toBe(
          compileRequirements(list)(object),
        );
      }),
    );
  });

  it("all requirements must hold", () => {
    fc.assert(
      fc.property(fc.array(requirement), labels, (list, object) => {
        const each = list.every((one) => compileRequirements([one])(object));
        expect(compileRequirements(list)(object)).toBe(each);
      }),
    );
  });

  it("an operator and its opposite part all labels", () => {
    fc.assert(
      fc.property(word, fc.uniqueArray(value, { minLength: 1 }), labels, (key, values, object) => {
        const test = (operator: LabelOperator) => compileRequirements([{ key, operator, values }])(object);
        expect(test("In")).toBe(!test("NotIn"));
        expect(test("Exists")).toBe(!test("DoesNotExist"));
      }),
    );
  });
});

describe("label selector objects", () => {
  it("match by labels and expressions", () => {
    const matches = compileLabelSelector({
      matchLabels: { a: "1" },
      matchExpressions: [
        { key: "b", operator: "NotIn", values: ["x"] },
        { key: "c", operator: "Exists" },
      ],
    });
    expect(matches({ a: "1", c: "" })).toBe(true);
    expect(matches({ a: "1", b: "x", c: "" })).toBe(false);
    expect(matches({ a: "1" })).toBe(false);
    expect(compileLabelSelector({})(undefined)).toBe(true);
  });

  it.each([
    [{ matchLabels: { "-": "a" } }, ["matchLabels"]],
    [{ matchLabels: { a: "-" } }, ["matchLabels"]],
    [{ matchExpressions: [{ key: "a", operator: "In" }] }, ["matchExpressions", 0, "values"]],
    [{ matchExpressions: [{ key: "a", operator: "NotIn", values: [] }] }, ["matchExpressions", 0, "values"]],
    [
      { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] },
      ["matchExpressions", 0, "values"],
    ],
    [
      { matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] },
      ["matchExpressions", 0, "operator"],
    ],
    [{ matchExpressions: [{ key: "", operator: "Exists" }] }, ["matchExpressions", 0, "key"]],
    [
      { matchExpressions: [{ key: "a", operator: "In", values: ["b", "-"] }] },
      ["matchExpressions", 0, "values", 1],
    ],
  ])("refuse %j", (selector, path) => {
    expect(labelSelectorFaults(selector).map((fault) => fault.path)).toContainEqual(path);
    expect(refusal(() => compileLabelSelector(selector))).toContain("label selector: ");
  });
});

describe("field selectors", () => {
  it.each<readonly [string, readonly FieldRequirement[]]>([
    ["", []],
    [",,", []],
    ["metadata.name=x", [{ field: "metadata.name", operator: "=", value: "x" }]],
    [
      "a==b,c!=d",
      [
        { field: "a", operator: "=", value: "b" },
        { field: "c", operator: "!=", value: "d" },
      ],
    ],
    ["a=", [{ field: "a", operator: "=", value: "" }]],
    ["a=b\\,c\\=d\\\\", [{ field: "a", operator: "=", value: "b,c=d\\" }]],
    ["a= b ", [{ field: "a", operator: "=", value: " b " }]],
  ])("C-4.3-05 reads %j", (text, requirements) => {
    expect(parseFieldSelector(text)).toEqual(requirements);
  });

  it.each([
    ["a", "'a' has no =, == or !="],
    ["a=b,c", "'c' has no =, == or !="],
    ["=b", "'=b' names no field"],
    ["a=b=c", "'a=b=c' has an = in its value"],
    ["a=b\\", "'a=b\\' has a \\ in its value"],
    ["a=b\\c", "'a=b\\c' has a \\ in its value"],
  ])("refuses %j", (text, message) => {
    expect(refusal(() => parseFieldSelector(text))).toContain(message);
  });

  it("says what a selector pins", () => {
    const list = parseFieldSelector("metadata.namespace!=a,metadata.name=x");
    expect(pinnedValue(list, "metadata.name")).toBe("x");
    expect(pinnedValue(list, "metadata.namespace")).toBeUndefined();
  });

  it("text and requirements say the same", () => {
    const one = fc.record({
      field: fc.stringMatching(/^[a-c]+(\.[a-c]+)?$/),
      operator: fc.constantFrom<"=" | "!=">("=", "!="),
      value: fc.string({ unit: fc.constantFrom("a", "=", ",", "\\", "!", " ") }),
    });
    fc.assert(
      fc.property(fc.array(one), (list) => {
        const terms = list.map(({ field, operator, value }) => {
          return `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`;
        });
        // Equal terms have equal requirements.
        const byTerm = new Map(terms.map((term, index) => [term, list[index]]));
        const sorted = terms.toSorted().map((term) => byTerm.get(term));
        expect(parseFieldSelector(terms.join(","))).toEqual(sorted);
      }),
    );
  });
});
