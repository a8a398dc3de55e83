import type { Features } from "../language-features.ts";
import { ExpressionError, type Comprehension, type Expression, type Macro } from "./syntax.ts";

/** A call that may be a macro. */
interface MacroCall {
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  readonly at: number;
}

/** The form of a macro. */
interface MacroForm {
  readonly macro: Macro;
  /** Numbers of arguments. */
  readonly counts: readonly number[];
  readonly transforms?: boolean;
}

const oneVariable: ReadonlyMap<string, MacroForm> = new Map<string, MacroForm>([
  ["all", { macro: "all", counts: [2] }],
  ["exists", { macro: "exists", counts: [2] }],
  ["exists_one", { macro: "exists_one", counts: [2] }],
  ["map", { macro: "map", counts: [2, 3], transforms: true }],
  ["filter", { macro: "filter", counts: [2] }],
]);

const sortBy: MacroForm = { macro: "sortBy", counts: [2], transforms: true };

/** Macros with two variables. */
const twoVariables: ReadonlyMap<string, MacroForm> = new Map<string, MacroForm>([
  ["all", { macro: "all", counts: [3] }],
  ["exists", { macro: "exists", counts: [3] }],
  ["exists_one", { macro: "exists_one", counts: [3] }],
  ["existsOne", { macro: "exists_one", counts: [3] }],
  ["transformList", { macro: "map", counts: [3, 4], transforms: true }],
  ["transformMap", { macro: "transformMap", counts: [3, 4], transforms: true }],
  ["transformMapEntry", { macro: "transformMapEntry", counts: [3, 4], transforms: true }],
]);

/** Returns the node of a macro; undefined for any other call. */
export function macroCall(call: MacroCall, features: Features): Expression | undefined {
  const { name, target, args, at } = call;
  if (target === undefined) return name === "has" && args.length === 1 ? presence(args[0]!, at) : undefined;
  const one = oneVariable.get(name);
  if (one?.counts.includes(args.length) === true) return comprehension(one, target, call, 1);
  if (args.length === 2) return laterMacro(call, target, features);
  if (isBinding(call) && features.bindings === true) return binding(call);
  if (features.twoVariableMacros !== true) return undefined;
  const two = twoVariables.get(name);
  return two?.counts.includes(args.length) === true ? comprehension(two, target, call, 2) : undefined;
}

/** Returns the node of a macro of later releases with one variable. */
function laterMacro(call: MacroCall, target: Expression, features: Features): Expression | undefined {
  const { name, args, at } = call;
  if (name === "sortBy" && features.sortBy === true) return comprehension(sortBy, target, call, 1);
  const flat = name === "optFlatMap" && features.optionalFlatMap === true;
  if (!flat && (name !== "optMap" || features.optionalSyntax !== true)) return undefined;
  const [variable, transform] = args;
  if (variable!.node !== "identifier") {
    throw new ExpressionError(`${name}() variable name must be a simple identifier`, variable!.at);
  }
  return { node: "optional map", target, variable: variable.name, transform: transform!, flat, at };
}

function isBinding({ name, target, args }: MacroCall): boolean {
  return name === "bind" && target?.node === "identifier" && target.name === "cel" && args.length === 3;
}

/** Returns `cel.bind(name, value, body)` as `[value].map(name, body)[0]`. */
function binding({ args: [name, value, body], at }: MacroCall): Expression {
  const range: Expression = { node: "list", items: [value!], optional: new Set(), at };
  const call = { name: "map", target: range, args: [name!, body!], at };
  const values = comprehension(oneVariable.get("map")!, range, call, 1);
  return {
    node: "call",
    name: "_[_]",
    target: undefined,
    args: [values, { node: "literal", value: 0n, at }],
    at,
  };
}

function comprehension(
  { macro, transforms = false }: MacroForm,
  range: Expression,
  { args, at }: MacroCall,
  variables: 1 | 2,
): Comprehension {
  const [variable, second] = args.slice(0, variables).map(variableName);
  if (variable === second) throw new ExpressionError(`duplicate variable name: ${second}`, args[1]!.at);
  const [first, last] = args.slice(variables);
  return {
    node: "comprehension",
    macro,
    range,
    variable: variable!,
    second,
    condition: transforms && last === undefined ? undefined : first,
    transform: transforms ? (last ?? first) : undefined,
    at,
  };
}

function variableName(arg: Expression): string {
  if (arg.node === "identifier" && !arg.name.startsWith(".")) return arg.name;
  throw new ExpressionError("argument must be a simple name", arg.at);
}

function presence(arg: Expression, at: number): Expression {
  if (arg.node !== "select" || arg.test) {
    throw new ExpressionError("invalid argument to has() macro: a field's selection is expected", at);
  }
  return { ...arg, test: true, at };
}
