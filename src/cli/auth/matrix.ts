import { qualifiedName } from "../../base/object-errors.ts";
import type { CheckResult } from "../../authorization/reviews/bulk.ts";
import { maxChecks } from "../../kinds/insight/bulk-access-review.ts";
import { ClientError } from "../client/client-error.ts";
import type { Answer } from "../client/server-client.ts";
import type { KnownResource } from "../client/resource-table.ts";
import { columns } from "./columns.ts";
import { requestVerbs, servedResource } from "./unknown-names.ts";
import { askInsight, attributesOf, subjectOf, type AuthAnswer, type AuthContext } from "./question.ts";

/** The verbs of one resource that a user may use. */
interface MatrixRow {
  readonly group: string;
  readonly resource: string;
  /** The resource's verbs that are allowed for every name, for some names, and for none. */
  readonly allowed: string[];
  readonly allowedForNames: NamedVerb[];
  readonly refused: string[];
  /** For all namespaces: the verbs that are allowed in some of them only. */
  readonly inNamespaces?: readonly NamespacedVerbs[];
}

/** Verbs that are allowed in single namespaces. */
interface NamespacedVerbs {
  readonly verbs: readonly string[];
  readonly namespaces: readonly string[];
}

/** Maximum number of namespaces that are asked about one by one. */
const maxNamespaces = 200;

/** A verb of a resource to check. */
interface Check {
  readonly resource: KnownResource;
  readonly verb: string;
  readonly namespace: string;
}

/** A verb that is allowed for some names. */
interface NamedVerb {
  readonly verb: string;
  readonly names: readonly string[];
  /** Whether the server omitted names. */
  readonly moreNames?: boolean;
}

/**
 * `plinth auth matrix USER [RESOURCE...]`: a BulkAccessReview of every verb of every resource; for all namespaces also of each of them, where
 * not everything is allowed.
 */
export async function matrix([user, ...words]: readonly string[], context: AuthContext): Promise<AuthAnswer> {
  const subject = subjectOf(user, context);
  const { namespace } = context;
  const resources =
    words.length === 0 ? everything(context) : words.map((word) => servedResource(word, context.table));
  const checks = resources.flatMap((resource) =>
    requestVerbs
      .filter((verb) => resource.verbs.includes(verb))
      .map((verb) => ({ resource, verb, namespace: resource.namespaced ? namespace : "" })),
  );
  const rows = new Map<KnownResource, MatrixRow>();
  for (const [{ resource, verb }, { allowed, names = [], moreNames }] of await review(
    checks,
    subject,
    context,
  )) {
    const row = rows.get(resource) ?? {
      group: resource.group,
      resource: resource.name,
      allowed: [],
      allowedForNames: [],
      refused: [],
    };
    rows.set(resource, row);
    if (allowed) row.allowed.push(verb);
    else if (names.length > 0)
      row.allowedForNames.push({ verb, names, ...(moreNames === true && { moreNames }) });
    else row.refused.push(verb);
  }
  const { granted, note } =
    namespace === ""
      ? await grantedInNamespaces(rows, subject, context)
      : { granted: new Map<KnownResource, readonly NamespacedVerbs[]>(), note: "" };
  const all = [...rows].map(([resource, row]) => {
    const inNamespaces = granted.get(resource);
    return inNamespaces === undefined ? row : { ...row, inNamespaces };
  });
  const text = matrixText(all, words.length === 0) + note;
  return { object: { ...subject, namespace, resources: all }, text };
}

/** Asks the server about verbs of resources. */
async function review(
  checks: readonly Check[],
  subject: object,
  context: AuthContext,
): Promise<(readonly [Check, CheckResult])[]> {
  const answers: (readonly [Check, CheckResult])[] = [];
  for (let from = 0; from < checks.length; from += maxChecks) {
    const part = checks.slice(from, from + maxChecks);
    const questions = part.map(({ resource: { group, name }, verb, namespace }) => {
      const resourceAttributes = attributesOf(verb, { group, resource: name, subresource: "" }, namespace);
      return { subject: { ...subject, resourceAttributes } };
    });
    const spec = { checks: questions, listNames: true };
    const object = await askInsight(context, "BulkAccessReview", "bulkaccessreviews", spec);
    const { results } = object["status"] as { results: readonly CheckResult[] };
    answers.push(...part.map((check, index) => [check, results[index]!] as const));
  }
  return answers;
}

