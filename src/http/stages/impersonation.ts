import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes, Authorizer } from "../../authorization/authorizer.ts";
import { authentication } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import { forbidden, attributesOf, attributesWithSelectors } from "../request/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import {
  groupsOf,
  readHeaders,
  serviceAccountOf,
  type ImpersonatedUser,
  withStandingGroup,
} from "./impersonated-user.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { domainPrefixedPath } from "../../kinds/checks/names.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * Sets the user of the request to that of its `Impersonate-` headers, if it has any. The caller must be allowed to impersonate the
 * name and each group, uid and extra value; with the gate ConstrainedImpersonation, for this request only is sufficient.
 *
 * @throws {StatusError} BadRequest if there are such headers without a user name; Forbidden.
 */
export function impersonate(service: HttpService, request: RequestContext): MaybePromise<void> {
  const target = readHeaders(request.exchange.rawHeaders);
  return target === undefined ? undefined : become(service, request, target);
}

async function become(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
): Promise<void> {
  if (target.name === "") {
    throw new StatusError("BadRequest", "groups and other facts can't be impersonated without a user");
  }
  if (!service.engine.featureEnabled("ConstrainedImpersonation")) {
    const refusal = await becomeByOldRights(service, request, target, service.authorizer);
    if (refusal !== undefined) throw refusal;
    return;
  }
  const { impersonations } = service;
  const startMs = impersonations.begin();
  let mode: string | undefined;
  try {
    mode = await becomeInMode(service, request, target);
  } finally {
    impersonations.attempted(mode, startMs);
  }
}

/** Sets the user in the first mode that allows it, and returns the name of the mode. @throws {StatusError} Forbidden */
async function becomeInMode(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
): Promise<string> {
  const constrained = await constrainedUser(service, request, target);
  if ("user" in constrained) {
    request.user = constrained.user;
    request.impersonationConstraint = `impersonate:${constrained.mode}`;
    return constrained.mode;
  }
  const refusal = await becomeByOldRights(service, request, target, {
    authorize: (attributes) => service.impersonations.authorize(service.authorizer, attributes, "legacy"),
  });
  if (refusal !== undefined) throw constrained.refusal ?? refusal;
  return "legacy";
}

