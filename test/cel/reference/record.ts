/**
 * Records the verdicts of the reference for all cases. The test compares the server with them.
 *
 *     cd test/cel/reference/recorder && go mod tidy && go build -o /tmp/recorder . && cd -
 *     npx tsx test/cel/reference/record.ts /tmp/recorder
 *
 * The program uses the packages of kube-apiserver 1.26.15 that default, prune and validate definitions and objects.
 */
import { spawnSync } from "node:child_process";
import { referenceCases } from "./cases/index.ts";
import { writeVerdicts } from "./verdict-file.ts";
import type { Verdict } from "./verdict.ts";

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("the argument is the path of the recorder");
const { stdout, status, stderr } = spawnSync(program, {
  input: JSON.stringify(referenceCases),
  maxBuffer: 1 << 28,
  encoding: "utf8",
});
if (status !== 0) throw new Error(stderr);
const verdicts = JSON.parse(stdout) as Readonly<Record<string, Verdict>>;
writeVerdicts(new Map(referenceCases.map(({ name }) => [name, verdicts[name]!])));
console.log(`${referenceCases.length} cases`);
