import { encodeJson } from "./encode.ts";
import { getMember, isObject, type JsonValue } from "./value.ts";

/** A malformed path. The message has the position and the problem. */
export class JsonPathFault extends Error {
  override name = "JsonPathFault";
}

/** Returns the first value at the rest of a path; undefined if there is none. */
type Find = (value: JsonValue, effort: Effort) => JsonValue | undefined;

/** One step of a path. Returns the search function for this step followed by the rest. */
type Step = (next: Find) => Find;

/** Remaining visits of values in a search. */
interface Effort {
  left: number;
}

/** Number of members listed, or of characters compared, that cost as much as one visit. */
const gatheredPerVisit = 8;
const comparedPerVisit = 64;

/** Maximum length of a path in characters; it bounds the time for parsing. */
const maxLength = 4096;

/** A JSONPath in the dialect of kubectl and additionalPrinterColumns: `.status.conditions[?(@.type=="Ready")].status`. */
export class JsonPath {
  private constructor(private readonly find: Find) {}

  /** @throws {JsonPathFault} */
  static parse(text: string): JsonPath {
    if (text.length > maxLength) throw new JsonPathFault(`a path has more than ${maxLength} characters`);
    return new JsonPath(parsed(text));
  }

  /**
   * Returns the first value at the path; undefined if there is none.
   *
   * @param visits maximum number of visited values; the search then ends without a result. A path such as `..*..*` visits the same
   * value very often.
   */
  first(value: JsonValue, visits: number): JsonValue | undefined {
    return this.find(value, { left: visits });
  }
}

function parsed(text: string): Find {
  const steps = new Parser(text).path();
  return steps.reduceRight<Find>((next, step) => step(next), itself);
}

const itself: Find = (value) => value;

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
    if (this.skipWord(".."))
      return this.text[this.at] === "[" ? descend(this.bracket()) : descend(this.named());
    if (this.skipWord(".")) return this.text[this.at] === "[" ? this.bracket() : this.named();
    if (this.text[this.at] === "[") return this.bracket();
    throw this.fault("expected . or [");
  }

  /** Parses the name after a dot. A backslash escapes the next character. */
  private named(): Step {
    let name = "";
    while (this.at < this.text.length && !".[".includes(this.text[this.at]!)) {
      if (this.text[this.at] === "\\") this.at++;
      name += this.text[this.at++] ?? "";
    }
    if (name === "*") return everything;
    // A dot without a name selects the value itself.
    return name === "" ? (next) => next : member(name);
  }

  private bracket(): Step {
    const end = this.closing();
    const content = this.text.slice(this.at + 1, end).trim();
    this.at = end + 1;
    if (content === "*") return everything;
    if (content.startsWith("?(") && content.endsWith(")")) return filter(content.slice(2, -1).trim());
    const parts = split(content);
    const steps = parts.map((part) => this.selector(part.trim()));
    return steps.length === 1 ? steps[0]! : anyOf(steps);
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

  /** Returns the offset of the bracket that closes the current one; skips quoted text and inner brackets. */
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

  private skipWord(word: string): boolean {
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

/** Splits at commas outside of quotes. */
function split(text: string): string[] {
  return text.match(/(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"])+/gs) ?? [text];
}

/** Counts a visit and continues the search at the value, unless the limit is exceeded. */
function visit(value: JsonValue, next: Find, effort: Effort): JsonValue | undefined {
  return --effort.left < 0 ? undefined : next(value, effort);
}

/** Continues the search at each of these values until one has a result. */
function firstOf(values: readonly JsonValue[], next: Find, effort: Effort): JsonValue | undefined {
  for (const value of values) {
    const result = visit(value, next, effort);
    if (result !== undefined || effort.left < 0) return result;
  }
  return undefined;
}

function anyOf(steps: readonly Step[]): Step {
  return (next) => {
    const searches = steps.map((step) => step(next));
    return (value, effort) => {
      for (const search of searches) {
        const result = visit(value, search, effort);
        if (result !== undefined || effort.left < 0) return result;
      }
      return undefined;
    };
  };
}

function member(name: string): Step {
  return (next) => (value, effort) => {
    const below = isObject(value) ? getMember(value, name) : undefined;
    return below === undefined ? undefined : visit(below, next, effort);
  };
}

const everything: Step = (next) => (value, effort) => firstOf(below(value, effort), next, effort);

/** Returns the items or members of a value. Listing the members of an object costs effort too. */
function below(value: JsonValue, effort: Effort): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value) || effort.left < 0) return [];
  const values = Object.values(value);
  effort.left -= values.length / gatheredPerVisit;
  return values;
}

function slice(from: number, to: number | undefined, step: number, single: boolean): Step {
  return (next) => (value, effort) => {
    if (!Array.isArray(value)) return undefined;
    const start = from < 0 ? from + value.length : from;
    const end = single ? start + 1 : to === undefined ? value.length : to < 0 ? to + value.length : to;
    for (let at = Math.max(0, start); at < Math.min(end, value.length); at += step) {
      const result = visit(value[at]!, next, effort);
      if (result !== undefined || effort.left < 0) return result;
    }
    return undefined;
  };
}

/** Applies a step to a value and to all its descendants. */
function descend(step: Step): Step {
  return (next) => {
    const here = step(next);
    const search: Find = (value, effort) =>
      visit(value, here, effort) ?? firstOf(below(value, effort), search, effort);
    return search;
  };
}

/** Selects the items of a list that meet a condition: `@.type=="Ready"`, or a path that has a value. */
function filter(condition: string): Step {
  const [left, operator, right] = comparison(condition);
  const leftValue = operand(left);
  const rightValue = right === undefined ? undefined : operand(right);
  const holds = (item: JsonValue, effort: Effort): boolean => {
    const one = leftValue(item, effort);
    return (
      one !== undefined &&
      (operator === undefined || compare(operator, one, rightValue!(item, effort), effort))
    );
  };
  return (next) => {
    const chosen: Find = (item, effort) => (holds(item, effort) ? visit(item, next, effort) : undefined);
    return (value, effort) => firstOf(below(value, effort), chosen, effort);
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

function operand(text: string): Find {
  if (text.startsWith("@")) return parsed(text.slice(1));
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted !== null) return () => quoted[2]!;
  if (text === "true" || text === "false") return () => text === "true";
  const value = Number(text);
  if (text === "" || Number.isNaN(value)) {
    throw new JsonPathFault(`${JSON.stringify(text)} is neither a path, a text, a number nor a boolean`);
  }
  // An integer that a double can't represent exactly.
  if (!Number.isSafeInteger(value) && /^-?\d{1,64}$/.test(text)) return () => BigInt(text);
  return () => value;
}

function compare(operator: Operator, a: JsonValue, b: JsonValue | undefined, effort: Effort): boolean {
  if (b === undefined) return false;
  if (operator === "==") return sameText(a, b, effort);
  if (operator === "!=") return !sameText(a, b, effort);
  if (!areOrdered(a, b)) return false;
  const [left, right] = [a as Ordered, b as Ordered];
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

type Ordered = string | number | bigint;

/** Whether both are strings, or both are numbers. */
function areOrdered(a: JsonValue, b: JsonValue): boolean {
  const isNumber = (value: JsonValue) => typeof value === "number" || typeof value === "bigint";
  return isNumber(a) ? isNumber(b) : typeof a === "string" && typeof b === "string";
}

function sameText(a: JsonValue, b: JsonValue, effort: Effort): boolean {
  if (typeof a !== typeof b) return false;
  const text = encodeJson(a);
  effort.left -= text.length / comparedPerVisit;
  return text === encodeJson(b);
}