/** Returns the verbs that are allowed in single namespaces, by resource, and a note if not all namespaces were asked about. */
async function grantedInNamespaces(
  rows: ReadonlyMap<KnownResource, MatrixRow>,
  subject: object,
  context: AuthContext,
): Promise<{ granted: ReadonlyMap<KnownResource, readonly NamespacedVerbs[]>; note: string }> {
  const list = await namespacesOf(context);
  if (list instanceof ClientError)
    return { granted: new Map(), note: `namespaces were not asked about one by one: ${list.message}\n` };
  const { items, metadata } = list as unknown as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
    readonly metadata: { readonly continue?: string };
  };
  const open = [...rows].filter(([{ namespaced }]) => namespaced);
  const checks = items.flatMap(({ metadata: { name: namespace } }) =>
    open.flatMap(([resource, { refused }]) => refused.map((verb) => ({ resource, verb, namespace }))),
  );
  const verbsIn = new Map<KnownResource, Map<string, string[]>>();
  for (const [{ resource, verb, namespace }, { allowed }] of await review(checks, subject, context)) {
    if (!allowed) continue;
    const byNamespace = verbsIn.get(resource) ?? new Map<string, string[]>();
    verbsIn.set(resource, byNamespace);
    byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), verb]);
  }
  const granted = new Map(
    [...verbsIn].map(([resource, byNamespace]) => [resource, groupedByVerbs(byNamespace)]),
  );
  const hasMore = (metadata.continue ?? "") !== "";
  return { granted, note: hasMore ? `only the first ${maxNamespaces} namespaces were asked about\n` : "" };
}

/** Returns the first namespaces, or the error of a caller who may not list them. */
async function namespacesOf({ client }: AuthContext): Promise<Answer | ClientError> {
  try {
    return await client.listMetadata(`/api/v1/namespaces?limit=${maxNamespaces}`);
  } catch (error) {
    if (error instanceof ClientError && error.status === 403) return error;
    throw error;
  }
}

/** Groups namespaces with the same verbs. */
function groupedByVerbs(byNamespace: ReadonlyMap<string, readonly string[]>): NamespacedVerbs[] {
  const groups = new Map<string, { verbs: readonly string[]; namespaces: string[] }>();
  for (const [namespace, verbs] of byNamespace) {
    const key = verbs.join(" ");
    const group = groups.get(key) ?? { verbs, namespaces: [] };
    groups.set(key, group);
    group.namespaces.push(namespace);
  }
  return [...groups.values()];
}

/** Returns all namespaced resources for a namespace, otherwise all resources. */
function everything({ table, namespace }: AuthContext): readonly KnownResource[] {
  return namespace === "" ? table.resources : table.resources.filter(({ namespaced }) => namespaced);
}

/** @param short whether resources without allowed verbs are only counted. */
function matrixText(rows: readonly MatrixRow[], short: boolean): string {
  const visible = short
    ? rows.filter(
        ({ allowed, allowedForNames, inNamespaces = [] }) =>
          allowed.length + allowedForNames.length + inNamespaces.length > 0,
      )
    : rows;
  const cell = ({ allowed, allowedForNames, refused, inNamespaces }: MatrixRow, verb: string): string => {
    if (allowed.includes(verb)) return "yes";
    if (inNamespaces?.some(({ verbs }) => verbs.includes(verb)) === true) return "some namespaces";
    if (allowedForNames.some((one) => one.verb === verb)) return "some names";
    return refused.includes(verb) ? "no" : "-";
  };
  const name = ({ group, resource }: MatrixRow): string => qualifiedName(resource, group);
  const table = columns(
    ["RESOURCE", ...requestVerbs.map((verb) => verb.toUpperCase())],
    visible.map((row) => [name(row), ...requestVerbs.map((verb) => cell(row, verb))]),
  );
  const names = visible.flatMap((row) => namesLines(name(row), row.allowedForNames));
  const some = names.length === 0 ? "" : `\nsome names:\n${names.map((line) => `  ${line}\n`).join("")}`;
  const namespaces = visible.flatMap((row) => namespacesLines(name(row), row.inNamespaces ?? []));
  const single =
    namespaces.length === 0 ? "" : `\nsome namespaces:\n${namespaces.map((line) => `  ${line}\n`).join("")}`;
  const others = rows.length - visible.length;
  const rest =
    others === 0 ? "" : `nothing is allowed on ${others} other resource${others === 1 ? "" : "s"}\n`;
  return `${visible.length === 0 ? "" : table}${rest}${some}${single}`;
}

/** Returns a line for each set of verbs with the namespaces in which they are allowed. */
function namespacesLines(resource: string, groups: readonly NamespacedVerbs[]): string[] {
  return groups.map(({ verbs, namespaces }) => `${verbs.join(", ")} ${resource}: ${namespaces.join(", ")}`);
}

/** Returns a line for each set of names with the verbs allowed for them. */
function namesLines(resource: string, verbsForNames: readonly NamedVerb[]): string[] {
  const byNames = new Map<string, string[]>();
  for (const { verb, names, moreNames } of verbsForNames) {
    const text = `${names.join(", ")}${moreNames === true ? " and more" : ""}`;
    byNames.set(text, [...(byNames.get(text) ?? []), verb]);
  }
  return [...byNames].map(([names, own]) => `${own.join(", ")} ${resource}: ${names}`);
}
