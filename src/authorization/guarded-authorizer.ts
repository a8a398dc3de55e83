import { ExtensionError, inTime, isPromise, isRecord, type ExtensionGuard } from "../base/extension.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { Authorizer, Decision, RuleList, RuleResolver } from "./authorizer.ts";

/** An authorizer of the embedding program, with its name in messages. */
export interface NamedAuthorizer extends Authorizer, Partial<RuleResolver> {
  readonly name: string;
}

/**
 * Wraps an authorizer. Its exceptions, timeouts and malformed results are logged with its name, and become the verdict
 * `noOpinion` with an `evaluationError`.
 */
export function guardedAuthorizer(
  authorizer: NamedAuthorizer,
  guard: ExtensionGuard,
): Authorizer & Partial<RuleResolver> {
  const { name } = authorizer;
  const extension = `authorizer ${JSON.stringify(name)}`;
  const evaluationError = `${extension} failed; see the log`;
  const noOpinion: Decision = { verdict: "noOpinion", reason: "", evaluationError };
  const noRules: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError };
  const callGuarded = <T>(
    call: () => unknown,
    method: string,
    parse: (result: unknown) => T,
    fallback: T,
  ): MaybePromise<T> => {
    const fail = (error: unknown): T => {
      guard.failed(extension, error);
      return fallback;
    };
    try {
      const result = call();
      if (!isPromise(result)) return parse(result);
      return inTime(guard.clock, result, method).then(parse).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
  return {
    authorize: (attributes) =>
      callGuarded(() => authorizer.authorize(attributes), "authorize", parseDecision, noOpinion),
    ...(authorizer.rulesFor && {
      rulesFor: (user, namespace) =>
        callGuarded(() => authorizer.rulesFor?.(user, namespace), "rulesFor", parseRuleList, noRules),
    }),
  };
}

const verdicts: ReadonlySet<unknown> = new Set(["allow", "deny", "noOpinion"]);

function parseDecision(result: unknown): Decision {
  if (!isRecord(result) || !verdicts.has(result["verdict"])) {
    throw new ExtensionError("authorize must return an object with a verdict of allow, deny or noOpinion");
  }
  const { verdict, reason = "", evaluationError = "" } = result;
  if (typeof reason !== "string" || typeof evaluationError !== "string") {
    throw new ExtensionError("reason and evaluationError of a decision must be strings");
  }
  return { verdict: verdict as Decision["verdict"], reason, evaluationError };
}

function parseRuleList(result: unknown): RuleList {
  if (!isRecord(result)) throw new ExtensionError("rulesFor must return an object with lists of rules");
  const { resourceRules, nonResourceRules, incomplete = false, evaluationError = "" } = result;
  if (
    !isRuleArray(resourceRules, ["verbs", "apiGroups", "resources", "resourceNames"]) ||
    !isRuleArray(nonResourceRules, ["verbs", "nonResourceURLs"]) ||
    typeof incomplete !== "boolean" ||
    typeof evaluationError !== "string"
  ) {
    throw new ExtensionError("rulesFor must return lists of rules with arrays of strings");
  }
  return { resourceRules, nonResourceRules, incomplete, evaluationError } as RuleList;
}

function isRuleArray(rules: unknown, fields: readonly string[]): boolean {
  return (
    Array.isArray(rules) &&
    rules.every((rule) => isRecord(rule) && fields.every((field) => isStringArray(rule[field])))
  );
}

function isStringArray(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
