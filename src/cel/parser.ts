import { macroCall } from "./macros.ts";
import { ExpressionError, maxCharacters, maxDepth, type Expression, type Logical } from "./syntax.ts";
import { tokensOf, type Token } from "./tokens.ts";

/**
 * Reads an expression. Recursive descent, as deep as expressions may nest.
 *
 * @throws {ExpressionError} it isn't one.
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

/** An operator of two operands: its name, and how tightly it binds. All group from the left. */
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

/** Words that can't be names of variables. */
const reserved = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;
  private open = 0;

  constructor(text: string) {
    this.tokens = tokensOf(text);
  }

  whole(): Expression {
    const expression = this.expression();
    if (this.token.kind !== "end") throw this.unexpected("the end");
    return expression;
  }

  private get token(): Token {
    return this.tokens[this.next]!;
  }

  private expression(): Expression {
    const alone = this.loneLiteral();
    if (alone !== undefined) return alone;
    if (++this.open > maxDepth) throw tooDeep(this.token.at);
    const condition = this.logical("or");
    const { at } = this.token;
    if (!this.takes("?")) {
      this.open--;
      return condition;
    }
    const whenTrue = this.logical("or");
    this.expect(":");
    const whenFalse = this.expression();
    this.open--;
    return made({ node: "conditional", condition, whenTrue, whenFalse, at }, [
      condition,
      whenTrue,
      whenFalse,
    ]);
  }

  /** A literal behind which the expression ends: most items of long lists are that. */
  private loneLiteral(): Expression | undefined {
    const { token } = this;
    if (token.kind !== "literal") return undefined;
    const { kind, text } = this.tokens[this.next + 1] as Exclude<Token, { kind: "literal" }>;
    return kind === "sign" && (text === "," || text === "]" || text === ")") ? this.primary() : undefined;
  }

  private logical(operator: Logical["operator"]): Expression {
    const sign = operator === "or" ? "||" : "&&";
    const { at } = this.token;
    const operand = () => (operator === "or" ? this.logical("and") : this.binary(0));
    const operands = [operand()];
    while (this.takes(sign)) operands.push(operand());
    if (operands.length === 1) return operands[0]!;
    return made({ node: "logical", operator, operands, at }, operands);
  }

  /** Operators that bind at least so tightly. */
  private binary(least: number): Expression {
    let left = this.unary();
    for (;;) {
      const { kind, at } = this.token;
      if (kind !== "sign" && kind !== "name") return left;
      const operator = binaryOperators.get(this.token.text);
      if (operator === undefined || operator.level < least) return left;
      this.next++;
      left = call(operator.name, undefined, [left, this.binary(operator.level + 1)], at);
    }
  }

  private unary(): Expression {
    const { kind, at } = this.token;
    const text = kind === "sign" ? this.token.text : "";
    if (text !== "!" && text !== "-") return this.member();
    let count = 0;
    while (this.takes(text)) count++;
    const following = this.token;
    // A minus belongs to the number behind it: the smallest integer has no positive counterpart.
    if (text === "-" && following.kind === "literal" && count % 2 === 1) {
      const { value } = following;
      if (typeof value === "bigint" && -value >= minInt) {
        this.next++;
        return this.membersOf(leaf({ node: "literal", value: -value, at }));
      }
      if (typeof value === "number") {
        this.next++;
        return this.membersOf(leaf({ node: "literal", value: -value, at }));
      }
    }
    const operand = this.member();
    return count % 2 === 0 ? operand : call(text === "!" ? "!_" : "-_", undefined, [operand], at);
  }

  private member(): Expression {
    return this.membersOf(this.primary());
  }

  private membersOf(first: Expression): Expression {
    let operand = first;
    for (;;) {
      const { at } = this.token;
      if (this.takes(".")) {
        const field = this.fieldName();
        if (!this.takes("(")) {
          operand = made({ node: "select", operand, field, test: false, at }, [operand]);
          continue;
        }
        const args = this.list(")");
        operand = macroCall(field, operand, args, at) ?? call(field, operand, args, at);
      } else if (this.takes("[")) {
        const index = this.expression();
        this.expect("]");
        operand = call("_[_]", undefined, [operand, index], at);
      } else if (this.isSign("{") && nameOf(operand) !== undefined) {
        operand = this.objectLiteral(nameOf(operand)!, operand.at);
      } else return operand;
    }
  }

  private primary(): Expression {
    const token = this.token;
    const { at } = token;
    if (token.kind === "literal") {
      this.next++;
      if (typeof token.value === "bigint" && token.value > maxInt) {
        throw new ExpressionError("invalid int literal", at);
      }
      return leaf({ node: "literal", value: token.value, at });
    }
    if (this.takes("(")) {
      const inner = this.expression();
      this.expect(")");
      return inner;
    }
    if (this.takes("[")) {
      const items = this.list("]");
      return made({ node: "list", items, at }, items);
    }
    if (this.takes("{")) return this.mapLiteral(at);
    return this.named(at);
  }

  /** A variable or a function, with or without a dot before its name. */
  private named(at: number): Expression {
    const dot = this.takes(".") ? "." : "";
    const token = this.token;
    if (token.kind !== "name") throw this.unexpected("an expression");
    this.next++;
    if (reserved.has(token.text)) {
      throw new ExpressionError(`Syntax error: reserved identifier: ${token.text}`, at);
    }
    const name = dot + token.text;
    if (!this.takes("(")) return leaf({ node: "identifier", name, at });
    const args = this.list(")");
    return macroCall(name, undefined, args, at) ?? call(name, undefined, args, at);
  }

  private list(close: string): Expression[] {
    const items: Expression[] = [];
    while (!this.takes(close)) {
      items.push(this.expression());
      if (this.takes(",")) {
        if (close === ")" && this.isSign(close)) throw this.unexpected("an expression");
      } else if (!this.isSign(close)) throw this.unexpected(`"," or "${close}"`);
    }
    return items;
  }

  private mapLiteral(at: number): Expression {
    const entries: { key: Expression; value: Expression }[] = [];
    while (!this.takes("}")) {
      const key = this.expression();
      this.expect(":");
      entries.push({ key, value: this.expression() });
      if (!this.takes(",") && !this.isSign("}")) throw this.unexpected('"," or "}"');
    }
    const parts = entries.flatMap(({ key, value }) => [key, value]);
    return made({ node: "map", entries, at }, parts);
  }

  /** An object of a named type. No environment has such types, so only its name is kept, for the fault. */
  private objectLiteral(name: string, at: number): Expression {
    this.expect("{");
    while (!this.takes("}")) {
      this.fieldName();
      this.expect(":");
      this.expression();
      if (!this.takes(",") && !this.isSign("}")) throw this.unexpected('"," or "}"');
    }
    return leaf({ node: "object", name, at });
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

  private unexpected(wanted: string): ExpressionError {
    const token = this.token;
    const found =
      token.kind === "end" ? "the end" : token.kind === "literal" ? "a literal" : `'${token.text}'`;
    return new ExpressionError(`Syntax error: ${wanted} expected, found ${found}`, token.at);
  }
}

function tooDeep(at: number): ExpressionError {
  return new ExpressionError(`expression recursion limit exceeded: ${maxDepth}`, at);
}

type WithoutDepth<E> = E extends Expression ? Omit<E, "depth"> : never;

function leaf(node: WithoutDepth<Expression>): Expression {
  return { ...node, depth: 1 };
}

function made(node: WithoutDepth<Expression>, below: readonly Expression[]): Expression {
  let deepest = 0;
  for (const { depth } of below) if (depth > deepest) deepest = depth;
  if (deepest >= maxDepth) throw tooDeep(node.at);
  return { ...node, depth: deepest + 1 };
}

function call(
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
  at: number,
): Expression {
  return made({ node: "call", name, target, args, at }, target === undefined ? args : [target, ...args]);
}

/** The name with dots that an expression is, if it is one. */
export function nameOf(expression: Expression): string | undefined {
  if (expression.node === "identifier") return expression.name;
  if (expression.node !== "select" || expression.test) return undefined;
  const above = nameOf(expression.operand);
  return above === undefined ? undefined : `${above}.${expression.field}`;
}
