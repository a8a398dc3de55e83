import { macroCall } from "./macros.ts";
import {
  ExpressionError,
  maxCharacters,
  maxDepth,
  type Call,
  type Expression,
  type Logical,
} from "./syntax.ts";
import { tokenize, type Token } from "./tokens.ts";

/**
 * Parses an expression by recursive descent; the depth is limited by {@link maxDepth}.
 *
 * @throws {ExpressionError} for a syntax error.
 */
export function parse(text: string): Expression {
  if (text.length > maxCharacters && [...text].length > maxCharacters) {
    throw new ExpressionError(
      `expression code point size exceeds limit: size: ${text.length}, limit ${maxCharacters}`,
      0,
    );
  }
  return new Parser(text).whole();
}

/** A binary operator with its precedence. All are left-associative. */
interface Binary {
  readonly name: string;
  readonly level: number;
}

const binaryOperators: ReadonlyMap<string, Binary> = new Map<string, Binary>(
  [
    ["<", "<=", ">", ">=", "==", "!="],
    ["+", "-"],
    ["*", "/", "%"],
  ].flatMap((signs, level) => signs.map((sign) => [sign, { name: `_${sign}_`, level }] as const)),
).set("in", { name: "@in", level: 0 });

/** Reserved words, which can't be variable names. */
const reserved = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;

/** A parsed part of an expression. */
interface Part {
  readonly expression: Expression;
  /**
   * Depth in grammar rules, counted as in cel-go: a rule for each level of operators, even without an operator; one for each
   * further operand of a level; and one for each chained selection, call or index. Literals and names count as 0.
   */
  readonly depth: number;
}

