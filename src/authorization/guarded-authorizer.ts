import { ExtensionError, inTime, isPromise, isRecord, type ExtensionGuard } from "../base/extension.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Authorizer, Decision, RuleList, RuleResolver } from "./authorizer.ts";

/** An authorizer of the program that embeds the server, with the name by which messages call it. */
export interface NamedAuthorizer extends Authorizer, Partial<RuleResolver> {
  readonly name: string;
}

/**
 * The authorizer such that its failures are no opinion with an `evaluationError`, as those of the built-in ones, and are
 * logged with its name.
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
  const ask = <T>(
    call: () => unknown,
    awaited: string,
    read: (answer: unknown) => T,
    instead: T,
  ): MaybePromise<T> => {
    const fail = (error: unknown): T => {
      guard.failed(extension, error);
      return instead;
    };
    try {
      const answer = call();
      if (!isPromise(answer)) return read(answer);
      return inTime(guard.clock, answer, awaited).then(read).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
  return {
    authorize: (attributes) =>
      ask(() => authorizer.authorize(attributes), "authorize", decisionOf, noOpinion),
    ...(authorizer.rulesFor && {
      rulesFor: (user, namespace) =>
        ask(() => authorizer.rulesFor?.(user, namespace), "rulesFor", rulesOf, noRules),
    }),
  };
}

const verdicts: ReadonlySet<unknown> = new Set(["allow", "deny", "noOpinion"]);

function decisionOf(answer: unknown): Decision {
  if (!isRecord(answer) || !verdicts.has(answer["verdict"])) {
    throw new ExtensionError("authorize answered without a verdict of allow, deny or noOpinion");
  }
  const { verdict, reason = "", evaluationError = "" } = answer;
  if (typeof reason !== "string" || typeof evaluationError !== "string") {
    throw new ExtensionError("reason and evaluationError of a decision must be texts");
  }
  return { verdict: verdict as Decision["verdict"], reason, evaluationError };
}

function rulesOf(answer: unknown): RuleList {
  if (!isRecord(answer)) throw new ExtensionError("rulesFor answered without a list of rules");
  const { resourceRules, nonResourceRules, incomplete = false, evaluationError = "" } = answer;
  if (
    !areRules(resourceRules, ["verbs", "apiGroups", "resources", "resourceNames"]) ||
    !areRules(nonResourceRules, ["verbs", "nonResourceURLs"]) ||
    typeof incomplete !== "boolean" ||
    typeof evaluationError !== "string"
  ) {
    throw new ExtensionError("rulesFor answered with rules that are not of the contract's form");
  }
  return { resourceRules, nonResourceRules, incomplete, evaluationError } as RuleList;
}

function areRules(rules: unknown, fields: readonly string[]): boolean {
  return (
    Array.isArray(rules) &&
    rules.every((rule) => isRecord(rule) && fields.every((field) => areTexts(rule[field])))
  );
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
