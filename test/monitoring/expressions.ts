/** A selector of a PromQL expression. */
export interface Selector {
  /** The name, or a regular expression for it. */
  readonly name: string;
  readonly labels: readonly string[];
  /** The function around the selector; empty if there is none. */
  readonly call: string;
  readonly hasRange: boolean;
}

const keywords = new Set([
  "by",
  "without",
  "on",
  "ignoring",
  "group_left",
  "group_right",
  "and",
  "or",
  "unless",
  "bool",
  "offset",
]);
const token = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9.]+(?:e[0-9]+)?|!=|=~|!~|[^\s]/g;
const isName = (text: string | undefined) => text !== undefined && /^[a-zA-Z_:]/.test(text);

/** The selectors of an expression, and the labels by which it groups. */
export function parseExpression(text: string): { readonly selectors: Selector[]; readonly groups: string[] } {
  const tokens: readonly string[] = text.match(token) ?? [];
  const selectors: Selector[] = [];
  const groups: string[] = [];
  const calls: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const one = tokens[at]!;
    if (one === "(") calls.push(callBefore(tokens, at));
    else if (one === ")") calls.pop();
    else if (keywords.has(one) && tokens[at + 1] === "(") {
      const end = tokens.indexOf(")", at);
      groups.push(...tokens.slice(at + 2, end).filter(isName));
      at = end;
    } else if (one === "{" || (isName(one) && !keywords.has(one) && isOperand(tokens, at))) {
      const braces = one === "{" ? at : tokens[at + 1] === "{" ? at + 1 : undefined;
      const end = braces === undefined ? at : tokens.indexOf("}", braces);
      const matchers = braces === undefined ? [] : tokens.slice(braces + 1, end);
      const named = matchers.indexOf("__name__");
      selectors.push({
        name: named === -1 ? one : (JSON.parse(matchers[named + 2]!) as string),
        labels: matchers.filter((name, index) => isName(name) && index !== named),
        call: calls.at(-1) ?? "",
        hasRange: tokens[end + 1]?.startsWith("[") === true,
      });
      at = end;
    }
  }
  return { selectors, groups };
}

/** A name before a parenthesis or a grouping is a function. */
function isOperand(tokens: readonly string[], at: number): boolean {
  const next = tokens[at + 1];
  return next !== "(" && !(next === "by" || next === "without");
}

/** The function whose arguments begin at a parenthesis: `sum (…)`, or `sum by (…) (…)`. */
function callBefore(tokens: readonly string[], at: number): string {
  const before = tokens[at - 1];
  if (before !== ")") return isName(before) ? before! : "";
  const grouping = tokens.lastIndexOf("(", at) - 1;
  return tokens[grouping - 1] ?? "";
}
