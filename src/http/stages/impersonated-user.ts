import { dnsLabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

const prefix = "impersonate-";
const extraPrefix = "impersonate-extra-";

/** The identity that the headers request. */
export interface ImpersonatedUser {
  name: string;
  uid: string;
  readonly groups: string[];
  readonly extra: Record<string, string[]>;
}

/** Returns the identity that the headers of a request ask for; undefined if it has no such headers. */
export function readHeaders(raw: readonly string[]): ImpersonatedUser | undefined {
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

/** Namespace and name in the user name of a service account; undefined for other names. */
export function serviceAccountOf(
  { systemPrefix }: Vocabulary,
  user: string,
): { namespace: string; name: string } | undefined {
  const parts = user.split(":");
  const [, , namespace = "", name = ""] = parts;
  const isAccount =
    parts.length === 4 &&
    user.startsWith(`${systemPrefix}serviceaccount:`) &&
    dnsLabelFaults(namespace).length === 0 &&
    dnsSubdomainFaults(name).length === 0;
  return isAccount ? { namespace, name } : undefined;
}

/**
 * Returns the groups of an impersonated user: those of the headers, or of a service account if there are none, and that of all
 * authenticated or anonymous users.
 */
export function groupsOf(vocabulary: Vocabulary, { name, groups }: ImpersonatedUser): readonly string[] {
  const { systemPrefix } = vocabulary;
  const account = groups.length > 0 ? undefined : serviceAccountOf(vocabulary, name);
  if (account === undefined) return withStandingGroup(vocabulary, name, groups);
  const all = [`${systemPrefix}serviceaccounts`, `${systemPrefix}serviceaccounts:${account.namespace}`];
  return withStandingGroup(vocabulary, name, all);
}

/** Adds the group of all authenticated or anonymous users to groups that don't say which of the two the user is. */
export function withStandingGroup(
  { systemPrefix }: Vocabulary,
  user: string,
  groups: readonly string[],
): readonly string[] {
  const [authenticated, unauthenticated] = [`${systemPrefix}authenticated`, `${systemPrefix}unauthenticated`];
  if (groups.includes(unauthenticated)) return groups;
  if (user === `${systemPrefix}anonymous`) return [...groups, unauthenticated];
  return groups.includes(authenticated) ? groups : [...groups, authenticated];
}
