import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/**
 * Compiles a regular expression in the syntax of RE2, which matches in linear time.
 *
 * @param maxInstructions larger programs are refused before they are built: a pattern of a few kilobytes can need seconds and a gigabyte.
 * @throws {Error} for an invalid or too large pattern, with a message for the client.
 */
export function compileLinear(pattern: string, maxInstructions: number): RE2JS {
  const instructions = estimateInstructions(pattern);
  if (instructions > maxInstructions) {
    throw new Error(
      `error parsing regexp: expression too large: about ${instructions} instructions, at most ${maxInstructions}`,
    );
  }
  return library().compile(pattern);
}

/** Loads the library (about 7 ms) when the first expression is compiled; callers are synchronous, so it can't be imported dynamically. */
function library(): typeof RE2JS {
  const require = createRequire(import.meta.url);
  return (require("re2js") as typeof import("re2js")).RE2JS;
}

/** A group that is open, or the whole expression. */
interface Level {
  /** Instructions before the last item. */
  before: number;
  /** Instructions of the last item, which a repetition multiplies. */
  last: number;
}

/**
 * Returns an upper estimate of the number of instructions of a regular expression in the syntax of RE2, without compiling it. Counted
 * repetitions copy what they repeat. Takes time proportional to the length.
 */
export function estimateInstructions(pattern: string): number {
  // `{n}`, `{n,}` or `{n,m}`; other braces are characters.
  const repetition = /\{(\d{1,9})(,(\d{1,9})?)?\}/y;
  const outer: Level[] = [];
  let level: Level = { before: fixedInstructions, last: 0 };
  const item = (size: number): void => {
    level.before += level.last;
    level.last = size;
  };
  for (let at = 0; at < pattern.length;) {
    const char = pattern[at]!;
    at++;
    if (char === "\\") {
      const end = endOfEscape(pattern, at);
      for (const size of end.items) item(size);
      at = end.at;
    } else if (char === "[") {
      at = endOfClass(pattern, at);
      item(1);
    } else if (char === "(") {
      outer.push(level);
      level = { before: groupInstructions, last: 0 };
    } else if (char === ")" && outer.length > 0) {
      const size = level.before + level.last;
      level = outer.pop()!;
      item(size);
    } else if (char === "*" || char === "+" || char === "?") level.last += level.last > 0 ? 2 : 0;
    else if (char === "|") {
      level.before += level.last + 2;
      level.last = 0;
    } else {
      repetition.lastIndex = at - 1;
      const match = char === "{" ? repetition.exec(pattern) : null;
      if (match === null) item(1);
      else {
        const times = Number(match[3] ?? match[1]) + (match[2] === "," ? 1 : 0);
        // Optional copies need an instruction each that skips them.
        level.last = level.last * times + times + 1;
        at = repetition.lastIndex;
      }
    }
  }
  return [...outer, level].reduce((sum, { before, last }) => sum + before + last, 0);
}

/** Begin, end and failure of each program. */
const fixedInstructions = 4;
/** A group records its begin and its end; an empty one has an instruction too. */
const groupInstructions = 3;

/** Returns the instructions of each item of an escape that begins before `at`, and the position after it. */
function endOfEscape(pattern: string, at: number): { items: readonly number[]; at: number } {
  const char = pattern[at];
  if (char === "Q") {
    const end = pattern.indexOf("\\E", at);
    const length = (end < 0 ? pattern.length : end) - at - 1;
    return { items: length > 0 ? [length - 1, 1] : [], at: end < 0 ? pattern.length : end + 2 };
  }
  if ((char === "p" || char === "P" || char === "x") && pattern[at + 1] === "{") {
    const end = pattern.indexOf("}", at);
    return { items: [1], at: end < 0 ? pattern.length : end + 1 };
  }
  return { items: [1], at: at + 1 };
}

/** Returns the position after a character class whose bracket is before `at`. */
function endOfClass(pattern: string, at: number): number {
  const namedClass = /\[:\^?[a-z]+:\]/y;
  let end = at;
  if (pattern[end] === "^") end++;
  // A bracket in the first position is a character.
  if (pattern[end] === "]") end++;
  while (end < pattern.length && pattern[end] !== "]") {
    if (pattern[end] === "\\") end++;
    else if (pattern[end] === "[") {
      namedClass.lastIndex = end;
      if (namedClass.test(pattern)) end = namedClass.lastIndex - 1;
    }
    end++;
  }
  return end + 1;
}
