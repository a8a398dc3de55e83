import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { addedGroups } from "../../authentication/added-groups.ts";
import type { Authorizer, ResourceAttributes } from "../../authorization/authorizer.ts";
import { selectorsOfTexts } from "../../authorization/request-selectors.ts";
import { forbidden, nameInSelector } from "../../http/request/attributes.ts";
import type { ClientGuard, ClientRequest } from "../../resources/clients/client-guard.ts";
import type { Target } from "../../resources/engine/engine.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Returns the attributes of a client's request, the same as those of the request over HTTP. */
function attributesOf(
  { verb, target, selectors: { fieldSelector = "", labelSelector = "" } }: ClientRequest,
  user: UserInfo,
  authorizesSelectors: boolean,
): ResourceAttributes {
  const { resource, subresource } = target;
  const { group, version } = resource;
  const name = target.name === "" ? nameInSelector(fieldSelector) : target.name;
  const namespace = namespaceInPath(target);
  return {
    kind: "resource",
    user,
    verb,
    group,
    version,
    resource: resource.name,
    subresource,
    namespace,
    name,
    selectors: authorizesSelectors ? selectorsOfTexts(fieldSelector, labelSelector) : undefined,
  };
}

/** Returns the namespace of the request over HTTP: the path of a namespace contains it as namespace and as name. */
export function namespaceInPath({ resource, namespace, name }: Target): string {
  return resource.group === "" && resource.name === "namespaces" ? name : namespace;
}

/**
 * Authorizes the requests of a client as a user.
 *
 * @param authorizesSelectors whether the authorizer sees the selectors of requests.
 */
export function authorizingGuard(
  authorizer: Authorizer,
  user: UserInfo,
  authorizesSelectors: boolean,
): ClientGuard {
  const authorize = (request: ClientRequest): MaybePromise<void> => {
    const attributes = attributesOf(request, user, authorizesSelectors);
    return andThen(authorizer.authorize(attributes), (decision) => {
      if (decision.verdict !== "allow") throw forbidden(attributes, decision);
    });
  };
  return {
    async run(request, engine, call) {
      await authorize(request);
      return call(engine);
    },
    mayCreate: (target) => authorize({ verb: "create", target, selectors: {} }),
  };
}

/**
 * Returns a user with the groups that authentication adds.
 *
 * @throws {TypeError} if the name is not a text or empty, or the groups are not texts.
 */
export function userNamed(
  vocabulary: Vocabulary,
  name: string,
  groups: readonly string[] | undefined,
): UserInfo {
  if (typeof name !== "string" || name === "")
    throw new TypeError(`a user is a text that isn't empty, not ${JSON.stringify(name)}`);
  if (groups !== undefined && !(Array.isArray(groups) && groups.every((group) => typeof group === "string")))
    throw new TypeError(`the groups of a user are a list of texts, not ${JSON.stringify(groups)}`);
  const all = new Set([...(groups ?? []), ...addedGroups(vocabulary, name)]);
  return { name, uid: "", groups: [...all], extra: {} };
}
