import type { FieldReport } from "../../schema/faults.ts";
import type { RuleFacts } from "./rule-checks.ts";

interface Constraints {
  readonly resourceRules?: readonly RuleFacts[] | undefined;
}

const operations = ["*", "CONNECT", "CREATE", "UPDATE"];

/** Requires operations whose objects can be changed: all but DELETE. */
export function checkMutatedOperations(constraints: Constraints | undefined, report: FieldReport): void {
  for (const rule of constraints?.resourceRules ?? []) {
    for (const operation of rule.operations ?? []) {
      if (report.full) return;
      if (!operations.includes(operation)) {
        report.at("resourceRules", "operations").notSupported(operation, operations);
      }
    }
  }
}

/** Requires match constraints with resource rules, and mutations. */
export function checkMutatingPolicy(
  spec: {
    readonly matchConstraints?: Constraints | undefined;
    readonly mutations?: readonly unknown[] | undefined;
  },
  report: FieldReport,
): void {
  const { matchConstraints, mutations = [] } = spec;
  if (matchConstraints === undefined) report.at("matchConstraints").required();
  else if ((matchConstraints.resourceRules ?? []).length === 0) {
    report.at("matchConstraints", "resourceRules").required();
  }
  checkMutatedOperations(matchConstraints, report.at("matchConstraints"));
  if (mutations.length === 0) report.at("mutations").required("mutations must contain at least one item");
}

const members = { ApplyConfiguration: "applyConfiguration", JSONPatch: "jsonPatch" } as const;

/** Requires the member that the patch type names, and no other. */
export function checkMutation(
  mutation: {
    readonly patchType: string;
    readonly applyConfiguration?: object | undefined;
    readonly jsonPatch?: object | undefined;
  },
  report: FieldReport,
): void {
  const { patchType } = mutation;
  if (!Object.hasOwn(members, patchType)) return;
  for (const [type, member] of Object.entries(members)) {
    const isPresent = mutation[member] !== undefined;
    if (type === patchType && !isPresent) {
      report.at(member).required(`must be specified when patchType is ${patchType}`);
    } else if (type !== patchType && isPresent) {
      report.at(member).invalid(`{${member}}`, `must not be specified when patchType is ${patchType}`);
    }
  }
}
