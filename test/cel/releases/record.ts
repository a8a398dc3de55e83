/**
 * Records results of the reference for all expressions. The test compares the evaluation with them.
 *
 *     cd test/cel/releases/recorder && go mod tidy && go build -o /tmp/recorder . && cd -
 *     npx tsx test/cel/releases/record.ts /tmp/recorder
 *
 * The program uses the packages of kube-apiserver 1.37.2 that compile and evaluate expressions.
 */
import { spawnSync } from "node:child_process";
import { expressions } from "./expressions/index.ts";
import { writeResults, type Result } from "./result-file.ts";

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("the argument is the path of the recorder");
const { stdout, status, stderr } = spawnSync(program, {
  input: JSON.stringify({
    expressions: expressions.map((expression) => ({ name: expression, expression, environment: "1.37" })),
    definitions: [],
  }),
  maxBuffer: 1 << 28,
  encoding: "utf8",
});
if (status !== 0) throw new Error(stderr);
const results = (JSON.parse(stdout) as { readonly expressions: Readonly<Record<string, Result>> })
  .expressions;
writeResults(new Map(expressions.map((expression) => [expression, results[expression]!])));
console.log(`${expressions.length} expressions`);
