import type { RE2JS } from "re2js";
import { linearExpressions } from "../../base/linear-expressions.ts";
import { RecentMap } from "../../base/recent-map.ts";
import { ValueList } from "../collections.ts";
import { declared, matching, type CelFunction, type Run } from "../function-table.ts";
import type { Meter } from "../meter.ts";
import { bool } from "../types.ts";
import { Fault, noOverload } from "../values.ts";

/** The longest expression that is compiled: compiling takes some 20 microseconds for each thousand characters at least. */
const maxPatternLength = 10_000;

/** Compiled expressions, as the same ones are asked for again and again; cost in instructions. */
const compiled = new RecentMap<RE2JS | Fault>({ entries: 1000, cost: 200_000 });

function expressionOf(pattern: string, meter: Meter | undefined): RE2JS | Fault {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  meter?.work(5_000 + pattern.length * 20);
  const made = make(pattern);
  if (!(made instanceof Fault)) meter?.work(made.programSize() * 200);
  compiled.set(pattern, made, (made instanceof Fault ? 1 : made.programSize()) + pattern.length);
  return made;
}

function make(pattern: string): RE2JS | Fault {
  if (pattern.length > maxPatternLength) return new Fault("the regular expression is too long");
  try {
    return linearExpressions().compile(pattern);
  } catch (error) {
    // Whatever the library stumbles over, the pattern isn't one that it can match.
    return new Fault(error instanceof Error ? error.message : String(error));
  }
}

/** What is wrong with a pattern that stands in an expression as it is. */
function patternFault(pattern: string): string | undefined {
  const made = expressionOf(pattern, undefined);
  return made instanceof Fault ? made.message : undefined;
}

/**
 * Steps (of some 10 ns) that one character may take. Small programs have few states, each made once; large ones may make a
 * new one at every character, which takes 40 ns for each instruction.
 */
function stepsToTest(size: number): number {
  return size < 32 ? 5 : size * 4;
}

/** As {@link stepsToTest}, for finding where a match is. */
function stepsToFind(size: number): number {
  return 80 + 2 * size;
}

const matches: Run = ([text, pattern], meter) => {
  if (typeof text !== "string" || typeof pattern !== "string") return noOverload;
  const expression = expressionOf(pattern, meter);
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

/** Matches with a pattern that the expression says: it is held by the program, so that nothing is looked up. */
function matchesLiteral(pattern: string): Run {
  const expression = expressionOf(pattern, undefined);
  return expression instanceof Fault ? () => expression : matchesWith(expression);
}

const find: Run = ([text, pattern], meter) => {
  if (typeof text !== "string" || typeof pattern !== "string") return noOverload;
  const expression = expressionOf(pattern, meter);
  if (expression instanceof Fault) return expression;
  meter.work(text.length * stepsToFind(expression.programSize()));
  const matcher = expression.matcher(text);
  return matcher.find() ? (matcher.group() ?? "") : "";
};

const findAll: Run = ([text, pattern, limit], meter) => {
  if (typeof text !== "string" || typeof pattern !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const expression = expressionOf(pattern, meter);
  if (expression instanceof Fault) return expression;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  const steps = stepsToFind(expression.programSize());
  const matcher = expression.matcher(text);
  const found: string[] = [];
  let end = 0;
  while (found.length < most) {
    meter.work((text.length - end + 1) * steps);
    if (!matcher.find()) break;
    const [start, next] = [matcher.start(), matcher.end()];
    // An empty match right behind the one before isn't one of its own, as in Go.
    if (start < next || start !== end || found.length === 0) found.push(text.slice(start, next));
    end = next;
  }
  return new ValueList(found);
};

const pattern = { index: 1, check: patternFault };

/** Regular expressions in the syntax of RE2, matched in linear time. */
export const regularExpressionFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "matches",
    declared(["string.(string) -> bool"], matches, {
      cost: matching,
      literal: { ...pattern, runWith: matchesLiteral },
    }),
  ],
  [
    "find",
    declared(["string.(string) -> string"], find, {
      cost: matching,
      literal: pattern,
    }),
  ],
  [
    "findAll",
    declared(["string.(string) -> list<string>", "string.(string, int) -> list<string>"], findAll, {
      cost: matching,
      literal: pattern,
    }),
  ],
];
