import { qualifiedName } from "../../base/object-errors.ts";
import { ClientError } from "../client/client-error.ts";
import type { KnownResource } from "../client/resource-table.ts";
import type { ServerClient } from "../client/server-client.ts";
import { UsageError } from "../flags/flag-reader.ts";
import { columns } from "./columns.ts";
import { subjectOf, type AuthAnswer, type AuthContext } from "./question.ts";
import { servedResource } from "./unknown-names.ts";

/** Objects of one page of a list. */
const pageSize = 500;

/** Objects of a resource type that are counted one page after the other; above it the count is a lower bound. */
const maxCounted = 10_000;

/** Resource types that are counted at the same time. */
const concurrentCounts = 8;

/** A page of a list with the metadata of its objects. */
interface MetadataPage {
  readonly items: readonly { readonly metadata: { readonly namespace?: string; readonly name: string } }[];
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
}

/** A number of objects. */
interface Count {
  readonly count: number;
  /** Whether there are more that were not counted. */
  readonly isMinimum: boolean;
}

/** How many objects of a resource type a user may see. */
interface VisibleRow {
  readonly group: string;
  readonly resource: string;
  readonly visible?: number;
  /** Whether `visible` is a minimum. */
  readonly moreVisible?: true;
  /** Number of all objects; absent if the caller may not list them. */
  readonly total?: number;
  /** Why there is no view of the resource type. */
  readonly error?: string;
}

/** A caller, and a user that the caller impersonates. */
interface Callers extends AuthContext {
  readonly impersonated: ServerClient;
}

/**
 * `plinth auth visible USER [RESOURCE]`: lists with `view=mine` in the name of the user. Without a resource type it counts the objects
 * of each.
 */
