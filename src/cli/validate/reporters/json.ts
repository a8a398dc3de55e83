import { summaryOf, type Reporter } from "./reporter.ts";

/** The whole report, with its numbers. */
export const jsonReporter: Reporter = (report, { requests }) => {
  const { accepted, releases, objects } = report;
  const content = { accepted, releases, summary: summaryOf(report), objects, requests };
  return `${JSON.stringify(content, undefined, 2)}\n`;
};
