// Prints a summary of the last test run, and fails if a test was skipped: CI has all programs that tests need.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync("node_modules/.plinth-tests.json", "utf8"));
const tests = report.testResults.flatMap((file) =>
  file.assertionResults.map((one) => ({ file: file.name, ...one })),
);
const count = (...states) => tests.filter((one) => states.includes(one.status)).length;
const skipped = tests.filter((one) => !["passed", "failed"].includes(one.status));
for (const one of skipped) console.log(`skipped: ${one.fullName}`);
console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
if (skipped.length > 0 || count("passed") === 0) process.exit(1);
