import { addedGroups } from "../../authentication/added-groups.ts";
import { actionText } from "../../authorization/reviews/explanation-text.ts";
import { ClientError } from "../client/client-error.ts";
import type { NamedResource, ResourceTable } from "../client/resource-table.ts";
import type { Answer, ServerClient } from "../client/server-client.ts";
import { platform } from "../../vocabulary/platform.ts";
import { UsageError } from "../flags/flag-reader.ts";
import { notesOn } from "./unknown-names.ts";

/** Dependencies of the subcommands of `plinth auth`. */
export interface AuthContext {
  readonly client: ServerClient;
  readonly table: ResourceTable;
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly groups: readonly string[];
  /** Whether the user has only {@link groups}, without the groups that authentication would add. */
  readonly exact: boolean;
  readonly limit: number;
}

/** The output of a subcommand, as text and as an object. */
export interface AuthAnswer {
  readonly text: string;
  readonly object: unknown;
}

/** Attributes of a review. */
export type ReviewedAction =
  | { readonly resourceAttributes: Readonly<Record<string, string>> }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } };

/** An action of the command line. */
export interface RequestedAction {
  readonly spec: ReviewedAction;
  /** Description, such as `get pods/log in the namespace "web"`. */
  readonly text: string;
  /** Lines about names that the server doesn't have; empty if it has all. See {@link notesOn}. */
  notes(isExplained: boolean): string;
}

/** Parses `VERB RESOURCE [NAME]`. */
export function actionOf(
  [verb, resource, name, ...rest]: readonly string[],
  context: AuthContext,
): RequestedAction {
  if (verb === undefined || resource === undefined)
    throw new UsageError("a verb and a resource are needed: see plinth auth --help");
  if (rest.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(rest[0])}`);
  if (resource.startsWith("/")) {
    if (name !== undefined)
      throw new UsageError(`a URL path has no name: unexpected argument ${JSON.stringify(name)}`);
    return {
      spec: { nonResourceAttributes: { path: resource, verb } },
      text: `${verb} ${resource}`,
      notes: () => "",
    };
  }
  const target = context.table.find(resource);
  const namespace = target.known?.namespaced === false ? "" : context.namespace;
  const action = { ...target, verb, namespace, name: name ?? "" };
  return {
    spec: { resourceAttributes: attributesOf(verb, target, namespace, name) },
    text: actionText(action, target.known?.namespaced === false),
    notes: (isExplained) => notesOn({ verb, target, word: resource, isExplained }, context.table),
  };
}

/** Returns the review attributes of an action on a resource. */
export function attributesOf(
  verb: string,
  { group, resource, subresource }: Pick<NamedResource, "group" | "resource" | "subresource">,
  namespace: string,
  name?: string,
): Readonly<Record<string, string>> {
  const attributes = { verb, group, resource, subresource, namespace, name: name ?? "" };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== ""));
}

/** Returns the user with the groups of the flags and, unless they are exact, those that authentication adds. */
export function subjectOf(
  user: string | undefined,
  context: AuthContext,
): { user: string; groups: string[] } {
  if (user === undefined) throw new UsageError("a user is needed: see plinth auth --help");
  const { groups, exact } = context;
  if (exact) return { user, groups: [...groups] };
  return { user, groups: [...new Set([...groups, ...addedGroups(platform, user)])] };
}

/**
 * Posts a review to the insight group.
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
