import { compile } from "../../../src/cel/compile.ts";
import { languageOf } from "../../../src/cel/libraries.ts";
import { typeText } from "../../../src/cel/types/types.ts";
import type { Result } from "./result-file.ts";
import { textOf } from "./value-text.ts";

/** The names of types have no product word, and a call that no overload accepts isn't named. */
const neutral = (text: string): string =>
  text.replaceAll(/kubernetes\.(?=[a-zA-Z])/g, "").replace(/^no such overload: .*/, "no such overload");

/** Returns what is compared. Compilation errors are compared without text: the parsers differ. */
export function shown({ error, fault, type, value, cost, estimate }: Result): unknown {
  if (error !== undefined) return "error";
  const rounded = estimate!
    .split(" ")
    .map((cost) => (Number(cost) < 2 ** 53 ? cost : "huge"))
    .join(" ");
  return {
    type: neutral(type!),
    cost,
    estimate: rounded,
    ...(fault === undefined ? { value } : { fault: neutral(fault) }),
  };
}

/** Returns what an expression results in, in the last release. */
export function resultOf(expression: string): Result {
  const language = languageOf("1.37", "stored");
  const { program, faults } = compile(expression, { variables: new Map(), language });
  if (program === undefined) return { error: faults.map(({ message }) => message).join() };
  const { min, max } = program.estimateCost("unknown");
  const result = program.evaluate({}, Infinity);
  const common = {
    type: typeText(program.type),
    cost: Math.min(result.cost, 1_000_001),
    estimate: `${min} ${max}`,
  };
  return result.outcome === "value"
    ? { ...common, value: textOf(result.value) }
    : { ...common, fault: result.message };
}
