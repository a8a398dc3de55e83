import type { MaybePromise } from "../../base/maybe-promise.ts";
import { dnsLabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes } from "../../authorization/authorizer.ts";
import { authentication } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import { forbidden } from "../request/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

const prefix = "impersonate-";
const extraPrefix = "impersonate-extra-";

/** The identity that the headers request. */
interface ImpersonatedUser {
  name: string;
  uid: string;
  readonly groups: string[];
  readonly extra: Record<string, string[]>;
}

/**
 * Sets the user of the request to that of its `Impersonate-` headers, if it has any. The caller must be allowed to impersonate the
 * name and each group, uid and extra value.
 *
 * @throws {StatusError} BadRequest if there are such headers without a user name; Forbidden.
 */
export function impersonate(service: HttpService, request: RequestContext): MaybePromise<void> {
  const target = readHeaders(request.exchange.rawHeaders);
  if (target === undefined) return undefined;
  return become(service, request.caller, target).then((user) => {
    request.user = user;
  });
}

function readHeaders(raw: readonly string[]): ImpersonatedUser | undefined {
  let target: ImpersonatedUser | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    const written = raw[at]!;
    if (written.length <= prefix.length || (written[0] !== "I" && written[0] !== "i")) continue;
    const name = written.toLowerCase();
    if (!name.startsWith(prefix)) continue;
    const value = raw[at + 1]!;
    // An empty name counts as missing.
    if (name === "impersonate-user" && value === "") continue;
    target ??= { name: "", uid: "", groups: [], extra: {} };
    addHeader(target, name, value);
  }
  return target;
}

function addHeader(target: ImpersonatedUser, header: string, value: string): void {
  if (header === "impersonate-user") target.name ||= value;
  else if (header === "impersonate-uid") target.uid ||= value;
  else if (header === "impersonate-group") target.groups.push(value);
  else if (header.startsWith(extraPrefix)) {
    const key = decodeKey(header.slice(extraPrefix.length));
    const values = Object.hasOwn(target.extra, key) ? target.extra[key]! : [];
    Object.defineProperty(target.extra, key, {
      value: [...values, value],
      enumerable: true,
      configurable: true,
    });
  } else throw new StatusError("BadRequest", `there is no header ${JSON.stringify(header)}`);
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StatusError(
      "BadRequest",
      `the header ${JSON.stringify(extraPrefix + text)} is not well encoded`,
    );
  }
}

async function become(service: HttpService, caller: UserInfo, target: ImpersonatedUser): Promise<UserInfo> {
  if (target.name === "") {
    throw new StatusError("BadRequest", "groups and other facts can't be impersonated without a user");
  }
  for (const attributes of rightsFor(service, caller, target)) {
    const decision = await service.authorizer.authorize(attributes);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  }
  return { ...target, groups: groupsOf(service, target) };
}

/** The attributes to authorize. */
function rightsFor(service: HttpService, user: UserInfo, target: ImpersonatedUser): Attributes[] {
  const { vocabulary } = service.engine;
  const one = (
    group: string,
    resource: string,
    name: string,
    subresource = "",
    namespace = "",
  ): Attributes => ({
    kind: "resource",
    user,
    verb: "impersonate",
    group,
    version: "v1",
    resource,
    subresource,
    namespace,
    name,
  });
  const account = serviceAccountOf(service, target.name);
  const own = groupName(authentication, vocabulary);
  return [
    account === undefined
      ? one("", "users", target.name)
      : one("", "serviceaccounts", account.name, "", account.namespace),
    ...target.groups.map((group) => one("", "groups", group)),
    ...(target.uid === "" ? [] : [one(own, "uids", target.uid)]),
    ...Object.entries(target.extra).flatMap(([key, values]) =>
      values.map((value) => one(own, "userextras", value, key)),
    ),
  ];
}

/** Namespace and name in the user name of a service account; undefined for other names. */
function serviceAccountOf(
  service: HttpService,
  user: string,
): { namespace: string; name: string } | undefined {
  const parts = user.split(":");
  const [, , namespace = "", name = ""] = parts;
  const isAccount =
    parts.length === 4 &&
    user.startsWith(`${service.engine.vocabulary.systemPrefix}serviceaccount:`) &&
    dnsLabelFaults(namespace).length === 0 &&
    dnsSubdomainFaults(name).length === 0;
  return isAccount ? { namespace, name } : undefined;
}

/** Groups that the user has without being named in the headers. */
function groupsOf(service: HttpService, target: ImpersonatedUser): string[] {
  const { systemPrefix } = service.engine.vocabulary;
  const groups = [...target.groups];
  const account = serviceAccountOf(service, target.name);
  if (groups.length === 0 && account !== undefined) {
    groups.push(`${systemPrefix}serviceaccounts`, `${systemPrefix}serviceaccounts:${account.namespace}`);
  }
  const anonymous = target.name === `${systemPrefix}anonymous`;
  const standing = `${systemPrefix}${anonymous ? "unauthenticated" : "authenticated"}`;
  const named = ["authenticated", "unauthenticated"].some((one) => groups.includes(`${systemPrefix}${one}`));
  return named ? groups : [...groups, standing];
}
