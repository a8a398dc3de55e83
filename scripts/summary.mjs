// Prints a summary of the last test run: results, processor time by folder, and the slowest files. Fails if a test was skipped, because CI
// has all programs that tests need, and if a file takes long without a reason below.
import { readFileSync } from "node:fs";

/** Processor time that one test file may take with the processes that it starts: a share of the whole, because machines differ. */
const maxFileShare = 0.02;
/** Seconds that any file may take, also when only some files ran. */
const minAllowedSeconds = 15;

/** Files that may take longer, and why. */
const slowFiles = {
  "test/lives/other-releases.test.ts": "compares every recorded answer of a later release",
  "test/cli/workers.test.ts": "starts servers of several processes",
  "test/lives/lives.test.ts": "compares every recorded answer about lives of objects",
};

const report = JSON.parse(readFileSync("node_modules/.plinth-tests.json", "utf8"));
const tests = report.testResults.flatMap((file) =>
  file.assertionResults.map((one) => ({ file: file.name, ...one })),
);
const count = (...states) => tests.filter((one) => states.includes(one.status)).length;
const skipped = tests.filter((one) => !["passed", "failed"].includes(one.status));
for (const one of skipped) console.log(`skipped: ${one.fullName}`);

/** Milliseconds of processor time: of the tests themselves, and of the processes that they started and that ended. */
const times = readFileSync("node_modules/.plinth-times.jsonl", "utf8").trim().split("\n").map(JSON.parse);
const totalOf = ({ ms, childMs }) => ms + childMs;
const slowestFirst = (rows) => rows.toSorted((a, b) => totalOf(b) - totalOf(a));
const sumOf = (rows) => ({
  ms: rows.reduce((sum, { ms }) => sum + ms, 0),
  childMs: rows.reduce((sum, { childMs }) => sum + childMs, 0),
});
const seconds = (ms) => (ms / 1000).toFixed(1);
const shown = (row) => `${seconds(totalOf(row))} (${seconds(row.ms)} + ${seconds(row.childMs)})`;

const folderOf = ({ file }) => file.split("/")[1];
const byFolder = [...new Set(times.map(folderOf))].map((folder) => ({
  folder,
  ...sumOf(times.filter((row) => folderOf(row) === folder)),
}));
console.log(
  `processor seconds (of tests + of processes that they start): ${shown(sumOf(times))}; by folder:`,
);
for (const row of slowestFirst(byFolder)) console.log(`  ${row.folder} ${shown(row)}`);
const slowest = slowestFirst(times);
console.log("the ten slowest files:");
for (const row of slowest.slice(0, 10)) console.log(`  ${row.file} ${shown(row)}`);
const maxFileSeconds = Math.max(minAllowedSeconds, (maxFileShare * totalOf(sumOf(times))) / 1000);
const tooSlow = slowest.filter(
  (row) => totalOf(row) > maxFileSeconds * 1000 && slowFiles[row.file] === undefined,
);
for (const row of tooSlow)
  console.log(
    `${row.file} took ${shown(row)} s, of ${maxFileSeconds.toFixed(1)}; see slowFiles in scripts/summary.mjs`,
  );

console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
if (skipped.length > 0 || count("passed") === 0 || tooSlow.length > 0) process.exit(1);
