import { qualifiedName } from "../../base/object-errors.ts";
import { similarName } from "../../base/similar-name.ts";
import type { CheckResult } from "../../authorization/reviews/bulk.ts";
import { maxChecks } from "../../kinds/insight/bulk-access-review.ts";
import type { KnownResource } from "../client/resource-table.ts";
import { UsageError } from "../flags/flag-reader.ts";
import { columns } from "./columns.ts";
import { requestVerbs } from "./unknown-names.ts";
import { askInsight, attributesOf, subjectOf, type AuthAnswer, type AuthContext } from "./question.ts";

/** The verbs of one resource that a user may use. */
interface MatrixRow {
  readonly group: string;
  readonly resource: string;
  /** The resource's verbs that are allowed for every name, for some names, and for none. */
  readonly allowed: string[];
  readonly allowedForNames: NamedVerb[];
  readonly refused: string[];
}

/** A verb that is allowed for some names. */
interface NamedVerb {
  readonly verb: string;
  readonly names: readonly string[];
  /** Whether the server omitted names. */
  readonly moreNames?: boolean;
}

/** `plinth auth matrix USER [RESOURCE...]`: a BulkAccessReview of every verb of every resource. */
export async function matrix([user, ...words]: readonly string[], context: AuthContext): Promise<AuthAnswer> {
  const subject = subjectOf(user, context);
  const { namespace } = context;
  const resources = words.length === 0 ? everything(context) : words.map((word) => served(word, context));
  const checked = resources.flatMap((resource) => {
    const place = resource.namespaced ? namespace : "";
    const whole = { group: resource.group, resource: resource.name, subresource: "" };
    const own = requestVerbs.filter((verb) => resource.verbs.includes(verb));
    return own.map((verb) => ({ resource, verb, resourceAttributes: attributesOf(verb, whole, place) }));
  });
  const rows = new Map<KnownResource, MatrixRow>();
  for (let from = 0; from < checked.length; from += maxChecks) {
    const part = checked.slice(from, from + maxChecks);
    const checks = part.map(({ resourceAttributes }) => ({ subject: { ...subject, resourceAttributes } }));
    const object = await askInsight(context, "BulkAccessReview", "bulkaccessreviews", {
      checks,
      listNames: true,
    });
    const { results } = object["status"] as { results: readonly CheckResult[] };
    for (const [index, { resource, verb }] of part.entries()) {
      const row = rows.get(resource) ?? {
        group: resource.group,
        resource: resource.name,
        allowed: [],
        allowedForNames: [],
        refused: [],
      };
      rows.set(resource, row);
      const { allowed, names = [], moreNames } = results[index]!;
      if (allowed) row.allowed.push(verb);
      else if (names.length > 0)
        row.allowedForNames.push({ verb, names, ...(moreNames === true && { moreNames }) });
      else row.refused.push(verb);
    }
  }
  const all = [...rows.values()];
  return { object: { ...subject, namespace, resources: all }, text: matrixText(all, words.length === 0) };
}

/** Returns all namespaced resources for a namespace, otherwise all resources. */
function everything({ table, namespace }: AuthContext): readonly KnownResource[] {
  return namespace === "" ? table.resources : table.resources.filter(({ namespaced }) => namespaced);
}

function served(word: string, { table }: AuthContext): KnownResource {
  const { known, subresource } = table.find(word);
  if (known === undefined || subresource !== "") {
    const similar = similarName(
      word.split("/")[0]!,
      table.resources.map(({ name }) => name),
    );
    const suggested = similar === undefined || similar === word ? "" : `; did you mean ${similar}?`;
    throw new UsageError(`${JSON.stringify(word)} is no resource that this server serves${suggested}`);
  }
  return known;
}

/** @param short whether resources without allowed verbs are only counted. */
function matrixText(rows: readonly MatrixRow[], short: boolean): string {
  const visible = short
    ? rows.filter(({ allowed, allowedForNames }) => allowed.length + allowedForNames.length > 0)
    : rows;
  const cell = ({ allowed, allowedForNames, refused }: MatrixRow, verb: string): string => {
    if (allowed.includes(verb)) return "yes";
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
  const others = rows.length - visible.length;
  const rest =
    others === 0 ? "" : `nothing is allowed on ${others} other resource${others === 1 ? "" : "s"}\n`;
  return `${visible.length === 0 ? "" : table}${rest}${some}`;
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