/** Sets the user if the caller has the verb `impersonate` on all its fields; otherwise returns the error. */
async function becomeByOldRights(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
  authorizer: Authorizer,
): Promise<StatusError | undefined> {
  for (const attributes of rightsFor(service, request.caller, target)) {
    const decision = await authorizer.authorize(attributes);
    if (decision.verdict !== "allow") return forbidden(attributes, decision);
  }
  request.user = { ...target, groups: groupsOf(service.engine.vocabulary, target) };
  return undefined;
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
  const account = serviceAccountOf(vocabulary, target.name);
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

/**
 * Modes of constrained impersonation, in the order in which they are tried. In each, the caller needs the verb `impersonate-on:MODE:VERB`
 * for the request, and `impersonate:MODE` for the user.
 */
const modes = ["associated-node", "arbitrary-node", "serviceaccount", "user-info"] as const;
type Mode = (typeof modes)[number];

/** From this number of groups or extra values on, the right to all of them is tried first. */
const manyValues = 4;

/** The impersonated user and the mode that allowed it; or why the first mode for such a user refused. */
type ConstrainedResult =
  { readonly user: UserInfo; readonly mode: Mode } | { readonly refusal: StatusError | undefined };

/** Returns the user of a request by the first mode that allows it. */
async function constrainedUser(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
): Promise<ConstrainedResult> {
  const { vocabulary } = service.engine;
  const { caller } = request;
  let refusal: StatusError | undefined;
  for (const mode of modes.filter((one) => applies(one, vocabulary, target, caller))) {
    const refused = await refusalIn(service, request, target, mode);
    if (refused === undefined) {
      const { name, uid, extra } = target;
      const user = { name, uid, extra, groups: constrainedGroups(vocabulary, target) };
      return { user, mode };
    }
    refusal ??= refused;
  }
  return { refusal };
}

/** Whether a mode is for such a user and caller. */
function applies(mode: Mode, vocabulary: Vocabulary, target: ImpersonatedUser, caller: UserInfo): boolean {
  const node = nodeOf(vocabulary, target.name);
  const account = serviceAccountOf(vocabulary, target.name);
  if (mode === "user-info") return node === undefined && account === undefined;
  const { uid, groups, extra } = target;
  // The server decides about the other fields of nodes and service accounts.
  if (uid !== "" || groups.length > 0 || Object.keys(extra).length > 0) return false;
  if (mode === "serviceaccount") return account !== undefined;
  if (mode === "arbitrary-node") return node !== undefined;
  const [ownNode, ...more] = caller.extra[labelKey(vocabulary.domain, "node-name", "authentication")] ?? [];
  const isAccount = serviceAccountOf(vocabulary, caller.name) !== undefined;
  return node !== undefined && isAccount && more.length === 0 && ownNode === node;
}

/** Returns the error of the first right that the caller lacks; undefined if it has all. */
async function refusalIn(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
  mode: Mode,
): Promise<StatusError | undefined> {
  const { authorizer, authorizesSelectors, engine, impersonations } = service;
  const { facts, caller } = request;
  const refusalOf = async (attributes: Attributes): Promise<StatusError | undefined> => {
    const decision = await impersonations.authorize(authorizer, attributes, mode);
    return decision.verdict === "allow" ? undefined : forbidden(attributes, decision);
  };
  const user = mode === "associated-node" ? withoutNode(caller, engine.vocabulary) : caller;
  const own = authorizesSelectors ? attributesWithSelectors(facts, user) : attributesOf(facts, user);
  const refused = await refusalOf({ ...own, verb: `impersonate-on:${mode}:${own.verb}` });
  if (refused !== undefined) return refused;
  for (const rights of constrainedRightsFor(engine.vocabulary, user, target, mode)) {
    if ("fault" in rights) return forbidden(rights.attributes, { reason: rights.fault, evaluationError: "" });
    const { all, each } = rights;
    if (all !== undefined && (await refusalOf(all)) === undefined) continue;
    for (const attributes of each) {
      const lacking = await refusalOf(attributes);
      if (lacking !== undefined) return lacking;
    }
  }
  return undefined;
}

/** Rights to one field of the user: to all values, or to each of them; or why none suffices. */
type FieldRights =
  | { readonly all: Attributes | undefined; readonly each: readonly Attributes[] }
  | { readonly fault: string; readonly attributes: Attributes };

function constrainedRightsFor(
  vocabulary: Vocabulary,
  user: UserInfo,
  target: ImpersonatedUser,
  mode: Mode,
): readonly FieldRights[] {
  const group = groupName(authentication, vocabulary);
  const base = { kind: "resource", user, verb: `impersonate:${mode}`, group, version: "v1" } as const;
  const one = (resource: string, name: string, subresource = "", namespace = ""): Attributes => ({
    ...base,
    resource,
    subresource,
    namespace,
    name,
  });
  const each = (...attributes: readonly Attributes[]): FieldRights => ({ all: undefined, each: attributes });
  const { uid, groups, extra } = target;
  const node = nodeOf(vocabulary, target.name);
  const account = serviceAccountOf(vocabulary, target.name);
  const rights: FieldRights[] = [];
  // The right to its own node doesn't depend on the node.
  if (node !== undefined) rights.push(each(one("nodes", mode === "associated-node" ? "*" : node)));
  else if (account === undefined) rights.push(each(one("users", target.name)));
  else rights.push(each(one("serviceaccounts", account.name, "", account.namespace)));
  if (uid !== "") rights.push(each(one("uids", uid)));
  const groupFault = faultOfGroups(vocabulary, groups);
  if (groupFault !== undefined)
    return [...rights, { fault: groupFault.fault, attributes: one("groups", groupFault.name) }];
  rights.push({
    all: groups.length < manyValues ? undefined : one("groups", "*"),
    each: groups.map((name) => one("groups", name)),
  });
  const extraFault = faultOfExtra(extra);
  if (extraFault !== undefined) return [...rights, { fault: extraFault, attributes: one("userextras", "") }];
  const values = Object.entries(extra).flatMap(([key, all]) =>
    all.map((value) => one("userextras", value, key)),
  );
  rights.push({ all: values.length < manyValues ? undefined : one("userextras", "*", "*"), each: values });
  return rights;
}

function faultOfGroups(
  { systemPrefix }: Vocabulary,
  groups: readonly string[],
): { readonly name: string; readonly fault: string } | undefined {
  if (groups.includes("")) return { name: "", fault: "impersonating the empty string group is not allowed" };
  const masters = `${systemPrefix}masters`;
  if (!groups.includes(masters)) return undefined;
  return { name: masters, fault: `impersonating the ${masters} group is not allowed` };
}

function faultOfExtra(extra: ImpersonatedUser["extra"]): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    const report = FieldReport.start();
    domainPrefixedPath(key, report);
    const [fault] = report.faults;
    if (fault !== undefined) return `impersonating an invalid key in extra is not allowed: ${fault.message}`;
    if (key !== key.toLowerCase())
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  }
  return undefined;
}

/** Returns the name of the node in the user name of a node agent; undefined for other names. */
function nodeOf({ systemPrefix }: Vocabulary, user: string): string | undefined {
  const prefix = `${systemPrefix}node:`;
  const name = user.startsWith(prefix) ? user.slice(prefix.length) : "";
  return dnsSubdomainFaults(name).length === 0 ? name : undefined;
}

/** Returns the caller with the names of its extra values only, so that decisions can't depend on its node. */
function withoutNode(caller: UserInfo, { domain }: Vocabulary): UserInfo {
  const keys = Object.keys(caller.extra).toSorted();
  return { ...caller, extra: { [labelKey(domain, "associated-node-keys", "authentication")]: keys } };
}

function constrainedGroups(vocabulary: Vocabulary, target: ImpersonatedUser): readonly string[] {
  if (nodeOf(vocabulary, target.name) === undefined) return groupsOf(vocabulary, target);
  return withStandingGroup(vocabulary, target.name, [`${vocabulary.systemPrefix}nodes`]);
}