export async function visible(
  [user, word, ...rest]: readonly string[],
  context: AuthContext,
): Promise<AuthAnswer> {
  const subject = subjectOf(user, context);
  if (rest.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(rest[0])}`);
  if (context.exact)
    throw new UsageError("--exact can't be used with visible: an impersonated user has all added groups");
  const resource = word === undefined ? undefined : listable(word, context);
  await assertViews(context.client);
  // Groups that the server adds are not requested: each requested group needs the right to impersonate it.
  const requested = context.groups.length === 0 ? [] : subject.groups;
  const impersonated = context.client.as(subject.user, requested);
  const who = `visible to ${subject.user} (${subject.groups.join(", ")})`;
  const callers = { ...context, impersonated };
  try {
    if (resource !== undefined) return await namesAnswer(resource, { subject, who }, callers);
    return await countsAnswer({ subject, who }, callers);
  } finally {
    impersonated.close();
  }
}

/** The user of an answer. */
interface Target {
  readonly subject: { readonly user: string; readonly groups: readonly string[] };
  /** Text such as `visible to ann (staff)`. */
  readonly who: string;
}

async function namesAnswer(
  resource: KnownResource,
  { subject, who }: Target,
  callers: Callers,
): Promise<AuthAnswer> {
  const { limit, client, impersonated } = callers;
  const namespace = resource.namespaced ? callers.namespace : "";
  const path = pathOf(resource, namespace);
  const objects: { namespace?: string; name: string }[] = [];
  let token = "";
  do {
    const part = Math.min(pageSize, limit - objects.length);
    const { items, metadata } = await page(impersonated, `${path}?view=mine`, part, token);
    for (const { metadata: one } of items)
      objects.push({ ...(resource.namespaced && { namespace: one.namespace ?? "" }), name: one.name });
    token = metadata.continue ?? "";
  } while (token !== "" && objects.length < limit);
  const total = await totalOf(client, path);
  const more = token !== "";
  const { group, name } = resource;
  const object = {
    ...subject,
    namespace,
    group,
    resource: name,
    objects,
    ...(more && { more }),
    ...(total !== undefined && { total: total.count }),
  };
  const head = `${qualifiedName(name, group)} ${who}${scopeText(resource.namespaced, namespace)}`;
  const all = total === undefined ? "" : ` of ${countText(total)}`;
  const summary = `${head}: ${more ? "the first " : ""}${objects.length}${all}\n`;
  const hasNamespaces = resource.namespaced && namespace === "";
  const table =
    objects.length === 0
      ? ""
      : columns(
          hasNamespaces ? ["NAMESPACE", "NAME"] : ["NAME"],
          objects.map((one) => (hasNamespaces ? [one.namespace!, one.name] : [one.name])),
        );
  return { object, text: `${summary}${table}${more ? "there are more: see --limit\n" : ""}` };
}

async function countsAnswer({ subject, who }: Target, callers: Callers): Promise<AuthAnswer> {
  const { namespace, table } = callers;
  const resources = table.resources.filter(
    ({ verbs, namespaced }) => verbs.includes("list") && (namespaced || namespace === ""),
  );
  const rows: VisibleRow[] = [];
  const refusals: ClientError[] = [];
  for (let from = 0; from < resources.length; from += concurrentCounts) {
    const part = resources.slice(from, from + concurrentCounts);
    rows.push(...(await Promise.all(part.map((one) => rowOf(one, callers, refusals)))));
  }
  // Views of the server's own types are never refused; if all are, the caller may not impersonate the user.
  if (refusals.length > 0 && refusals.length === rows.length) throw refusals[0]!;
  const object = { ...subject, namespace, resources: rows };
  return { object, text: `${who}${scopeText(true, namespace)}:\n${countsText(rows)}` };
}

/** @param refusals gets the error of a view that is refused, such as one of an extension server. */
async function rowOf(
  resource: KnownResource,
  { client, impersonated, namespace }: Callers,
  refusals: ClientError[],
): Promise<VisibleRow> {
  const { group, name } = resource;
  const path = pathOf(resource, resource.namespaced ? namespace : "");
  const total = await totalOf(client, path);
  const row = { group, resource: name, ...(total !== undefined && { total: total.count }) };
  try {
    const { count, isMinimum } = await countOf(impersonated, `${path}?view=mine`, pageSize);
    return { ...row, visible: count, ...(isMinimum && { moreVisible: true }) };
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 403) throw error;
    refusals.push(error);
    return { ...row, error: error.message };
  }
}

function countsText(rows: readonly VisibleRow[]): string {
  const name = ({ resource, group }: VisibleRow): string => qualifiedName(resource, group);
  const listed = rows.filter(
    ({ visible: count = 0, total = 0, error }) => count > 0 || total > 0 || error !== undefined,
  );
  const table = columns(
    ["RESOURCE", "VISIBLE", "ALL"],
    listed.map((row) => {
      const { visible: count, moreVisible = false, total, error } = row;
      const cell = error === undefined ? countText({ count: count ?? 0, isMinimum: moreVisible }) : "no view";
      return [name(row), cell, total === undefined ? "-" : `${total}`];
    }),
  );
  const others = rows.length - listed.length;
  const rest =
    others === 0 ? "" : `nothing is visible of ${others} other resource${others === 1 ? "" : "s"}\n`;
  const notes = listed.flatMap((row) =>
    row.error === undefined ? [] : [`note: ${name(row)}: ${row.error}\n`],
  );
  return `${listed.length === 0 ? "" : table}${rest}${notes.join("")}`;
}

/** Returns the number of all objects; undefined if the caller may not list them. */
async function totalOf(client: ServerClient, path: string): Promise<Count | undefined> {
  try {
    return await countOf(client, `${path}?`, 1);
  } catch (error) {
    if (error instanceof ClientError && error.status === 403) return undefined;
    throw error;
  }
}

/**
 * Counts the objects of a list.
 *
 * @param firstPage objects of the first page. Only a view with hidden objects needs further pages: other lists tell how many remain.
 */
async function countOf(client: ServerClient, path: string, firstPage: number): Promise<Count> {
  let count = 0;
  let token = "";
  do {
    const { items, metadata } = await page(client, path, token === "" ? firstPage : pageSize, token);
    count += items.length;
    token = metadata.continue ?? "";
    if (metadata.remainingItemCount !== undefined)
      return { count: count + metadata.remainingItemCount, isMinimum: false };
  } while (token !== "" && count < maxCounted);
  return { count, isMinimum: token !== "" };
}

async function page(client: ServerClient, path: string, limit: number, token: string): Promise<MetadataPage> {
  const further = token === "" ? "" : `&continue=${encodeURIComponent(token)}`;
  return (await client.listMetadata(`${path}&limit=${limit}${further}`)) as unknown as MetadataPage;
}

/** @throws {ClientError} if the server ignores the parameter `view`. */
async function assertViews(client: ServerClient): Promise<void> {
  let views: unknown;
  try {
    views = (await client.get("/openapi/extensions"))["listViews"];
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 404) throw error;
  }
  if (Array.isArray(views) && views.includes("mine")) return;
  throw new ClientError("this server can't list what a user may see: it has no lists with view=mine");
}

/** @throws {UsageError} if the server doesn't serve it or has no lists of it. */
function listable(word: string, { table }: AuthContext): KnownResource {
  const resource = servedResource(word, table);
  if (resource.verbs.includes("list")) return resource;
  throw new UsageError(`${resource.name} can't be listed; its verbs are ${resource.verbs.join(", ")}`);
}

function pathOf({ groupVersion, name }: KnownResource, namespace: string): string {
  const root = groupVersion.includes("/") ? "/apis" : "/api";
  const scope = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}/${groupVersion}${scope}/${name}`;
}

function scopeText(isNamespaced: boolean, namespace: string): string {
  if (!isNamespaced) return "";
  return namespace === "" ? " in every namespace" : ` in the namespace ${namespace}`;
}

function countText({ count, isMinimum }: Count): string {
  return isMinimum ? `more than ${count}` : `${count}`;
}
