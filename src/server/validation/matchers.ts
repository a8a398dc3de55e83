import type { ValidationReport } from "./problem.ts";
import { validate, type ValidateOptions, type ValidationInput } from "./validate.ts";

/** What a matcher tells its runner. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The functions of {@link manifestMatchers}. */
export type MatcherFunctions = {
  /** Passes if an API server accepts the objects; see {@link validate}. */
  readonly toBeAccepted: (received: ValidationInput, options?: ValidateOptions) => Promise<MatcherResult>;
};

/**
 * Matchers for `expect.extend` of Vitest and Jest.
 *
 * @example
 * expect.extend(manifestMatchers);
 * await expect(manifest).toBeAccepted({ release: "1.33" });
 */
export const manifestMatchers: MatcherFunctions = {
  async toBeAccepted(received, options = {}) {
    const report = await validate(received, options);
    return { pass: report.accepted, message: () => messageOf(report) };
  },
};

/** The matchers as methods of `expect()`, to add to the types of a runner. */
export interface AcceptanceMatchers<Result = Promise<void>> {
  toBeAccepted(options?: ValidateOptions): Result;
}

function messageOf({ accepted, releases, objects }: ValidationReport): string {
  if (accepted) return `the manifests are accepted by ${releases.join(", ")}, and should not be`;
  const lines = objects.flatMap(({ kind, name, problems }) =>
    problems
      .filter(({ severity }) => severity === "error")
      .map(({ field, message, releases: where }) => {
        const place = [kind, name, field].filter((one) => one !== "").join(" ");
        return `  ${place}: ${message} (${where.join(", ")})`;
      }),
  );
  return `the manifests are rejected:\n${lines.join("\n")}`;
}
