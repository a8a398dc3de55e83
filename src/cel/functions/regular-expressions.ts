import type { RE2JS } from "re2js";
import { compileLinear } from "../../base/linear-expressions.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { ValueList } from "../values/collections.ts";
import { declareFunction, matching, type CelFunction, type Run } from "./function-table.ts";
import type { Meter } from "../costs/meter.ts";
import { bool } from "../types/types.ts";
import { Fault, noOverload } from "../values/values.ts";

/** Maximum length of a pattern: compiling takes at least 20 microseconds per 1000 characters. */
const maxPatternLength = 10_000;

/** Maximum size of the program of a pattern. */
const maxInstructions = 10_000;

/** Cache of compiled patterns; its cost is in instructions. */
const compiled = new RecentMap<RE2JS | Fault>({ entries: 1000, cost: 200_000 });

function compileCached(pattern: string, meter: Meter | undefined): RE2JS | Fault {
  const cached = compiled.get(pattern);
  if (cached !== undefined) return cached;
  meter?.work(5_000 + pattern.length * 20);
  const result = compilePattern(pattern);
  if (!(result instanceof Fault)) meter?.work(result.programSize() * 200);
  compiled.set(pattern, result, (result instanceof Fault ? 1 : result.programSize()) + pattern.length);
  return result;
}

function compilePattern(pattern: string): RE2JS | Fault {
  if (pattern.length > maxPatternLength) return new Fault("the regular expression is too long");
  try {
    return compileLinear(pattern, maxInstructions);
  } catch (error) {
    // Any exception of the library means that the pattern is unsupported.
    return new Fault(error instanceof Error ? error.message : String(error));
  }
}

/** Returns the error of a literal pattern; undefined if it is valid. */
function patternError(pattern: string): string | undefined {
  const compiledPattern = compileCached(pattern, undefined);
  return compiledPattern instanceof Fault ? compiledPattern.message : undefined;
}

/**
 * Meter steps per character. Small programs have few states, which are created once; large ones may create a new state for every
 * character, which takes 40 ns per instruction.
 */
function stepsToTest(size: number): number {
  return size < 32 ? 5 : size * 4;
}

/** As {@link stepsToTest}, for finding the position of a match. */
function stepsToFind(size: number): number {
  return 80 + 2 * size;
}

const matches: Run = ([text, pattern], meter) => {
  if (typeof text !== "string" || typeof pattern !== "string") return noOverload;
  const expression = compileCached(pattern, meter);
  return expression instanceof Fault ? expression : matchesWith(expression)([text], meter, bool);
};

function matchesWith(expression: RE2JS): Run {
  const steps = stepsToTest(expression.programSize());
  return ([text], meter) => {
    if (typeof text !== "string") return noOverload;
    meter.work(text.length * steps);
    return expression.test(text);
  };
}

/** Returns `matches` for a literal pattern, which is compiled once. */
function matchesLiteral(pattern: string): Run {
  const expression = compileCached(pattern, undefined);
  return expression instanceof Fault ? () => expression : matchesWith(expression);
}

const find: Run = ([text, pattern], meter) => {
  if (typeof text !== "string" || typeof pattern !== "string") return noOverload;
  const expression = compileCached(pattern, meter);
  if (expression instanceof Fault) return expression;
  meter.work(text.length * stepsToFind(expression.programSize()));
  const matcher = expression.matcher(text);
  return matcher.find() ? (matcher.group() ?? "") : "";
};

const findAll: Run = ([text, pattern, limit], meter) => {
  if (typeof text !== "string" || typeof pattern !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const expression = compileCached(pattern, meter);
  if (expression instanceof Fault) return expression;
  const maxCount = limit === undefined || limit < 0n ? Infinity : Number(limit);
  const steps = stepsToFind(expression.programSize());
  const matcher = expression.matcher(text);
  const matchList: string[] = [];
  let end = 0;
  while (matchList.length < maxCount) {
    meter.work((text.length - end + 1) * steps);
    if (!matcher.find()) break;
    const [start, next] = [matcher.start(), matcher.end()];
    // As in Go, an empty match directly after the previous match is ignored.
    if (start < next || start !== end || matchList.length === 0) matchList.push(text.slice(start, next));
    end = next;
  }
  return new ValueList(matchList);
};

const pattern = { index: 1, check: patternError };

/** Regular expressions with the syntax of RE2, matched in linear time. */
export const regularExpressionFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "matches",
    declareFunction(["string.(string) -> bool"], matches, {
      cost: matching,
      literal: { ...pattern, runWith: matchesLiteral },
    }),
  ],
  [
    "find",
    declareFunction(["string.(string) -> string"], find, {
      cost: matching,
      literal: pattern,
    }),
  ],
  [
    "findAll",
    declareFunction(["string.(string) -> list<string>", "string.(string, int) -> list<string>"], findAll, {
      cost: matching,
      literal: pattern,
    }),
  ],
];
