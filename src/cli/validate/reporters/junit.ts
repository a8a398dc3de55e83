import type { ValidatedObject, ValidationReport } from "../../../server/validation/problem.ts";
import { messageOf, positionText, summaryOf, titleOf, type Reporter } from "./reporter.ts";

/** JUnit XML: a suite for each file, a test case for each object and release. */
export const junitReporter: Reporter = (report, { durationMs }) => {
  const files = new Map<string, ValidatedObject[]>();
  for (const object of report.objects) {
    const file = object.location?.file ?? "-";
    files.set(file, [...(files.get(file) ?? []), object]);
  }
  const { releases } = report;
  const suites = [...files].map(([file, objects]) => suite(file, objects, report));
  const cases = report.objects.length * releases.length;
  const failures = report.objects.reduce((sum, one) => sum + releases.length - one.acceptedBy.length, 0);
  const totals = `tests="${cases}" failures="${failures}" time="${(durationMs / 1000).toFixed(3)}"`;
  const { objects } = summaryOf(report);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="plinth validate" ${totals}>\n${
    objects === 0 ? "" : suites.join("")
  }</testsuites>\n`;
};

function suite(file: string, objects: readonly ValidatedObject[], { releases }: ValidationReport): string {
  const failures = objects.reduce((sum, one) => sum + releases.length - one.acceptedBy.length, 0);
  const cases = objects.flatMap((object) => releases.map((release) => testCase(file, object, release)));
  return `  <testsuite name="${escaped(file)}" tests="${cases.length}" failures="${failures}">\n${cases.join("")}  </testsuite>\n`;
}

function testCase(
  file: string,
  object: ValidatedObject,
  release: ValidationReport["releases"][number],
): string {
  const problems = object.problems.filter((one) => one.releases.includes(release));
  const line = object.location === undefined ? "" : ` line="${object.location.line}"`;
  const open = `    <testcase name="${escaped(`${titleOf(object)} (${release})`)}" classname="${escaped(file)}" file="${escaped(file)}"${line}`;
  if (problems.length === 0) return `${open}/>\n`;
  const lines = problems.map((problem) => {
    const where = problem.location === undefined ? "" : `${positionText(problem.location)}: `;
    return {
      severity: problem.severity,
      rule: problem.rule,
      text: `${where}${messageOf(problem)} (${problem.rule})`,
    };
  });
  const errors = lines.filter(({ severity }) => severity === "error");
  const warnings = lines.filter(({ severity }) => severity === "warning");
  const failure =
    errors.length === 0
      ? ""
      : `      <failure message="${escaped(errors[0]!.text)}" type="${errors[0]!.rule}">${escaped(errors.map(({ text }) => text).join("\n"))}</failure>\n`;
  const output =
    warnings.length === 0
      ? ""
      : `      <system-out>${escaped(warnings.map(({ text }) => `warning: ${text}`).join("\n"))}</system-out>\n`;
  return `${open}>\n${failure}${output}    </testcase>\n`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Escapes a text for XML, and replaces control characters that XML can't have. */
function escaped(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, (one) => ("\t\n\r".includes(one) ? one : "?"))
    .replaceAll(/[&<>"]/g, (one) => entities[one]!);
}