/** Rules between a unary operand and an expression: conditional, `||`, `&&`, relation and sum. */
const levelsAboveUnary = 5;

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;
  private open = 0;

  constructor(text: string) {
    this.tokens = tokenize(text);
  }

  whole(): Expression {
    const { expression, depth } = this.expression();
    if (this.token.kind !== "end") throw this.unexpected("the end");
    assertDepth(depth + 1, expression.at);
    return expression;
  }

  private get token(): Token {
    return this.tokens[this.next]!;
  }

  private expression(): Part {
    const alone = this.loneLiteral();
    if (alone !== undefined) return alone;
    if (++this.open > maxDepth) throw tooDeep(this.token.at);
    const condition = this.logical("or");
    const { at } = this.token;
    if (!this.takes("?")) {
      this.open--;
      return combine(condition.expression, [condition], 1);
    }
    const whenTrue = this.logical("or");
    this.expect(":");
    const whenFalse = this.expression();
    this.open--;
    const node: Expression = {
      node: "conditional",
      condition: condition.expression,
      whenTrue: whenTrue.expression,
      whenFalse: whenFalse.expression,
      at,
    };
    return combine(node, [condition, whenTrue, whenFalse], 1);
  }

  /** Fast path for a literal followed by the end of the expression, as most items of long lists are. */
  private loneLiteral(): Part | undefined {
    const { token } = this;
    if (token.kind !== "literal") return undefined;
    const { kind, text } = this.tokens[this.next + 1] as Exclude<Token, { kind: "literal" }>;
    if (kind !== "sign" || (text !== "," && text !== "]" && text !== ")")) return undefined;
    const literal = this.primary();
    return combine(literal.expression, [literal], levelsAboveUnary + 1);
  }

  private logical(operator: Logical["operator"]): Part {
    const sign = operator === "or" ? "||" : "&&";
    const { at } = this.token;
    const operand = () => (operator === "or" ? this.logical("and") : this.relation());
    const operands = [operand()];
    while (this.takes(sign)) operands.push(operand());
    const [first] = operands;
    const node: Expression =
      operands.length === 1
        ? first!.expression
        : { node: "logical", operator, operands: operands.map(({ expression }) => expression), at };
    return combine(node, operands, 1);
  }

  private relation(): Part {
    let left = this.sum();
    left = combine(left.expression, [left], 1);
    for (;;) {
      const operator = this.binaryOperator(0);
      if (operator === undefined) return left;
      const right = this.sum();
      left = binary(operator, left, combine(right.expression, [right], 1));
    }
  }

  private sum(): Part {
    return this.arithmetic(1);
  }

  /** Parses operators of a level and of higher precedence. */
  private arithmetic(level: 1 | 2): Part {
    const operand = (): Part => {
      if (level === 1) return this.arithmetic(2);
      const unary = this.unary();
      return combine(unary.expression, [unary], 1);
    };
    let left = operand();
    for (;;) {
      const operator = this.binaryOperator(level);
      if (operator === undefined) return left;
      left = binary(operator, left, operand());
    }
  }

  /** Consumes an operator of a level, if there is one. */
  private binaryOperator(level: number): { readonly name: string; readonly at: number } | undefined {
    const { kind, at } = this.token;
    if (kind !== "sign" && kind !== "name") return undefined;
    const operator = binaryOperators.get(this.token.text);
    if (operator?.level !== level) return undefined;
    this.next++;
    return { name: operator.name, at };
  }

  private unary(): Part {
    const { kind, at } = this.token;
    const text = kind === "sign" ? this.token.text : "";
    if (text !== "!" && text !== "-") return this.member();
    let count = 0;
    while (this.takes(text)) count++;
    const following = this.token;
    // A single minus is part of the number: the minimum integer has no positive counterpart.
    if (text === "-" && following.kind === "literal" && count === 1) {
      const { value } = following;
      if ((typeof value === "bigint" && -value >= minInt) || typeof value === "number") {
        this.next++;
        return this.membersOf({ expression: { node: "literal", value: -value, at }, depth: 0 });
      }
    }
    const operand = this.member();
    if (count % 2 === 0) return combine(operand.expression, [operand], 1);
    const name = text === "!" ? "!_" : "-_";
    return combine({ node: "call", name, target: undefined, args: [operand.expression], at }, [operand], 1);
  }

  private member(): Part {
    return this.membersOf(this.primary());
  }

  /** Parses selections, calls and indexes after an expression. */
  private membersOf(first: Part): Part {
    let operand = combine(first.expression, [first], 1);
    for (;;) {
      const { at } = this.token;
      if (this.takes(".")) {
        const field = this.fieldName();
        if (!this.takes("(")) {
          const node: Expression = { node: "select", operand: operand.expression, field, test: false, at };
          operand = combine(node, [operand], 1);
          continue;
        }
        const args = this.list(")");
        const argNodes = args.map(({ expression }) => expression);
        const target = operand.expression;
        const node = macroCall(field, target, argNodes, at) ?? call(field, target, argNodes, at);
        operand = combine(node, [operand, ...args], 1);
      } else if (this.takes("[")) {
        const index = this.expression();
        this.expect("]");
        const node = call("_[_]", undefined, [operand.expression, index.expression], at);
        operand = combine(node, [operand, index], 1);
      } else if (this.isSign("{") && qualifiedName(operand.expression) !== undefined) {
        const name = qualifiedName(operand.expression)!;
        operand = this.objectLiteral(name, operand);
      } else return operand;
    }
  }

  /** Parses a primary expression. Its depth doesn't include its own rule. */
  private primary(): Part {
    const token = this.token;
    const { at } = token;
    if (token.kind === "literal") {
      this.next++;
      if (typeof token.value === "bigint" && token.value > maxInt) {
        throw new ExpressionError("invalid int literal", at);
      }
      return { expression: { node: "literal", value: token.value, at }, depth: 0 };
    }
    if (this.takes("(")) {
      const inner = this.expression();
      this.expect(")");
      return inner;
    }
    if (this.takes("[")) {
      const items = this.list("]");
      return combine({ node: "list", items: items.map(({ expression }) => expression), at }, items, 0);
    }
    if (this.takes("{")) return this.mapLiteral(at);
    return this.named(at);
  }

  /** Parses a variable or a function call, with or without leading dot. */
  private named(at: number): Part {
    const dot = this.takes(".") ? "." : "";
    const token = this.token;
    if (token.kind !== "name") throw this.unexpected("an expression");
    this.next++;
    if (reserved.has(token.text)) {
      throw new ExpressionError(`Syntax error: reserved identifier: ${token.text}`, at);
    }
    const name = dot + token.text;
    if (!this.takes("(")) return { expression: { node: "identifier", name, at }, depth: 0 };
    const args = this.list(")");
    const argNodes = args.map(({ expression }) => expression);
    const node = macroCall(name, undefined, argNodes, at) ?? call(name, undefined, argNodes, at);
    return combine(node, args, 0);
  }

  private list(close: string): Part[] {
    const items: Part[] = [];
    // A single comma is allowed where a trailing comma is.
    if (close === "]" && this.takes(",")) {
      this.expect(close);
      return items;
    }
    while (!this.takes(close)) {
      items.push(this.expression());
      if (this.takes(",")) {
        if (close === ")" && this.isSign(close)) throw this.unexpected("an expression");
      } else if (!this.isSign(close)) throw this.unexpected(`"," or "${close}"`);
    }
    return items;
  }

  /** Parses a map literal; its entries are a grammar rule. */
  private mapLiteral(at: number): Part {
    const entries: { key: Expression; value: Expression }[] = [];
    const parts: Part[] = [];
    if (this.takes(",")) this.expect("}");
    else
      while (!this.takes("}")) {
        const key = this.expression();
        this.expect(":");
        const value = this.expression();
        parts.push(key, value);
        entries.push({ key: key.expression, value: value.expression });
        if (!this.takes(",") && !this.isSign("}")) throw this.unexpected('"," or "}"');
      }
    return combine({ node: "map", entries, at }, parts, entries.length === 0 ? 0 : 1);
  }

  /** Parses an object literal. Types for it don't exist, so only the name is kept, for the error. */
  private objectLiteral(name: string, operand: Part): Part {
    const parts = [operand];
    this.expect("{");
    while (!this.takes("}")) {
      this.fieldName();
      this.expect(":");
      parts.push(this.expression());
      if (!this.takes(",") && !this.isSign("}")) throw this.unexpected('"," or "}"');
    }
    return combine({ node: "object", name, at: operand.expression.at }, parts, 1);
  }

  private fieldName(): string {
    const token = this.token;
    if (token.kind !== "name") throw this.unexpected("a field's name");
    if (token.text === "in") throw this.unexpected("a field's name");
    this.next++;
    return token.text;
  }

  private isSign(text: string): boolean {
    return this.token.kind === "sign" && this.token.text === text;
  }

  private takes(text: string): boolean {
    if (!this.isSign(text)) return false;
    this.next++;
    return true;
  }

  private expect(text: string): void {
    if (!this.takes(text)) throw this.unexpected(JSON.stringify(text));
  }

  private unexpected(expected: string): ExpressionError {
    const token = this.token;
    const actual =
      token.kind === "end" ? "the end" : token.kind === "literal" ? "a literal" : `'${token.text}'`;
    return new ExpressionError(`Syntax error: ${expected} expected, found ${actual}`, token.at);
  }
}

function tooDeep(at: number): ExpressionError {
  return new ExpressionError(`expression recursion limit exceeded: ${maxDepth}`, at);
}

function assertDepth(depth: number, at: number): void {
  if (depth > maxDepth) throw tooDeep(at);
}

/** Creates an expression from its parts; `rules` is the number of grammar rules around them. */
function combine(expression: Expression, parts: readonly Part[], rules: number): Part {
  let depth = 0;
  for (const part of parts) if (part.depth > depth) depth = part.depth;
  depth += rules;
  assertDepth(depth, expression.at);
  return { expression, depth };
}

function binary({ name, at }: { readonly name: string; readonly at: number }, left: Part, right: Part): Part {
  return combine(call(name, undefined, [left.expression, right.expression], at), [left, right], 1);
}

function call(name: string, target: Expression | undefined, args: readonly Expression[], at: number): Call {
  return { node: "call", name, target, args, at };
}

/** Returns the qualified name of an expression; undefined if it isn't one. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.node === "identifier") return expression.name;
  if (expression.node !== "select" || expression.test) return undefined;
  const above = qualifiedName(expression.operand);
  return above === undefined ? undefined : `${above}.${expression.field}`;
}
