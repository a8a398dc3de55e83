import { kindsOfRelease } from "../../src/kinds/kinds-of-release.ts";
import { StoredForms } from "../../src/resources/releases/stored-forms.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { checkSync } from "recheck";
import { expect, test } from "vitest";
import { sources } from "./source-files.ts";
import { visitFile } from "./syntax-tree.ts";

/** An expression, and the file in which it stands. */
interface Expression {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

function expressionsIn(file: string): { literals: Expression[]; constructed: number } {
  const literals: Expression[] = [];
  let constructed = 0;
  visitFile(file, ({ type, regex, callee }) => {
    if (type === "Literal" && regex !== undefined)
      literals.push({ file, source: regex.pattern, flags: regex.flags });
    else if (callee?.name === "RegExp") constructed++;
  });
  return { literals, constructed };
}

/** What a checker of backtracking says of an expression; empty when it takes linear time on every text. */
function faultOf({ source, flags }: Expression): string {
  const found = checkSync(source, flags, { timeout: 150_000, randomSeed: 1 });
  if (found.status === "safe") return "";
  // Expressions with a look-ahead are tried out by the checker against the clock, which a busy machine holds up.
  if (found.status === "vulnerable" && found.checker === "fuzz") {
    const { pumps, suffix } = found.attack;
    const text = (turns: number) =>
      pumps.map(({ prefix, pump }) => prefix + pump.repeat(turns)).join("") + suffix;
    if (!growsFaster(new RegExp(source, flags), text)) return "";
  }
  return `/${source}/${flags}: ${found.status === "vulnerable" ? found.complexity.summary : found.error.kind}`;
}

/** Whether matching takes more than in proportion to the length of the text, in processor time. */
function growsFaster(expression: RegExp, text: (turns: number) => string): boolean {
  for (let turns = 500; turns <= 200_000; turns *= 4) {
    const [short, long] = [costOf(expression, text(turns)), costOf(expression, text(4 * turns))];
    if (long > 100_000) return long > 7 * short;
  }
  return false;
}

/** The least microseconds of processor time, of three runs. */
function costOf(expression: RegExp, text: string): number {
  const runs = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    expression.lastIndex = 0;
    expression.test(text);
    return process.cpuUsage(before).user;
  });
  return Math.min(...runs);
}

test("the checker's finding is confirmed by processor time", () => {
  const growing = (turns: number) => `${"a".repeat(turns)}!`;
  expect(growsFaster(/^a*a*$/, growing)).toBe(true);
  expect(growsFaster(/^a*$/, growing)).toBe(false);
});

const found = sources.map((file) => ({ file, ...expressionsIn(file) }));

test("the checker tells expressions that take quadratic time", () => {
  expect(faultOf({ file: "", source: String.raw`^(.+)\['(.*)'\]$`, flags: "s" })).toMatch(
    /2nd degree polynomial/,
  );
});

test("every regular expression takes linear time on every text", { timeout: 300_000 }, () => {
  const expressions = found.flatMap(({ literals }) => literals);
  expect(expressions.length).toBeGreaterThan(100);
  expect(expressions.map((one) => [one.file, faultOf(one)]).filter(([, fault]) => fault !== "")).toEqual([]);
});

/** Files that build expressions of constants, by what loads them. */
const builders: Record<string, () => Promise<unknown>> = {
  "src/base/names.ts": () => import("../../src/base/names.ts"),
  "src/controllers/garbage-collection/ownership.ts": () =>
    import("../../src/controllers/garbage-collection/ownership.ts"),
  "src/kinds/core/pod/image-name.ts": () => import("../../src/kinds/core/pod/image-name.ts"),
  "src/resources/releases/stored-forms.ts": () =>
    StoredForms.create("1.30", { oldest: "1.26", newest: "1.37" }, kubernetes, kindsOfRelease),
};

test(
  "expressions are built in these files only, of constants, and take linear time too",
  { timeout: 300_000 },
  async () => {
    const building = found.filter(({ constructed }) => constructed > 0).map(({ file }) => file);
    expect(building).toEqual(Object.keys(builders));
    const built: Expression[] = [];
    const original = globalThis.RegExp;
    globalThis.RegExp = new Proxy(original, {
      construct(target, [source, flags]: [string, string | undefined]) {
        built.push({ file: "", source, flags: flags ?? "" });
        return new target(source, flags);
      },
    });
    try {
      for (const load of Object.values(builders)) await load();
    } finally {
      globalThis.RegExp = original;
    }
    expect(built.length).toBeGreaterThanOrEqual(9);
    expect(built.map(faultOf).filter((fault) => fault !== "")).toEqual([]);
  },
);
