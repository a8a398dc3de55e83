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
  const found = checkSync(source, flags, { timeout: 20_000, randomSeed: 1 });
  if (found.status === "safe") return "";
  return `/${source}/${flags}: ${found.status === "vulnerable" ? found.complexity.summary : found.error.kind}`;
}

const found = sources.map((file) => ({ file, ...expressionsIn(file) }));

test("the checker tells expressions that take quadratic time", () => {
  expect(faultOf({ file: "", source: String.raw`^(.+)\['(.*)'\]$`, flags: "s" })).toMatch(
    /2nd degree polynomial/,
  );
});

test("every regular expression takes linear time on every text", { timeout: 180_000 }, () => {
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
};

test("expressions are built in these files only, of constants, and take linear time too", async () => {
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
});
