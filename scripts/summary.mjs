// Prints a summary of the last test run: results, processor time by folder, and the slowest files. Fails if a test was skipped, because CI
// has all programs that tests need, and if a file takes long without a reason below.
import { readFileSync } from "node:fs";
import path from "node:path";

/** Processor time of one test file, in seconds, without the processes that it starts. */
const maxFileSeconds = 15;

/** Files that may take longer, and why. */
const slowFiles = {
  "test/lives/later-release.test.ts": "compares every recorded answer of a later release",
  "test/lives/members.test.ts": "compares every recorded answer about members of kinds",
  "test/lives/lives.test.ts": "compares every recorded answer about lives of objects",
};

const report = JSON.parse(readFileSync("node_modules/.plinth-tests.json", "utf8"));
const tests = report.testResults.flatMap((file) =>
  file.assertionResults.map((one) => ({ file: file.name, ...one })),
);
const count = (...states) => tests.filter((one) => states.includes(one.status)).length;
const skipped = tests.filter((one) => !["passed", "failed"].includes(one.status));
for (const one of skipped) console.log(`skipped: ${one.fullName}`);

const times = readFileSync("node_modules/.plinth-times.jsonl", "utf8").trim().split("\n").map(JSON.parse);
const byFolder = new Map();
for (const { file, ms } of times) {
  const folder = file.split("/")[1];
  byFolder.set(folder, (byFolder.get(folder) ?? 0) + ms);
}
const seconds = (ms) => (ms / 1000).toFixed(1);
const folders = [...byFolder].toSorted(([, a], [, b]) => b - a);
const total = folders.reduce((sum, [, ms]) => sum + ms, 0);
console.log(`processor seconds of the test processes: ${seconds(total)}; by folder:`);
console.log(folders.map(([folder, ms]) => `  ${folder} ${seconds(ms)}`).join("\n"));
const slowest = times.toSorted((a, b) => b.ms - a.ms);
console.log("the ten slowest files:");
for (const { file, ms } of slowest.slice(0, 10)) console.log(`  ${file} ${seconds(ms)}`);
const tooSlow = slowest.filter(
  ({ file, ms }) => ms > maxFileSeconds * 1000 && slowFiles[path.posix.normalize(file)] === undefined,
);
for (const { file, ms } of tooSlow)
  console.log(`${file} took ${seconds(ms)} s, of ${maxFileSeconds}; see slowFiles in scripts/summary.mjs`);

console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
if (skipped.length > 0 || count("passed") === 0 || tooSlow.length > 0) process.exit(1);
