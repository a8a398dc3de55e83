import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { qualifiedName } from "../checks/names.ts";

interface ExitCodes {
  readonly containerName?: string | null | undefined;
  readonly operator: string;
  readonly values?: readonly number[] | null | undefined;
}

interface Rule {
  readonly action: string;
  readonly onExitCodes?: ExitCodes | null | undefined;
  readonly onPodConditions?: readonly { readonly type: string; readonly status: string }[] | null | undefined;
}

/** The members of a pod failure policy that the rules use. */
export interface FailurePolicy {
  readonly rules?: readonly Rule[] | null | undefined;
}

const maxRules = 20;
const maxPatterns = 20;
const maxExitCodes = 255;
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

/** Properties of the job that the rules use. */
interface JobFacts {
  /** Names of the template's containers. */
  readonly containers: ReadonlySet<string>;
  /** Whether single indexes can fail. */
  readonly failsIndexes: boolean;
}

/** Checks a pod failure policy. */
export function checkFailurePolicy(
  policy: FailurePolicy,
  job: JobFacts,
  report: FieldReport,
  { enabled }: KindContext,
): void {
  const actions = enabled("JobBackoffLimitPerIndex")
    ? ["Count", "FailIndex", "FailJob", "Ignore"]
    : ["Count", "FailJob", "Ignore"];
  const rules = policy.rules ?? [];
  if (rules.length > maxRules) report.at("rules").tooMany(rules.length, maxRules);
  for (const [index, rule] of rules.entries()) {
    if (report.full) return;
    checkAction(rule.action, actions, job, report.at("rules", index, "action"));
    checkRule(rule, job.containers, report.at("rules", index));
  }
}

function checkAction(
  action: string,
  actions: readonly string[],
  { failsIndexes }: JobFacts,
  report: FieldReport,
): void {
  requiredWord(action, actions, report);
  if (action === "FailIndex" && actions.includes(action) && !failsIndexes) {
    report.invalid(action, "requires the backoffLimitPerIndex to be set");
  }
}

function checkRule(rule: Rule, containers: ReadonlySet<string>, report: FieldReport): void {
  const codes = rule.onExitCodes ?? undefined;
  const patterns = rule.onPodConditions ?? [];
  if (codes !== undefined && patterns.length > 0) {
    report.invalid(rule, "giving both onExitCodes and onPodConditions is not supported");
  }
  if (codes === undefined && patterns.length === 0) {
    report.invalid(rule, "one of onExitCodes and onPodConditions must be given");
  }
  if (codes !== undefined) checkExitCodes(codes, containers, report.at("onExitCodes"));
  if (patterns.length > maxPatterns) report.at("onPodConditions").tooMany(patterns.length, maxPatterns);
  for (const [index, { type, status }] of patterns.entries()) {
    if (report.full) return;
    qualifiedName(type, report.at("onPodConditions", index, "type"));
    requiredWord(status, statuses, report.at("onPodConditions", index, "status"));
  }
}

function checkExitCodes(codes: ExitCodes, containers: ReadonlySet<string>, report: FieldReport): void {
  requiredWord(codes.operator, operators, report.at("operator"));
  const name = codes.containerName ?? undefined;
  if (name !== undefined && !containers.has(name)) {
    report.at("containerName").invalid(name, "must be the name of one of the template's containers");
  }
  const values = codes.values ?? [];
  const list = report.at("values");
  if (values.length === 0) list.invalid(values, "at least one value is required");
  else if (values.length > maxExitCodes) list.tooMany(values.length, maxExitCodes);
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (report.full) return;
    if (codes.operator === "In" && value === 0) {
      list.at(index).invalid(value, "must not be 0 for the operator In");
    }
    if (seen.has(value)) list.at(index).duplicate(value);
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value)) {
    list.invalid(values, "must be in ascending order");
  }
}

function requiredWord(word: string, allowed: readonly string[], report: FieldReport): void {
  if (word === "") report.required(`valid values: ${allowed.map((one) => JSON.stringify(one)).join(", ")}`);
  else if (!allowed.includes(word)) report.notSupported(word, allowed);
}
