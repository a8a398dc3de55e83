import { releases as allReleases, type Release } from "../../base/releases.ts";
import type { ValidatedObject, ValidationProblem, ValidationReport } from "./problem.ts";
import { validateEntries, type ValidationSources } from "./validate.ts";
import type { ValidatorOptions } from "./validator.ts";

/**
 * Returns what an upgrade changes for objects: versions that are removed or deprecated, fields that are unknown or dropped, rules that reject
 * what the first release accepts, new warnings, and defaults that differ. Each problem names the first release that has it.
 *
 * @param releases at least two, in order; the first one is that before the upgrade.
 */
export async function checkUpgrade(
  options: Omit<ValidatorOptions, "references" | "comparesReleases">,
  sources: ValidationSources,
): Promise<ValidationReport> {
  const report = await validateEntries({ ...options, references: "ignore", comparesReleases: true }, sources);
  const [from, ...later] = options.releases;
  const objects = report.objects.map((object): ValidatedObject => {
    const problems = object.problems.flatMap((problem) => upgradeProblem(problem, from!));
    const errors = problems.filter(({ severity }) => severity === "error");
    const acceptedBy = later.filter((release) => !errors.some((one) => one.releases.includes(release)));
    return { ...object, problems, acceptedBy, accepted: acceptedBy.length === later.length };
  });
  return { accepted: objects.every(({ accepted }) => accepted), releases: later, objects };
}

/** Returns a problem that the release before the upgrade doesn't have; a text that is no manifest is a problem too. */
function upgradeProblem(problem: ValidationProblem, from: Release): ValidationProblem[] {
  const { rule, releases, message } = problem;
  if (rule === "syntax") return [problem];
  if (rule === "duplicate" || releases.includes(from)) return [];
  return [{ ...problem, message: `from ${releases[0]} on: ${message}` }];
}

/** The releases of an upgrade, both included; empty if the second one isn't later. */
export function releasesBetween(from: Release, to: Release): readonly Release[] {
  return allReleases.slice(allReleases.indexOf(from), allReleases.indexOf(to) + 1);
}
