/**
 * Asks the reference about all cases and writes its verdicts, which the server's are compared with from then on:
 *
 *     cd test/cel/reference/recorder && go mod tidy && go build -o /tmp/recorder . && cd -
 *     npx tsx test/cel/reference/record.ts /tmp/recorder
 *
 * The program is made of the packages of kube-apiserver 1.26.15 that default, prune and validate definitions and objects.
 */
import { spawnSync } from "node:child_process";
import { referenceCases } from "./cases/index.ts";
import { writeVerdicts } from "./verdict-file.ts";
import type { Verdict } from "./verdict.ts";

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("give the path of the recorder");
const { stdout, status, stderr } = spawnSync(program, {
  input: JSON.stringify(referenceCases),
  maxBuffer: 1 << 28,
  encoding: "utf8",
});
if (status !== 0) throw new Error(stderr);
const verdicts = JSON.parse(stdout) as Readonly<Record<string, Verdict>>;
writeVerdicts(new Map(referenceCases.map(({ name }) => [name, verdicts[name]!])));
console.log(`${referenceCases.length} cases`);
