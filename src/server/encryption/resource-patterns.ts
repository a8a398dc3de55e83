import type { FieldReport } from "../../schema/faults.ts";

/** Resources of a configuration: `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*` for all. */
export interface ResourcePattern {
  readonly group: string;
  readonly resource: string;
}

/** Whether a pattern has the resource type of a group; the core group is empty. */
export function matchesResource(pattern: ResourcePattern, group: string, resource: string): boolean {
  return (
    (pattern.group === "*" || pattern.group === group) &&
    (pattern.resource === "*" || pattern.resource === resource)
  );
}

/**
 * Parses the resources of an entry and reports the faults.
 *
 * @param eventsGroup the group of events whose objects are stored in the core group.
 */
export function checkResources(
  texts: readonly string[],
  eventsGroup: string,
  report: FieldReport,
): ResourcePattern[] {
  if (texts.length === 0) report.required("at least one resource is required");
  const patterns = texts.map((text) => parsePattern(text));
  for (const [index, text] of texts.entries()) {
    const pattern = patterns[index]!;
    const fault =
      pattern.group === eventsGroup
        ? "its objects are stored in the core group: use events"
        : patternFault(text, pattern);
    if (fault !== undefined) report.at(index).invalid(text, fault);
  }
  if (new Set(texts).size < texts.length) {
    report.invalid(texts, "the same resource cannot be specified multiple times");
  }
  if (overlaps(patterns)) {
    report.invalid(texts, "resources such as secrets and *. overlap: name them in separate entries");
  }
  return patterns;
}

/**
 * Reports resources whose rule never applies, because a wildcard of an earlier entry has them too.
 *
 * @param entries the resources of each entry, in order.
 */
export function checkHidden(entries: readonly (readonly string[])[], report: FieldReport): void {
  const wildcards: { readonly text: string; readonly pattern: ResourcePattern }[] = [];
  for (const [at, texts] of entries.entries()) {
    const patterns = texts.map((text) => ({ text, pattern: parsePattern(text) }));
    for (const [index, { text, pattern }] of patterns.entries()) {
      const hiding = wildcards.find((one) => matchesResource(one.pattern, pattern.group, pattern.resource));
      if (hiding === undefined) continue;
      const fault = `is hidden by the earlier entry with ${hiding.text}: put it before that entry`;
      report.at(at, "resources", index).invalid(text, fault);
    }
    wildcards.push(...patterns.filter(({ pattern }) => pattern.resource === "*"));
  }
}

function parsePattern(text: string): ResourcePattern {
  const dot = text.indexOf(".");
  return dot === -1
    ? { resource: text, group: "" }
    : { resource: text.slice(0, dot), group: text.slice(dot + 1) };
}

function patternFault(text: string, { group, resource }: ResourcePattern): string | undefined {
  if (text === "") return "a resource must not be empty";
  if (/[A-Z]/.test(text)) return "resource name should not contain capital letters";
  if (text === "*") return "use *. for all resources of the core group, or *.* for all resources";
  if (group === "*" && resource !== "*") return "the same resource of several groups is not supported";
  if (group === "extensions") return "the group extensions has no stored objects";
  return undefined;
}

/** Whether a pattern with a wildcard has another pattern of the same list. */
function overlaps(patterns: readonly ResourcePattern[]): boolean {
  const distinct = [...new Map(patterns.map((one) => [`${one.resource}.${one.group}`, one])).values()];
  return distinct.some(
    (one) =>
      one.resource === "*" &&
      distinct.some((other) => other !== one && matchesResource(one, other.group, other.resource)),
  );
}
