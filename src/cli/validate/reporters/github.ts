import { messageOf, problemsOf, releaseNote, titleOf, type Reporter } from "./reporter.ts";

/** Commands of GitHub Actions that annotate the lines of files. */
export const githubReporter: Reporter = (report) =>
  problemsOf(report)
    .map(({ object, problem }) => {
      const { severity, location, rule } = problem;
      const title = `${titleOf(object)} (${rule})`;
      const properties = [
        ...(location === undefined
          ? []
          : [`file=${property(location.file)}`, `line=${location.line}`, `col=${location.column}`]),
        `title=${property(title)}`,
      ];
      const text = `${messageOf(problem)}${releaseNote(problem, report)}`;
      return `::${severity} ${properties.join(",")}::${data(text)}\n`;
    })
    .join("");

/** Escapes the message of a command. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** Escapes the value of a property. */
function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
