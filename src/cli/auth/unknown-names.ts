import { qualifiedName } from "../../base/object-errors.ts";
import { similarName } from "../../base/similar-name.ts";
import type { KnownResource, NamedResource, ResourceTable } from "../client/resource-table.ts";
import { UsageError } from "../flags/flag-reader.ts";

/** The verbs of requests for resources. */
export const requestVerbs = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
] as const;

/** Verbs of rights that no request has by itself; admission and impersonation check them. */
const rightVerbs = ["*", "approve", "attest", "bind", "escalate", "impersonate", "sign", "use"];

/** An action of the command line. */
interface NamedAction {
  readonly verb: string;
  readonly target: NamedResource;
  /** The resource as it was written. */
  readonly word: string;
  /** Whether the server's answer names an unknown resource; only a suggestion is added then. */
  readonly isExplained: boolean;
}

/** Returns a note for a resource or a verb that the server doesn't have, which rules may name all the same; empty if it has both. */
export function notesOn({ verb, target, word, isExplained }: NamedAction, table: ResourceTable): string {
  const { known, subresource } = target;
  const notes: string[] = [];
  const isRequestVerb = requestVerbs.some((one) => one === verb);
  // Rights such as impersonate are about names that are no resources: users, groups, signers.
  const isRightVerb = rightVerbs.includes(verb) || /[-:]/.test(verb);
  const isAny = target.resource === "*" || target.group === "*";
  if (known === undefined && !isAny && !(isRightVerb && verb !== "*")) {
    const names = table.resources.flatMap(({ name, group }) => [name, qualifiedName(name, group)]);
    const similar = suggestion(word.split("/")[0]!, names);
    if (!isExplained || similar !== "")
      notes.push(`this server has no resource ${JSON.stringify(word)}${similar}`);
  }
  if (!isRequestVerb && !isRightVerb) {
    notes.push(
      `there is no verb ${JSON.stringify(verb)}${suggestion(verb, [...requestVerbs, ...rightVerbs])}`,
    );
  } else if (isRequestVerb && known !== undefined && subresource === "" && !known.verbs.includes(verb)) {
    notes.push(
      `${known.name} has no requests with the verb ${verb}; its verbs are ${known.verbs.join(", ")}`,
    );
  }
  return notes.map((note) => `note: ${note}\n`).join("");
}

/**
 * Returns a resource type of the server.
 *
 * @throws {UsageError} if the server doesn't serve it, or if it is a subresource.
 */
export function servedResource(word: string, table: ResourceTable): KnownResource {
  const { known, subresource } = table.find(word);
  if (known !== undefined && subresource === "") return known;
  const similar = similarName(
    word.split("/")[0]!,
    table.resources.map(({ name }) => name),
  );
  const suggested = similar === undefined || similar === word ? "" : `; did you mean ${similar}?`;
  throw new UsageError(`${JSON.stringify(word)} is no resource that this server serves${suggested}`);
}

function suggestion(word: string, candidates: readonly string[]): string {
  const similar = similarName(word, candidates);
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}
