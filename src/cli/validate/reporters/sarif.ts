import type { ValidationLocation, ValidationRule } from "../../../server/validation/problem.ts";
import { messageOf, problemsOf, releaseNote, titleOf, type Reporter } from "./reporter.ts";

/** Descriptions of the rules, for the user interface of a code scanner. */
const descriptions: Readonly<Record<ValidationRule, string>> = {
  syntax: "The text is valid YAML or JSON, and a manifest.",
  kind: "The release serves the kind.",
  schema: "Fields exist, are unique and have the right type.",
  validation: "The object meets the rules of its kind.",
  cel: "The object meets the rules of its CustomResourceDefinition in CEL.",
  policy: "Admission policies allow the object.",
  "pod-security": "Pods meet the level of the Pod Security Standards.",
  quota: "The objects of a namespace fit into its quotas.",
  "limit-range": "Resources are within the limit ranges of the namespace.",
  admission: "Admission plugins allow the object.",
  authorization: "The user may apply the object.",
  reference: "The objects exist that the object names.",
  duplicate: "The object occurs once.",
  deprecation: "The object uses nothing deprecated.",
  warning: "The server has no warning for the object.",
  change: "A later release doesn't change what the object means.",
};

/** SARIF 2.1.0, for code scanning. */
export const sarifReporter: Reporter = (report, { version }) => {
  const problems = problemsOf(report);
  const used = [...new Set(problems.map(({ problem }) => problem.rule))].toSorted();
  const rules = used.map((id) => ({ id, shortDescription: { text: descriptions[id] } }));
  const results = problems.map(({ object, problem }) => ({
    ruleId: problem.rule,
    ruleIndex: used.indexOf(problem.rule),
    level: problem.severity,
    message: { text: `${titleOf(object)}: ${messageOf(problem)}${releaseNote(problem, report)}` },
    locations: problem.location === undefined ? [] : [locationOf(problem.location)],
    relatedLocations:
      problem.source?.location === undefined
        ? []
        : [{ ...locationOf(problem.source.location), message: { text: problem.source.text } }],
    properties: { releases: problem.releases, field: problem.field },
  }));
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "plinth validate", version, rules } }, results }],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
};

function locationOf({ file, line, column }: ValidationLocation) {
  const uri = file.split(/[/\\]/).map(encodeURIComponent).join("/");
  return {
    physicalLocation: {
      artifactLocation: { uri },
      region: { startLine: line, startColumn: column },
    },
  };
}
