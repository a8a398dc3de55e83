import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes, Authorizer } from "../../authorization/authorizer.ts";
import { selectorsOfTexts } from "../../authorization/request-selectors.ts";
import {
  AuthorizerValue,
  ResourceCheck,
  type AccessCheck,
  type AccessDecision,
  type CheckedAccount,
} from "../../cel/values/access-checks.ts";
import type { Bindings } from "../../cel/compile.ts";
import { Suspension } from "../../cel/evaluation/step.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { requestNamespace } from "../webhooks/review-request.ts";

/** Maximum number of cached decisions of a request; the cost of a check limits it in practice. */
const maxDecisions = 1000;

/** The decisions of the checks of one request; all policies and webhooks share them. */
class RequestDecisions {
  readonly byCheck = new Map<string, AccessDecision>();
}

/** Returns the variables `authorizer` and `authorizer.requestResource` of a request. */
export function authorizerVariables(
  request: AdmissionRequest,
  authorizer: Authorizer,
  vocabulary: Vocabulary,
): Bindings {
  const { target, requestResource, user, effects } = request;
  const { byCheck } = effects.state(RequestDecisions);
  const decide = (check: AccessCheck): AccessDecision => {
    const key = JSON.stringify([check.account, check.verb, check.object]);
    const cached = byCheck.get(key);
    if (cached !== undefined) return cached;
    if (byCheck.size >= maxDecisions) byCheck.clear();
    const decision = andThen(authorizer.authorize(attributesOf(check, user, vocabulary)), (decided) => {
      const { verdict, reason, evaluationError: error } = decided;
      const result = { allowed: verdict === "allow", reason, error };
      byCheck.set(key, result);
      return result;
    });
    if (decision instanceof Promise) throw new Suspension(() => ignoreResult(decision));
    return decision;
  };
  const value = new AuthorizerValue(decide);
  return {
    authorizer: value,
    "authorizer.requestResource": new ResourceCheck(value, {
      group: requestResource.group,
      resource: requestResource.name,
      subresource: target.subresource,
      namespace: requestNamespace(target),
      name: target.name,
      fieldSelector: "",
      labelSelector: "",
    }),
  };
}

async function ignoreResult(work: MaybePromise<unknown>): Promise<void> {
  await work;
}

function attributesOf(
  { account, verb, object }: AccessCheck,
  requestUser: UserInfo,
  vocabulary: Vocabulary,
): Attributes {
  const user = account === undefined ? requestUser : userOf(account, vocabulary);
  if ("path" in object) return { kind: "nonResource", user, verb, path: object.path };
  const { fieldSelector, labelSelector, ...resource } = object;
  const selectors = selectorsOfTexts(fieldSelector, labelSelector);
  return { kind: "resource", user, verb, version: "*", ...resource, selectors };
}

function userOf({ namespace, name }: CheckedAccount, { systemPrefix }: Vocabulary): UserInfo {
  const groups = [`${systemPrefix}serviceaccounts`, `${systemPrefix}serviceaccounts:${namespace}`];
  return { name: `${systemPrefix}serviceaccount:${namespace}:${name}`, uid: "", groups, extra: {} };
}
