import { encodeJson } from "./encode.ts";
import { getMember, isObject, type JsonValue } from "./value.ts";

/** A path that can't be read; the message says where and why. */
export class JsonPathFault extends Error {
  override name = "JsonPathFault";
}

/** One step of a path, from each value to some values below it. */
type Step = (value: JsonValue, found: JsonValue[]) => void;

/** A path into JSON values, in the dialect of the field's tools: `.status.conditions[?(@.type=="Ready")].status`. */
export class JsonPath {
  private constructor(private readonly steps: readonly Step[]) {}

  /** @throws {JsonPathFault} */
  static parse(text: string): JsonPath {
    return new JsonPath(new Parser(text).path());
  }

  /** The values at the path, in their order; none where there is nothing. */
  find(value: JsonValue): readonly JsonValue[] {
    let values: JsonValue[] = [value];
    for (const step of this.steps) {
      const found: JsonValue[] = [];
      for (const one of values) step(one, found);
      values = found;
    }
    return values;
  }
}

const operators = ["==", "!=", "<=", ">=", "<", ">"] as const;
type Operator = (typeof operators)[number];

class Parser {
  private at = 0;

  constructor(private readonly text: string) {}

  path(): Step[] {
    if (this.text.startsWith("$")) this.at++;
    const steps: Step[] = [];
    while (this.at < this.text.length) steps.push(this.step());
    return steps;
  }

  private step(): Step {
    if (this.take("..")) return this.text[this.at] === "[" ? descend(this.bracket()) : descend(this.named());
    if (this.take(".")) return this.text[this.at] === "[" ? this.bracket() : this.named();
    if (this.text[this.at] === "[") return this.bracket();
    throw this.fault("expected . or [");
  }

  /** The name behind a dot, in which a backslash takes the meaning from the next character. */
  private named(): Step {
    let name = "";
    while (this.at < this.text.length && !".[".includes(this.text[this.at]!)) {
      if (this.text[this.at] === "\\") this.at++;
      name += this.text[this.at++] ?? "";
    }
    if (name === "*") return everything;
    // A dot alone is the value itself.
    return name === "" ? (value, found) => void found.push(value) : member(name);
  }

  private bracket(): Step {
    const end = this.closing();
    const content = this.text.slice(this.at + 1, end).trim();
    this.at = end + 1;
    if (content === "*") return everything;
    if (content.startsWith("?(") && content.endsWith(")")) return filter(content.slice(2, -1).trim());
    const parts = split(content);
    const steps = parts.map((part) => this.selector(part.trim()));
    return steps.length === 1
      ? steps[0]!
      : (value, found) => {
          for (const step of steps) step(value, found);
        };
  }

  private selector(part: string): Step {
    const quoted = /^(['"])(.*)\1$/s.exec(part);
    if (quoted !== null) return member(quoted[2]!.replaceAll(/\\(.)/gs, "$1"));
    if (/^-?\d+$/.test(part)) return slice(Number(part), undefined, 1, true);
    const range = /^(-?\d*):(-?\d*)(?::(-?\d+))?$/.exec(part);
    if (range === null) throw this.fault(`${JSON.stringify(part)} is no index, range, name or filter`);
    const [, from, to, step] = range;
    if (step !== undefined && Number(step) <= 0) throw this.fault("the step of a range is not above 0");
    return slice(number(from) ?? 0, number(to), number(step) ?? 1, false);
  }

  /** Where the bracket at the present place is closed; quotes and inner brackets are skipped. */
  private closing(): number {
    let depth = 0;
    let quote = "";
    for (let at = this.at; at < this.text.length; at++) {
      const character = this.text[at]!;
      if (character === "\\") at++;
      else if (quote !== "") quote = character === quote ? "" : quote;
      else if (character === "'" || character === '"') quote = character;
      else if (character === "[") depth++;
      else if (character === "]" && --depth === 0) return at;
    }
    throw this.fault("a bracket isn't closed");
  }

  private take(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private fault(problem: string): JsonPathFault {
    return new JsonPathFault(`${JSON.stringify(this.text)} at ${this.at}: ${problem}`);
  }
}

function number(text: string | undefined): number | undefined {
  return text === undefined || text === "" ? undefined : Number(text);
}

/** The parts of a text between its commas, but for those in quotes. */
function split(text: string): string[] {
  return text.match(/(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"])+/gs) ?? [text];
}

function member(name: string): Step {
  return (value, found) => {
    const below = isObject(value) ? getMember(value, name) : undefined;
    if (below !== undefined) found.push(below);
  };
}

const everything: Step = (value, found) => {
  if (Array.isArray(value)) found.push(...value);
  else if (isObject(value)) found.push(...Object.values(value));
};

function slice(from: number, to: number | undefined, step: number, single: boolean): Step {
  return (value, found) => {
    if (!Array.isArray(value)) return;
    const start = from < 0 ? from + value.length : from;
    const end = single ? start + 1 : to === undefined ? value.length : to < 0 ? to + value.length : to;
    for (let at = Math.max(0, start); at < Math.min(end, value.length); at += step) found.push(value[at]!);
  };
}

/** A step from a value and from everything below it. */
function descend(step: Step): Step {
  const visit: Step = (value, found) => {
    step(value, found);
    if (typeof value !== "object" || value === null) return;
    for (const below of Object.values(value)) visit(below, found);
  };
  return visit;
}

/** The items of a list that a condition holds for: `@.type=="Ready"`, or that a path finds something in. */
function filter(condition: string): Step {
  const [left, operator, right] = comparison(condition);
  const leftValue = operand(left);
  const rightValue = right === undefined ? undefined : operand(right);
  return (value, found) => {
    if (typeof value !== "object" || value === null) return;
    for (const item of Object.values(value)) {
      const one = leftValue(item);
      if (one === undefined) continue;
      if (operator === undefined || compare(operator, one, rightValue!(item))) found.push(item);
    }
  };
}

function comparison(condition: string): [left: string, operator?: Operator, right?: string] {
  let quote = "";
  for (let at = 0; at < condition.length; at++) {
    const character = condition[at]!;
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else {
      const operator = operators.find((one) => condition.startsWith(one, at));
      if (operator === undefined) continue;
      return [condition.slice(0, at).trim(), operator, condition.slice(at + operator.length).trim()];
    }
  }
  return [condition];
}

function operand(text: string): (item: JsonValue) => JsonValue | undefined {
  if (text.startsWith("@")) {
    const path = JsonPath.parse(text.slice(1));
    return (item) => path.find(item)[0];
  }
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted !== null) return () => quoted[2]!;
  if (text === "true" || text === "false") return () => text === "true";
  const value = Number(text);
  if (text === "" || Number.isNaN(value)) {
    throw new JsonPathFault(`${JSON.stringify(text)} is neither a path, a text, a number nor a boolean`);
  }
  return () => value;
}

function compare(operator: Operator, a: JsonValue, b: JsonValue | undefined): boolean {
  if (b === undefined) return false;
  if (operator === "==") return sameText(a, b);
  if (operator === "!=") return !sameText(a, b);
  if (typeof a !== typeof b || (typeof a !== "number" && typeof a !== "string")) return false;
  const [left, right] = [a, b as typeof a];
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

function sameText(a: JsonValue, b: JsonValue): boolean {
  return typeof a === typeof b && encodeJson(a) === encodeJson(b);
}
