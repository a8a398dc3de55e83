import { ValueList, ValueMap } from "../values/collections.ts";
import type { FunctionTable } from "../functions/function-table.ts";
import { Meter } from "../costs/meter.ts";
import type { Expression, LiteralValue } from "../syntax/syntax.ts";
import { dyn } from "../types/types.ts";
import { Fault, Uint, type Value } from "../values/values.ts";

/** Functions that are evaluated at compile time if their argument is a constant. */
const folded: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);

/** Whether an expression is constant: a literal, a list or map of constants, or a conversion of a constant. */
export function isConstant(expression: Expression): boolean {
  switch (expression.node) {
    case "literal":
      return true;
    case "list":
      return expression.optional.size === 0 && expression.items.every(isConstant);
    case "map":
      return isConstantMap(expression);
    case "call": {
      const { name, target, args } = expression;
      return target === undefined && folded.has(name) && args.length === 1 && isConstant(args[0]!);
    }
    default:
      return false;
  }
}

/** False for a map with invalid keys, which the evaluation rejects. */
function isConstantMap({ entries }: Extract<Expression, { node: "map" }>): boolean {
  const map = new ValueMap();
  return entries.every(
    ({ key, value, optional }) =>
      !optional && key.node === "literal" && isConstant(value) && map.set(literalValue(key.value), null),
  );
}

/** Returns the value of a constant expression. */
export function constantOf(expression: Expression, functions: FunctionTable): Value {
  switch (expression.node) {
    case "literal":
      return literalValue(expression.value);
    case "list": {
      const items = expression.items.map((item) => constantOf(item, functions));
      return items.find((item) => item instanceof Fault) ?? new ValueList(items);
    }
    case "map": {
      const map = new ValueMap();
      for (const { key, value } of expression.entries) {
        const result = constantOf(value, functions);
        if (result instanceof Fault) return result;
        map.set(constantOf(key, functions), result);
      }
      return map;
    }
    case "call": {
      const args = expression.args.map((arg) => constantOf(arg, functions));
      if (args[0] instanceof Fault) return args[0];
      return functions.get(expression.name)!.run(args, new Meter(Infinity), expression.type ?? dyn);
    }
    default:
      throw new Error(`${expression.node} is not a constant`);
  }
}

/** Returns the value of a literal. */
export function literalValue(value: LiteralValue): Value {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return new Uint(value.uint);
}
