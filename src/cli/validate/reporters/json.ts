import { summaryOf, type Reporter } from "./reporter.ts";

/** The whole report, with its numbers. */
export const jsonReporter: Reporter = (report) => {
  const { accepted, releases, objects } = report;
  return `${JSON.stringify({ accepted, releases, summary: summaryOf(report), objects }, undefined, 2)}\n`;
};
