import type {
  ValidatedObject,
  ValidationProblem,
  ValidationReport,
} from "../../../server/validation/problem.ts";
import { paint } from "../../terminal/terminal.ts";
import {
  messageOf,
  positionText,
  problemsOf,
  releaseNote,
  summaryOf,
  titleOf,
  type ReportContext,
  type Reporter,
} from "./reporter.ts";

/** Longest part of a source line that is shown, in characters. */
const maxLine = 120;

/** Text for people: each problem with its source line, a table of the releases if there are several, and a summary. */
export const textReporter: Reporter = (report, context) => {
  const problems = problemsOf(report).map(({ object, problem }) =>
    problemText(report, object, problem, context),
  );
  const table = report.releases.length > 1 ? releaseTable(report) : "";
  return `${problems.join("")}${table}${summaryLine(report, context)}\n`;
};

function problemText(
  report: ValidationReport,
  object: ValidatedObject,
  problem: ValidationProblem,
  context: ReportContext,
): string {
  const { severity, rule, location, source } = problem;
  const { color } = context;
  const where = location === undefined ? "" : `${paint(positionText(location), "bold", color)}: `;
  const label = paint(severity, severity === "error" ? "red" : "yellow", color);
  const note = paint(`(${rule})${releaseNote(problem, report)}`, "gray", color);
  const first = `${where}${label}: ${titleOf(object)}: ${messageOf(problem)} ${note}\n`;
  const maker =
    source === undefined
      ? ""
      : `    rule: ${source.text}${source.location === undefined ? "" : ` (${positionText(source.location)})`}\n`;
  return `${first}${excerpt(problem, context)}${maker}`;
}

/** Returns the source line with a mark below the column. */
function excerpt({ location }: ValidationProblem, { lineAt, color }: ReportContext): string {
  const line = location === undefined ? undefined : lineAt(location);
  if (location === undefined || line === undefined || line.trim() === "" || line.includes("\uFFFD"))
    return "";
  const number = String(location.line);
  const start = Math.max(0, location.column - maxLine);
  const shown = line.slice(start, start + maxLine).replaceAll("\t", " ");
  const margin = " ".repeat(number.length);
  const mark = `${" ".repeat(location.column - 1 - start)}^`;
  const gray = (text: string) => paint(text, "gray", color);
  return `  ${gray(`${number} |`)} ${shown}\n  ${gray(`${margin} |`)} ${paint(mark, "red", color)}\n`;
}

/** The verdicts of all releases on the objects that some release rejects. */
function releaseTable({ objects, releases }: ValidationReport): string {
  const rejected = objects.filter(({ accepted }) => !accepted);
  if (rejected.length === 0) return "";
  const rows = rejected.map((object) => ({
    title: `${object.location === undefined ? "" : `${object.location.file}:${object.location.line} `}${titleOf(object)}`,
    cells: releases.map((release) => (object.acceptedBy.includes(release) ? "accepted" : "rejected")),
  }));
  const width = Math.max(...rows.map(({ title }) => title.length));
  const line = (title: string, cells: readonly string[]) =>
    `${title.padEnd(width)}  ${cells.map((cell) => cell.padEnd("accepted".length)).join("  ")}`.trimEnd();
  return `\n${[line("", releases), ...rows.map(({ title, cells }) => line(title, cells))].join("\n")}\n\n`;
}

function summaryLine(report: ValidationReport, { color }: ReportContext): string {
  const { objects, accepted, rejected, warnings } = summaryOf(report);
  const parts = [
    `${objects} ${objects === 1 ? "object" : "objects"}`,
    `${accepted} accepted`,
    `${rejected} rejected`,
    `${warnings} ${warnings === 1 ? "warning" : "warnings"}`,
  ];
  const text = `${parts.join(", ")} (release ${report.releases.join(", ")})`;
  return paint(text, rejected === 0 ? "green" : "red", color);
}
