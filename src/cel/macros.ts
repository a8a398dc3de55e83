import { ExpressionError, type Expression, type Macro } from "./syntax.ts";

const loops = new Set<string>(["all", "exists", "exists_one", "map", "filter"]);

/** Returns the node of a standard macro; undefined for any other call. */
export function macroCall(
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
  at: number,
): Expression | undefined {
  if (target === undefined) return name === "has" && args.length === 1 ? presence(args[0]!, at) : undefined;
  if (!loops.has(name)) return undefined;
  const maxArgs = name === "map" ? 3 : 2;
  if (args.length !== 2 && args.length !== maxArgs) return undefined;
  const [first, ...rest] = args;
  if (first!.node !== "identifier" || first!.name.startsWith(".")) {
    throw new ExpressionError("argument must be a simple name", first!.at);
  }
  const last = rest.at(-1)!;
  return {
    node: "comprehension",
    macro: name as Macro,
    range: target,
    variable: first!.name,
    condition: name !== "map" ? last : rest.length === 2 ? rest[0] : undefined,
    transform: name === "map" ? last : undefined,
    at,
  };
}

function presence(arg: Expression, at: number): Expression {
  if (arg.node !== "select" || arg.test) {
    throw new ExpressionError("invalid argument to has() macro: a field's selection is expected", at);
  }
  return { ...arg, test: true, at };
}
