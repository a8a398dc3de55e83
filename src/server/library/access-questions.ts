import { actionText, explanationText } from "../../authorization/reviews/explanation-text.ts";
import type { ExplanationStatus } from "../../authorization/reviews/explanation.ts";
import { reviewedAttributes, type SelfAccessSpec } from "../../authorization/reviews/access.ts";
import { similarName } from "../../base/similar-name.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { HttpService } from "../../http/service.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { userNamed } from "./client-guards.ts";
import type { AccessAnswer, AccessOptions } from "./server-client.ts";

/** The dependencies of the questions. */
export type AccessService = Pick<HttpService, "engine" | "authorizer" | "reviews">;

/** Decides an action; see {@link ServerClient.can}. */
export async function decideAction(
  service: AccessService,
  caller: UserInfo,
  verb: string,
  resourceOrPath: string,
  options: AccessOptions,
): Promise<boolean> {
  const user = userOf(service, caller, options);
  const { spec } = await actionOf(service.engine.registry, verb, resourceOrPath, options);
  const { verdict } = await service.authorizer.authorize(reviewedAttributes(user, spec));
  return verdict === "allow";
}

/** Explains the decision on an action; see {@link ServerClient.why}. */
export async function explainAction(
  service: AccessService,
  caller: UserInfo,
  verb: string,
  resourceOrPath: string,
  options: AccessOptions,
): Promise<AccessAnswer> {
  const { name, uid, groups, extra } = userOf(service, caller, options);
  const action = await actionOf(service.engine.registry, verb, resourceOrPath, options);
  const review: Record<string, unknown> = { spec: { ...action.spec, user: name, uid, groups, extra } };
  await service.reviews.get("AccessExplanation")!(review, caller);
  const status = review["status"] as ExplanationStatus;
  return { ...status, text: explanationText(status, { user: name, groups }, action.text) };
}

function userOf(
  { engine }: Pick<HttpService, "engine">,
  caller: UserInfo,
  { user, groups }: AccessOptions,
): UserInfo {
  if (user !== undefined) return userNamed(engine.vocabulary, user, groups);
  if (groups === undefined) return caller;
  throw new TypeError("the option groups needs the option user");
}

async function actionOf(
  registry: Registry,
  verb: string,
  resourceOrPath: string,
  options: AccessOptions,
): Promise<{ readonly spec: SelfAccessSpec; readonly text: string }> {
  if (typeof verb !== "string" || verb === "") throw new TypeError("a verb is a text that isn't empty");
  if (typeof resourceOrPath !== "string" || resourceOrPath === "")
    throw new TypeError(`a resource or a path is needed, not ${JSON.stringify(resourceOrPath)}`);
  if (resourceOrPath.startsWith("/")) {
    const path = resourceOrPath;
    return { spec: { nonResourceAttributes: { path, verb } }, text: `${verb} ${path}` };
  }
  const slash = resourceOrPath.indexOf("/");
  const resource = slash === -1 ? resourceOrPath : resourceOrPath.slice(0, slash);
  const { subresource = slash === -1 ? "" : resourceOrPath.slice(slash + 1), name = "" } = options;
  const { group, isClusterScoped } = await resourceType(registry, resource, options.group);
  const namespace = isClusterScoped ? "" : (options.namespace ?? "");
  const action = { verb, group, resource, subresource, namespace, name };
  return { spec: { resourceAttributes: action }, text: actionText(action, isClusterScoped) };
}

/**
 * Returns the group and scope of a resource.
 *
 * @param group undefined for the group that serves the resource.
 * @throws {StatusError} NotFound without a group if no group serves the resource, BadRequest if several do.
 */
async function resourceType(
  registry: Registry,
  resource: string,
  group: string | undefined,
): Promise<{ readonly group: string; readonly isClusterScoped: boolean }> {
  if (resource === "*") return { group: group ?? "*", isClusterScoped: false };
  await registry.sync();
  await registry.readAll();
  const versions = registry.groupVersions.filter((one) => group === undefined || one.group === group);
  const all = versions.flatMap(({ resources }) => resources);
  const matches = all.filter((one) => one.name === resource);
  const groups = [...new Set(matches.map((one) => one.group))];
  const isClusterScoped = matches.length > 0 && matches.every(({ namespaced }) => !namespaced);
  if (group !== undefined) return { group, isClusterScoped };
  if (groups.length === 1) return { group: groups[0]!, isClusterScoped };
  const quoted = JSON.stringify(resource);
  if (groups.length > 1) {
    const list = groups.map((one) => JSON.stringify(one)).join(" and ");
    throw new StatusError("BadRequest", `the groups ${list} have a resource ${quoted}: set the option group`);
  }
  const similar = similarName(
    resource,
    all.map(({ name }) => name),
  );
  throw new StatusError(
    "NotFound",
    `this server has no resource ${quoted}` +
      (similar === undefined ? "" : ` (did you mean ${JSON.stringify(similar)}?)`) +
      ": set the option group for a resource that it doesn't serve",
  );
}
