import type { UserInfo } from "../base/user-info.ts";
import type { PathRule, PolicyRules, ResourceRule, Subject } from "./objects.ts";
import type { FlowRequest, PathRequestFacts, ResourceRequestFacts } from "./request.ts";

/** Whether a subject of the rule matches the user. */
export function meansUser({ subjects }: PolicyRules, user: UserInfo, systemPrefix: string): boolean {
  return (subjects ?? []).some((subject) => isSubject(subject, user, systemPrefix));
}

function isSubject(subject: Subject, { name, groups }: UserInfo, systemPrefix: string): boolean {
  switch (subject.kind) {
    case "User":
      return subject.user?.name === "*" || subject.user?.name === name;
    case "Group":
      return isGroup(subject.group?.name, groups);
    case "ServiceAccount": {
      const prefix = `${systemPrefix}serviceaccount:${subject.serviceAccount?.namespace}:`;
      const account = subject.serviceAccount?.name;
      return account === "*" ? name.startsWith(prefix) : name === `${prefix}${account}`;
    }
    default:
      return false;
  }
}

function isGroup(group: string | undefined, groups: readonly string[]): boolean {
  return group === "*" || (group !== undefined && groups.includes(group));
}

/** Whether a rule matches the request, regardless of the user. */
export function meansRequest(
  { resourceRules, nonResourceRules }: PolicyRules,
  request: FlowRequest,
): boolean {
  if (request.kind === "path") {
    return nonResourceRules?.some((rule) => meansPath(rule, request)) ?? false;
  }
  return resourceRules?.some((rule) => meansResource(rule, request)) ?? false;
}

function meansResource(rule: ResourceRule, request: ResourceRequestFacts): boolean {
  const { verb, group, resource, subresource, namespace } = request;
  if (!has(rule.verbs, verb) || !has(rule.apiGroups, group)) return false;
  if (!has(rule.resources, subresource === "" ? resource : `${resource}/${subresource}`)) return false;
  return namespace === "" ? rule.clusterScope === true : has(rule.namespaces, namespace);
}

function meansPath(rule: PathRule, { verb, path }: PathRequestFacts): boolean {
  if (!has(rule.verbs, verb)) return false;
  return (rule.nonResourceURLs ?? []).some((url) =>
    url.endsWith("*") ? path.startsWith(url.slice(0, -1)) : path === url,
  );
}

/** Whether a list contains the value or `*`. */
function has(list: readonly string[] | null | undefined, value: string): boolean {
  return list?.[0] === "*" || (list?.includes(value) ?? false);
}
