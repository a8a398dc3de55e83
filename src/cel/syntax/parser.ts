import type { Features } from "../language-features.ts";
import {
  assertDepth,
  binaryOperators,
  maxInt,
  minInt,
  qualifiedName,
  reserved,
  tooDeep,
  type Part,
} from "./grammar.ts";
import { macroCall } from "./macros.ts";
import {
  ExpressionError,
  maxCharacters,
  maxDepth,
  type Call,
  type Expression,
  type Logical,
  type ObjectLiteralField,
} from "./syntax.ts";
import { tokenize, type Token } from "./tokens.ts";

/**
 * Parses an expression by recursive descent; the depth is limited by {@link maxDepth}.
 *
 * @throws {ExpressionError} for a syntax error.
 */
export function parse(text: string, features: Features = {}): Expression {
  if (text.length > maxCharacters && [...text].length > maxCharacters) {
    throw new ExpressionError(
      `expression code point size exceeds limit: size: ${text.length}, limit ${maxCharacters}`,
      0,
    );
  }
  return new Parser(text, features).whole();
}

/** Rules between a unary operand and an expression: conditional, `||`, `&&`, relation and sum. */
const levelsAboveUnary = 5;

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;
  /** Number of open expressions: nested parentheses, items and arguments. */
  private open = 0;
  /** Number of open right operands of relations and of arithmetic. */
  private readonly openOperands = { relation: 0, arithmetic: 0 };

  constructor(
    text: string,
    private readonly features: Features,
  ) {
    this.tokens = tokenize(text, features);
  }

  whole(): Expression {
    const { expression, depth } = this.expression();
    if (this.token.kind !== "end") throw this.unexpected("the end");
    assertDepth(this.features.shallowDepth === true ? depth : depth + 1, expression.at);
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
      return this.combine(condition.expression, [condition], 1);
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
    return this.combine(node, [condition, whenTrue, whenFalse], 1, 1);
  }

  /** Fast path for a literal followed by the end of the expression, as most items of long lists are. */
  private loneLiteral(): Part | undefined {
    const { token } = this;
    if (token.kind !== "literal") return undefined;
    const { kind, text } = this.tokens[this.next + 1] as Exclude<Token, { kind: "literal" }>;
    if (kind !== "sign" || (text !== "," && text !== "]" && text !== ")")) return undefined;
    if (this.open >= maxDepth) throw tooDeep(token.at);
    const literal = this.primary();
    return this.combine(literal.expression, [literal], levelsAboveUnary + 1);
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
    return this.combine(node, operands, 1);
  }

  private relation(): Part {
    let left = this.sum();
    left = this.combine(left.expression, [left], 1);
    for (;;) {
      const operator = this.binaryOperator(0);
      if (operator === undefined) return left;
      const right = this.rightOperand("relation", () => this.sum());
      left = this.binary(operator, left, this.combine(right.expression, [right], 1));
    }
  }

  private rightOperand(rule: keyof Parser["openOperands"], parseOperand: () => Part): Part {
    const open = ++this.openOperands[rule] + this.open;
    if (this.features.shallowDepth === true && open > maxDepth) throw tooDeep(this.token.at);
    const right = parseOperand();
    this.openOperands[rule]--;
    return right;
  }

  private sum(): Part {
    return this.arithmetic(1);
  }

  /** Parses operators of a level and of higher precedence. */
  private arithmetic(level: 1 | 2): Part {
    const operand = (): Part => {
      if (level === 1) return this.arithmetic(2);
      const unary = this.unary();
      return this.combine(unary.expression, [unary], 1);
    };
    let left = operand();
    for (;;) {
      const operator = this.binaryOperator(level);
      if (operator === undefined) return left;
      left = this.binary(operator, left, this.rightOperand("arithmetic", operand));
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
    if (count % 2 === 0) return this.combine(operand.expression, [operand], 1);
    const name = text === "!" ? "!_" : "-_";
    const node = call(name, undefined, [operand.expression], at);
    return this.combine(node, [operand], 1);
  }

  private member(): Part {
    return this.membersOf(this.primary());
  }

  /** Parses selections, calls and indexes after an expression. */
  private membersOf(first: Part): Part {
    let operand = this.combine(first.expression, [first], 1);
    for (;;) {
      const { at } = this.token;
      if (this.takes(".")) operand = this.selection(operand, at);
      else if (this.takes("[")) operand = this.index(operand, at);
      else {
        const name = this.isSign("{") ? qualifiedName(operand.expression) : undefined;
        if (name === undefined) return operand;
        operand = this.objectLiteral(name, operand);
      }
    }
  }

  /** Parses a selection or a call after the dot. */
  private selection(operand: Part, at: number): Part {
    const target = operand.expression;
    if (this.takesOptionalMark()) {
      const value = this.fieldName();
      const field: Expression = { node: "literal", value, at: this.token.at };
      return this.combine(call("_?._", undefined, [target, field], at), [operand], 1, 1);
    }
    const isQuoted = this.token.kind === "quoted name";
    const field = this.fieldName();
    if (isQuoted || !this.takes("(")) {
      const node: Expression = { node: "select", operand: target, field, test: false, at };
      return this.combine(node, [operand], 1, 1);
    }
    const args = this.list(")");
    return this.combine(this.callOrMacro(field, target, args, at), [operand, ...args], 1, 1);
  }

  private callOrMacro(
    name: string,
    target: Expression | undefined,
    args: readonly Part[],
    at: number,
  ): Expression {
    const argNodes = args.map(({ expression }) => expression);
    return macroCall({ name, target, args: argNodes, at }, this.features) ?? call(name, target, argNodes, at);
  }

  /** Parses an index after the bracket. */
  private index(operand: Part, at: number): Part {
    const name = this.takesOptionalMark() ? "_[?_]" : "_[_]";
    const index = this.expression();
    this.expect("]");
    const node = call(name, undefined, [operand.expression, index.expression], at);
    return this.combine(node, [operand, index], 1, 1);
  }

  /** Consumes the question mark of an optional selection, index or item, if there is one. */
  private takesOptionalMark(): boolean {
    const { at } = this.token;
    if (!this.takes("?")) return false;
    if (this.features.optionalSyntax !== true) throw new ExpressionError("unsupported syntax '?'", at);
    return true;
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
    if (this.takes("[")) return this.listLiteral(at);
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
    return this.combine(this.callOrMacro(name, undefined, args, at), args, 0);
  }

  private listLiteral(at: number): Part {
    const optional = new Set<number>();
    const items = this.list("]", optional);
    const node: Expression = { node: "list", items: items.map(({ expression }) => expression), optional, at };
    return this.combine(node, items, 0);
  }

  /** @param optional collects the indexes of optional items, if they are allowed. */
  private list(close: string, optional?: Set<number>): Part[] {
    const items: Part[] = [];
    // A single comma is allowed where a trailing comma is.
    if (close === "]" && this.takes(",")) return (this.expect(close), items);
    while (!this.takes(close)) {
      if (optional !== undefined && this.takesOptionalMark()) optional.add(items.length);
      items.push(this.expression());
      if (this.takes(",")) {
        if (close === ")" && this.isSign(close)) throw this.unexpected("an expression");
      } else if (!this.isSign(close)) throw this.unexpected(`"," or "${close}"`);
    }
    return items;
  }

  /** Parses a map literal; its entries are a grammar rule. */
  private mapLiteral(at: number): Part {
    const entries: { key: Expression; value: Expression; optional: boolean }[] = [];
    const parts: Part[] = [];
    if (this.takes(",")) this.expect("}");
    else
      while (!this.takes("}")) {
        const optional = this.takesOptionalMark();
        const key = this.expression();
        this.expect(":");
        const value = this.expression();
        parts.push(key, value);
        entries.push({ key: key.expression, value: value.expression, optional });
        if (!this.takes(",") && !this.isSign("}")) throw this.unexpected('"," or "}"');
      }
    return this.combine({ node: "map", entries, at }, parts, entries.length === 0 ? 0 : 1);
  }

  private objectLiteral(name: string, operand: Part): Part {
    const parts = this.features.shallowDepth === true ? [] : [operand];
    const fields: ObjectLiteralField[] = [];
    this.expect("{");
    while (!this.takes("}")) {
      const optional = this.takesOptionalMark();
      const { at } = this.token;
      const field = this.fieldName();
      this.expect(":");
      parts.push(this.expression());
      fields.push({ name: field, value: parts.at(-1)!.expression, optional, at });
      if (!this.takes(",") && !this.isSign("}")) throw this.unexpected('"," or "}"');
    }
    return this.combine({ node: "object", name, fields, at: operand.expression.at }, parts, 1);
  }

  private fieldName(): string {
    const token = this.token;
    if (token.kind !== "name" && token.kind !== "quoted name") throw this.unexpected("a field's name");
    if (token.kind === "name" && token.text === "in") throw this.unexpected("a field's name");
    this.next++;
    return token.text;
  }

  /**
   * Creates an expression from its parts.
   *
   * @param rules number of grammar rules around them.
   * @param nodes 1 if the expression counts with {@link Features.shallowDepth}.
   */
  private combine(expression: Expression, parts: readonly Part[], rules: number, nodes = 0): Part {
    let depth = 0;
    for (const part of parts) if (part.depth > depth) depth = part.depth;
    depth += this.features.shallowDepth === true ? nodes : rules;
    assertDepth(depth, expression.at);
    return { expression, depth };
  }

  private binary(
    { name, at }: { readonly name: string; readonly at: number },
    left: Part,
    right: Part,
  ): Part {
    const node = call(name, undefined, [left.expression, right.expression], at);
    return this.combine(node, [left, right], 1, 1);
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

function call(name: string, target: Expression | undefined, args: readonly Expression[], at: number): Call {
  return { node: "call", name, target, args, at };
}
