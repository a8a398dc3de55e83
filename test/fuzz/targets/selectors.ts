import { parseFieldSelector } from "../../../src/base/selectors/field-selector.ts";
import { parseLabelRequirements } from "../../../src/base/selectors/label-selector-parser.ts";
import { compileRequirements } from "../../../src/base/selectors/label-selector.ts";
import { StatusError } from "../../../src/base/status-error.ts";
import { ShardSelection, parseShards } from "../../../src/resources/objects/shards.ts";
import { everything } from "../../../src/resources/objects/selection.ts";
import { attempt, expectSame, textOf, type Target } from "../target.ts";

const operators = { In: "in", NotIn: "notin" } as const;

/** Label selectors in text: the requirements, written again, are the same ones. */
export const labelSelectorTarget: Target = {
  name: "label-selector",
  files: ["src/base/selectors/label-selector-parser.ts", "src/base/selectors/label-selector.ts"],
  seeds: ["a=b,c==d,e!=f", "x in (a,b), y notin (c), !z, w", "example.com/a>1,b<2", "in in (in)"],
  dictionary: ["=", "==", "!=", ",", " in (", " notin (", ")", "!", ">", "<", "a", "example.com/"],
  run(bytes) {
    const requirements = attempt(() => parseLabelRequirements(textOf(bytes)), StatusError);
    if (requirements === undefined) return;
    compileRequirements(requirements)({ a: "b", x: "1" });
    const text = requirements.map(({ key, operator, values }) => {
      switch (operator) {
        case "Exists":
          return key;
        case "DoesNotExist":
          return `!${key}`;
        case "Gt":
        case "Lt":
          return `${key}${operator === "Gt" ? ">" : "<"}${values[0]!}`;
        case "In":
        case "NotIn":
          // A list can't be empty, and `a in ()` would be one.
          if (values.length === 1) return `${key}${operator === "In" ? "=" : "!="}${values[0]!}`;
          return `${key} ${operators[operator]} (${[...values].join(",")})`;
      }
    });
    expectSame(parseLabelRequirements(text.join(",")), requirements, "requirements written again");
  },
};

/** Field selectors: the requirements, written again with escapes, are the same ones. */
export const fieldSelectorTarget: Target = {
  name: "field-selector",
  files: ["src/base/selectors/field-selector.ts"],
  seeds: ["metadata.name=a,metadata.namespace!=b", "a==b\\,c\\=d\\\\"],
  dictionary: ["=", "==", "!=", ",", "\\,", "\\=", "\\\\", "metadata.name"],
  run(bytes) {
    const requirements = attempt(() => parseFieldSelector(textOf(bytes)), StatusError);
    if (requirements === undefined) return;
    const text = requirements.map(
      ({ field, operator, value }) => `${field}${operator}${value.replaceAll(/[\\,=]/g, "\\$&")}`,
    );
    expectSame(parseFieldSelector(text.join(",")), requirements, "requirements written again");
  },
};

/** Shard selectors: the canonical text has the same ranges. */
export const shardSelectorTarget: Target = {
  name: "shard-selector",
  files: ["src/resources/objects/shards.ts"],
  seeds: [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    "shardRange(object.metadata.namespace,'0x8000000000000000','0x10000000000000000')||shardRange(object.metadata.namespace,'0x0000000000000000','0x0000000000000001')",
  ],
  dictionary: [
    "shardRange(",
    "object.metadata.",
    "uid",
    "namespace",
    " || ",
    "'0x0000000000000000'",
    ", ",
    ")",
  ],
  run(bytes) {
    const shards = attempt(() => parseShards(textOf(bytes)), StatusError);
    if (shards === undefined) return;
    const { shard } = new ShardSelection(everything, shards);
    expectSame(parseShards(shard), shards, "ranges written again");
  },
};
