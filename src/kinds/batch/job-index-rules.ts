import type { FieldReport } from "../../schema/faults.ts";

/** The members of a job's spec that these rules use. */
interface IndexedSpec {
  readonly parallelism?: number | undefined;
  readonly completions?: number | undefined;
  readonly completionMode?: string | undefined;
  readonly backoffLimitPerIndex?: number | undefined;
  readonly maxFailedIndexes?: number | undefined;
  readonly successPolicy?:
    | {
        readonly rules?:
          | readonly {
              readonly succeededIndexes?: string | undefined;
              readonly succeededCount?: number | undefined;
            }[]
          | null
          | undefined;
      }
    | undefined;
}

const maxFailedIndexes = 100_000;
/** Jobs with more completions have tighter limits. */
const manyCompletions = 100_000;
const maxParallelismForMany = 10_000;
const maxFailedIndexesForMany = 10_000;
const maxSuccessRules = 20;
/** Maximum length of a list of indexes, in characters. */
const maxIndexesLength = 64 * 1024;

/** Checks the fields about single indexes, which need the completion mode Indexed. */
export function checkIndexes(spec: IndexedSpec, report: FieldReport): void {
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    report.at("backoffLimitPerIndex").required("when maxFailedIndexes is specified");
  }
  if (spec.completionMode === "Indexed") {
    checkFailedIndexes(spec, report);
    if (spec.successPolicy !== undefined) checkSuccessPolicy(spec, report.at("successPolicy", "rules"));
    return;
  }
  for (const name of ["backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"] as const) {
    if (spec[name] !== undefined) report.at(name).invalid(spec[name], "requires indexed completion mode");
  }
}

function checkFailedIndexes(spec: IndexedSpec, report: FieldReport): void {
  const { completions, parallelism, backoffLimitPerIndex, maxFailedIndexes: max } = spec;
  const at = report.at("maxFailedIndexes");
  if (completions !== undefined && max !== undefined && max > completions) {
    at.invalid(max, "must be less than or equal to completions");
  }
  if (max !== undefined && max > maxFailedIndexes) {
    at.invalid(max, `must be less than or equal to ${maxFailedIndexes}`);
  }
  if (backoffLimitPerIndex === undefined || (completions ?? 0) <= manyCompletions) return;
  const condition = `when completions are above ${manyCompletions} and used with backoffLimitPerIndex`;
  if (max === undefined) at.required(condition);
  else if (max > maxFailedIndexesForMany) {
    at.invalid(max, `must be less than or equal to ${maxFailedIndexesForMany} ${condition}`);
  }
  if (parallelism !== undefined && parallelism > maxParallelismForMany) {
    report
      .at("parallelism")
      .invalid(parallelism, `must be less than or equal to ${maxParallelismForMany} ${condition}`);
  }
}

function checkSuccessPolicy({ successPolicy, completions = 0 }: IndexedSpec, report: FieldReport): void {
  const rules = successPolicy?.rules ?? [];
  if (rules.length === 0) report.required("at least one rule must be specified");
  if (rules.length > maxSuccessRules) report.tooMany(rules.length, maxSuccessRules);
  for (const [index, { succeededIndexes, succeededCount }] of rules.entries()) {
    if (report.full) return;
    const at = report.at(index);
    if (succeededIndexes === undefined && succeededCount === undefined) {
      at.required("at least one of succeededCount and succeededIndexes must be specified");
    }
    const total =
      succeededIndexes === undefined
        ? undefined
        : countIndexes(succeededIndexes, completions, at.at("succeededIndexes"));
    if (succeededCount === undefined) continue;
    const count = at.at("succeededCount");
    if (succeededCount < 0) count.invalid(succeededCount, "must be greater than or equal to 0");
    if (succeededCount > completions) {
      count.invalid(
        succeededCount,
        `must be less than or equal to ${completions}, the number of completions`,
      );
    }
    if (total !== undefined && succeededCount > total) {
      count.invalid(succeededCount, `must be less than or equal to ${total}, the number of succeededIndexes`);
    }
  }
}

/** Checks the lists of indexes in a written status, as far as they change. */
export function checkStatusIndexes(
  spec: Omit<IndexedSpec, "successPolicy">,
  status: { readonly completedIndexes?: string | undefined; readonly failedIndexes?: string | undefined },
  report: FieldReport,
  changed: { readonly completed: boolean; readonly failed: boolean },
): void {
  const { completions, completionMode, backoffLimitPerIndex } = spec;
  const { completedIndexes = "", failedIndexes } = status;
  if (changed.completed) {
    const at = report.at("completedIndexes");
    if (completions !== undefined) countIndexes(completedIndexes, completions, at, "completedIndexes");
    if (completedIndexes !== "" && completionMode !== "Indexed")
      at.invalid(completedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode");
  }
  if (failedIndexes === undefined || !changed.failed) return;
  const at = report.at("failedIndexes");
  if (backoffLimitPerIndex === undefined)
    at.invalid(failedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
  else if (completions !== undefined) countIndexes(failedIndexes, completions, at, "failedIndexes");
}

/** Returns the number of indexes in a list such as `1,3-5`, in ascending order and below the completions. */
function countIndexes(
  text: string,
  completions: number,
  report: FieldReport,
  name = "succeededIndexes",
): number {
  if (text.length > maxIndexesLength) report.tooLong(maxIndexesLength, "characters");
  if (text === "") return 0;
  let total = 0;
  let last = -1;
  for (const interval of text.slice(0, maxIndexesLength).split(",")) {
    const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(interval);
    const first = Number(match?.[1] ?? -1);
    const end = Number(match?.[2] ?? first);
    if (match === null || first > end || (match[2] !== undefined && first === end)) {
      report.invalid(text, `error parsing ${name}: invalid interval ${JSON.stringify(interval)}`);
      return 0;
    }
    if (end >= completions) {
      report.invalid(text, `error parsing ${name}: too large index ${JSON.stringify(interval)}`);
      return 0;
    }
    if (first <= last) {
      report.invalid(text, `error parsing ${name}: non-increasing order at ${first}`);
      return 0;
    }
    total += end - first + 1;
    last = end;
  }
  return total;
}
