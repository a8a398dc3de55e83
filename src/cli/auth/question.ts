import { accountGroupsOf } from "../../authentication/service-accounts/names.ts";
import { ClientError } from "../client/client-error.ts";
import type { NamedResource, ResourceTable } from "../client/resource-table.ts";
import type { Answer, ServerClient } from "../client/server-client.ts";
import { platform } from "../../vocabulary/platform.ts";
import { UsageError } from "../flag-reader.ts";

/** How names of the system begin, in every vocabulary. */
const prefix = platform.systemPrefix;

/** What every question of `plinth auth` works with. */
export interface AuthContext {
  readonly client: ServerClient;
  readonly table: ResourceTable;
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly groups: readonly string[];
  /** Whether user and groups are taken as they are. */
  readonly exact: boolean;
  readonly limit: number;
}

/** An answer for people, and for programs. */
export interface AuthAnswer {
  readonly text: string;
  readonly object: unknown;
}

/** Attributes of a review. */
export type ReviewedAction =
  | { readonly resourceAttributes: Readonly<Record<string, string>> }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } };

/** An action, as the words of a command line name it. */
export interface AskedAction {
  readonly spec: ReviewedAction;
  /** For people: `get pods/log in the namespace "web"`. */
  readonly text: string;
}

/** The action that `VERB RESOURCE [NAME]` name. */
export function actionOf(
  [verb, resource, name, ...rest]: readonly string[],
  context: AuthContext,
): AskedAction {
  if (verb === undefined || resource === undefined)
    throw new UsageError("a verb and a resource are needed: see plinth auth --help");
  if (rest.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(rest[0])}`);
  if (resource.startsWith("/")) {
    if (name !== undefined)
      throw new UsageError(`a URL path has no name: unexpected argument ${JSON.stringify(name)}`);
    return { spec: { nonResourceAttributes: { path: resource, verb } }, text: `${verb} ${resource}` };
  }
  const found = context.table.find(resource);
  const namespace = found.known?.namespaced === false ? "" : context.namespace;
  const whole = fullName(found);
  const where = namespace === "" ? placeless(found) : ` in the namespace ${namespace}`;
  return {
    spec: { resourceAttributes: attributesOf(verb, found, namespace, name) },
    text: `${verb} ${whole}${name === undefined ? "" : ` ${name}`}${where}`,
  };
}

/** The attributes of one action on a resource. */
export function attributesOf(
  verb: string,
  { group, resource, subresource }: Pick<NamedResource, "group" | "resource" | "subresource">,
  namespace: string,
  name?: string,
): Readonly<Record<string, string>> {
  const given = { verb, group, resource, subresource, namespace, name: name ?? "" };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}

/** The user of the words, with the groups that requests of theirs are made as. */
export function subjectOf(
  user: string | undefined,
  context: AuthContext,
): { user: string; groups: string[] } {
  if (user === undefined) throw new UsageError("a user is needed: see plinth auth --help");
  const { groups, exact } = context;
  if (exact) return { user, groups: [...groups] };
  const own = accountGroupsOf(platform, user);
  return { user, groups: [...new Set([...groups, ...own, `${prefix}authenticated`])] };
}

/**
 * Asks the server something of its insight group.
 *
 * @throws {ClientError}
 */
export function askInsight(
  { client, table }: AuthContext,
  kind: string,
  resource: string,
  spec: object,
): Promise<Answer> {
  const group = table.groupCalled("insight");
  if (group === undefined) {
    throw new ClientError("this server can't explain authorization: it doesn't serve the insight group");
  }
  const apiVersion = `${group}/v1`;
  return client.post(`/apis/${apiVersion}/${resource}`, { apiVersion, kind, spec });
}

function fullName({ group, resource, subresource }: NamedResource): string {
  return `${resource}${group === "" || group === "*" ? "" : `.${group}`}${subresource === "" ? "" : `/${subresource}`}`;
}

function placeless({ known }: NamedResource): string {
  return known?.namespaced === false ? "" : " in every namespace";
}
