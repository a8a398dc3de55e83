import { labelValueFaults, qualifiedNameFaults } from "../names.ts";
import { StatusError } from "../status-error.ts";

export type LabelOperator = "Exists" | "DoesNotExist" | "In" | "NotIn" | "Gt" | "Lt";

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** One or more for In and NotIn, one integer for Gt and Lt, otherwise none. An absent label matches NotIn. */
  readonly values: readonly string[];
}

interface Token {
  /** A symbol, a word, or "" at the end. */
  readonly text: string;
  readonly isWord: boolean;
  /** Offset in the text, from 0. */
  readonly offset: number;
}

const tokenForm = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n]+)|$)/y;
const endOfText = "the end";

/**
 * Parses the text form of a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, separated
 * by commas and combined with AND. The empty text has no requirements.
 * @throws StatusError BadRequest that has the position, or the invalid key or value.
 */
export function parseLabelRequirements(text: string): LabelRequirement[] {
  return new Parser(text).parse();
}

class Parser {
  private next: Token;

  constructor(private readonly text: string) {
    this.next = this.read(0);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.atEnd()) return requirements;
    for (;;) {
      requirements.push(this.requirement());
      if (this.atEnd()) return requirements;
      if (this.next.text !== ",") throw this.unexpected(`"," or ${endOfText}`);
      this.take();
    }
  }

  private requirement(): LabelRequirement {
    if (this.next.text === "!") {
      this.take();
      return { key: this.key(), operator: "DoesNotExist", values: [] };
    }
    const key = this.key();
    if (this.atEnd() || this.next.text === ",") return { key, operator: "Exists", values: [] };
    const operator = this.take();
    switch (operator.text) {
      case "=":
      case "==":
        return { key, operator: "In", values: [this.value(key)] };
      case "!=":
        return { key, operator: "NotIn", values: [this.value(key)] };
      case "in":
        return { key, operator: "In", values: this.values(key) };
      case "notin":
        return { key, operator: "NotIn", values: this.values(key) };
      case ">":
        return { key, operator: "Gt", values: [this.integer(key)] };
      case "<":
        return { key, operator: "Lt", values: [this.integer(key)] };
      default:
        this.next = operator;
        throw this.unexpected(`"=", "==", "!=", "in", "notin", "<", ">", "," or ${endOfText}`);
    }
  }

  private key(): string {
    const token = this.next;
    if (!token.isWord) throw this.unexpected("a label key");
    const [fault] = qualifiedNameFaults(token.text);
    if (fault !== undefined)
      throw this.refuse(token, `${JSON.stringify(token.text)} isn't a label key: ${fault}`);
    this.take();
    return token.text;
  }

  /** Parses the value after `=` or `!=`; it may be empty. */
  private value(key: string): string {
    const token = this.next;
    if (!token.isWord) {
      if (this.atEnd() || token.text === ",") return "";
      throw this.unexpected("a label value");
    }
    return this.checkedValue(key);
  }

  private checkedValue(key: string): string {
    const token = this.take();
    const [fault] = labelValueFaults(token.text);
    if (fault === undefined) return token.text;
    throw this.refuse(token, `${JSON.stringify(token.text)} isn't a value for label ${key}: ${fault}`);
  }

  /** Parses a list in parentheses. Nothing between two commas is the empty value; the empty list is rejected. */
  private values(key: string): string[] {
    const open = this.expect("(");
    if (this.isNext(")")) throw this.refuse(open, `the list of values for label ${key} is empty`);
    const values = new Set<string>();
    for (;;) {
      values.add(this.next.isWord ? this.checkedValue(key) : "");
      if (this.isNext(")")) break;
      if (!this.isNext(",")) throw this.unexpected('"," or ")"');
      this.take();
    }
    this.take();
    return [...values];
  }

  private isNext(symbol: string): boolean {
    return this.next.text === symbol;
  }

  private expect(symbol: string): Token {
    if (!this.isNext(symbol)) throw this.unexpected(JSON.stringify(symbol));
    return this.take();
  }

  private integer(key: string): string {
    const token = this.next;
    if (!/^[0-9]{1,19}$/.test(token.text)) {
      throw this.refuse(token, `label ${key} can be compared with an integer only, not ${quote(token)}`);
    }
    this.take();
    return token.text;
  }

  private atEnd(): boolean {
    return this.next.text === "";
  }

  private take(): Token {
    const token = this.next;
    this.next = this.read(token.offset + token.text.length);
    return token;
  }

  private read(from: number): Token {
    tokenForm.lastIndex = from;
    const [, symbol, word] = tokenForm.exec(this.text)!;
    const text = symbol ?? word ?? "";
    return { text, isWord: word !== undefined, offset: tokenForm.lastIndex - text.length };
  }

  private unexpected(wanted: string): StatusError {
    return this.refuse(this.next, `found ${quote(this.next)}, expected ${wanted}`);
  }

  private refuse(token: Token, problem: string): StatusError {
    return new StatusError(
      "BadRequest",
      `unable to parse label selector at character ${token.offset + 1}: ${problem}`,
    );
  }
}

function quote(token: Token): string {
  return token.text === "" ? endOfText : JSON.stringify(token.text);
}
