import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import type { NonResourceRule, ResourceRule } from "../../authorization/authorizer.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Visitor } from "../request/visitor.ts";

/** Maximum number of rights on the page, and of entries in each list of a rule. */
const maxRights = 20;
const maxEntries = 10;

/** Returns what a user may do in all namespaces, for the page of `/`. */
export async function visitorOf(
  authorizer: AuthorizerChain,
  user: UserInfo,
  systemPrefix: string,
): Promise<Visitor> {
  const { resourceRules, nonResourceRules, incomplete } = await authorizer.rulesFor(user, "");
  const ofResources = resourceRules.slice(0, maxRights);
  const ofPaths = nonResourceRules.slice(0, maxRights - ofResources.length);
  const rights = [...ofResources.map(resourceRight), ...ofPaths.map(pathRight)];
  return {
    name: user.name,
    isAnonymous: user.groups.includes(`${systemPrefix}unauthenticated`),
    mayDoEverything: await mayDoEverything(authorizer, user),
    rights,
    furtherRights: resourceRules.length + nonResourceRules.length - rights.length,
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
  const types = apiGroups
    .slice(0, maxEntries)
    .flatMap((group) =>
      resources
        .slice(0, maxEntries)
        .map((resource) => (group === "" || resource === "*" ? resource : `${resource}.${group}`)),
    );
  const names = resourceNames.length === 0 ? "" : ` named ${listed(resourceNames)}`;
  return `${listed(verbs)}: ${types.join(", ")}${names}`;
}

function pathRight({ verbs, nonResourceURLs }: NonResourceRule): string {
  return `${listed(verbs)}: ${listed(nonResourceURLs)}`;
}

/** Returns the first entries of a list as a text. */
function listed(entries: readonly string[]): string {
  return `${entries.slice(0, maxEntries).join(", ")}${entries.length > maxEntries ? ", …" : ""}`;
}
