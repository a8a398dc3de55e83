import type { FieldReport } from "../../schema/faults.ts";

/** Operations and resources of a rule. */
export interface RuleFacts {
  readonly operations?: readonly string[] | undefined;
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
}

const operationNames = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/** Requires operations, groups, versions and resources; a wildcard must be the only item. */
export function checkRule(rule: RuleFacts, report: FieldReport): void {
  const { operations = [], apiVersions = [] } = rule;
  checkWildcard(operations, "operations", report.at("operations"));
  for (const [index, operation] of operations.entries()) {
    if (report.full) return;
    if (!operationNames.includes(operation)) {
      report.at("operations", index).notSupported(operation, operationNames);
    }
  }
  checkWildcard(rule.apiGroups ?? [], "API groups", report.at("apiGroups"));
  checkWildcard(apiVersions, "API versions", report.at("apiVersions"));
  for (const [index, version] of apiVersions.entries()) {
    if (report.full) return;
    if (version === "") report.at("apiVersions", index).required();
  }
  checkResources(rule.resources ?? [], report.at("resources"));
}

function checkWildcard(items: readonly string[], what: string, report: FieldReport): void {
  if (items.length === 0) report.required();
  if (items.length > 1 && items.includes("*")) {
    report.invalid(items, `if '*' is present, must not specify other ${what}`);
  }
}

/** Rejects resources that are already matched by a wildcard of the list. */
function checkResources(resources: readonly string[], report: FieldReport): void {
  if (resources.length === 0) return report.required();
  const withAllBelow = new Set<string>();
  const ofAllResources = new Set<string>();
  for (const [index, name] of resources.entries()) {
    if (report.full) return;
    if (name === "") {
      report.at(index).required();
      continue;
    }
    const slash = name.indexOf("/");
    if (slash < 0) continue;
    const resource = name.slice(0, slash);
    const below = name.slice(slash + 1);
    if (withAllBelow.has(resource)) {
      report.at(index).invalid(name, `if '${resource}/*' is present, must not specify ${name}`);
    }
    if (ofAllResources.has(below)) {
      report.at(index).invalid(name, `if '*/${below}' is present, must not specify ${name}`);
    }
    if (below === "*") withAllBelow.add(resource);
    if (resource === "*") ofAllResources.add(below);
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    report.invalid(resources, "if '*/*' is present, must not specify other resources");
  }
  const named = (name: string) => name !== "" && name !== "*" && !name.includes("/");
  if (resources.includes("*") && resources.some(named)) {
    report.invalid(resources, "if '*' is present, must not specify other resources without subresources");
  }
}
