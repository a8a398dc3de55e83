import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import type { NonResourceRule, ResourceRule } from "../../authorization/authorizer.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Visitor } from "../request/visitor.ts";

/** Returns what a user may do in all namespaces, for the page of `/`. */
export async function visitorOf(
  authorizer: AuthorizerChain,
  user: UserInfo,
  systemPrefix: string,
): Promise<Visitor> {
  const { resourceRules, nonResourceRules, incomplete } = await authorizer.rulesFor(user, "");
  return {
    name: user.name,
    isAnonymous: user.groups.includes(`${systemPrefix}unauthenticated`),
    mayDoEverything: await mayDoEverything(authorizer, user),
    rights: [...resourceRules.map(resourceRight), ...nonResourceRules.map(pathRight)],
    incomplete,
  };
}

async function mayDoEverything(authorizer: AuthorizerChain, user: UserInfo): Promise<boolean> {
  const all = { group: "*", version: "*", resource: "*", subresource: "", namespace: "", name: "" };
  const questions = [
    { kind: "resource", user, verb: "*", ...all },
    { kind: "nonResource", user, verb: "*", path: "*" },
  ] as const;
  for (const one of questions) if ((await authorizer.authorize(one)).verdict !== "allow") return false;
  return true;
}

function resourceRight({ verbs, apiGroups, resources, resourceNames }: ResourceRule): string {
  const types = apiGroups.flatMap((group) =>
    resources.map((resource) => (group === "" || resource === "*" ? resource : `${resource}.${group}`)),
  );
  const names = resourceNames.length === 0 ? "" : ` named ${resourceNames.join(", ")}`;
  return `${verbs.join(", ")}: ${types.join(", ")}${names}`;
}

function pathRight({ verbs, nonResourceURLs }: NonResourceRule): string {
  return `${verbs.join(", ")}: ${nonResourceURLs.join(", ")}`;
}
