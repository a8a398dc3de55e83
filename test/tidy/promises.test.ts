import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** The text from an opening bracket to the one that closes it. */
function bracketed(text: string, from: number): string {
  const open = text[from]!;
  const close = { "(": ")", "{": "}" }[open];
  for (let at = from, depth = 0; at < text.length; at++) {
    if (text[at] === open) depth++;
    if (text[at] === close && --depth === 0) return text.slice(from, at + 1);
  }
  throw new Error(`an unclosed ${open}`);
}

/** The variables that are found to be promises by an `if`, and not mentioned in what it then does. */
function dropped(text: string): string[] {
  const found: string[] = [];
  for (const { index } of text.matchAll(/\bif \(/g)) {
    const condition = bracketed(text, index + 3);
    const variable = /(?<!!\()\b([A-Za-z]+) instanceof Promise/.exec(condition)?.[1];
    if (variable === undefined) continue;
    const rest = text.slice(index + 3 + condition.length).trimStart();
    const consequence = rest.startsWith("{") ? bracketed(rest, 0) : rest.slice(0, rest.indexOf(";"));
    const isList = /\.(some|every)\(/.test(condition);
    if (!isList && !new RegExp(`\\b${variable}\\b`).test(consequence)) found.push(variable);
  }
  return found;
}

test("a value that is found to be a promise is gone on with: the lint takes one in a variable for used", () => {
  expect(sources.flatMap((file) => dropped(read(file)).map((variable) => `${file}: ${variable}`))).toEqual(
    [],
  );
});

test("the test above finds what is dropped", () => {
  const kept = "if (one instanceof Promise) { return one.then(go); }";
  const lost = "if (a === undefined || one instanceof Promise) { return andThen(other(), go); }";
  expect([kept, lost].map(dropped)).toEqual([[], ["one"]]);
});
