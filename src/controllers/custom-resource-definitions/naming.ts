import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";

/** Names under which a kind is served. */
export type AcceptedNames = NonNullable<NonNullable<CustomResourceDefinition["status"]>["acceptedNames"]>;

/** Whether a definition's names were accepted, and why not. */
export interface Naming {
  readonly accepted: AcceptedNames;
  /** The last conflict; undefined where there is none. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Which names of a definition are accepted: those that no other definition of its group has been given. What was accepted
 * before stays where the new name is taken.
 *
 * @param others names that others of the group have.
 */
export function acceptNames(
  { spec, status }: CustomResourceDefinition,
  others: readonly AcceptedNames[],
): Naming {
  const resources = new Set(
    others.flatMap(({ plural, singular = "", shortNames }) => [plural, singular, ...(shortNames ?? [])]),
  );
  const kinds = new Set(others.flatMap(({ kind, listKind = "" }) => [kind, listKind]));
  const { names } = spec;
  const before = status?.acceptedNames;
  const accepted: Record<string, unknown> = { plural: "", kind: "", ...before };
  let conflict: Naming["conflict"];
  const take = (member: keyof AcceptedNames, reason: string, taken: string | undefined): void => {
    if (taken !== undefined) {
      conflict = { reason, message: `${JSON.stringify(taken)} is already in use` };
    } else if (names[member] === undefined) delete accepted[member];
    else accepted[member] = names[member];
  };
  const among = (set: ReadonlySet<string>, name: string | undefined): string | undefined =>
    name !== undefined && name !== "" && set.has(name) ? name : undefined;
  take("plural", "PluralConflict", among(resources, names.plural));
  take("singular", "SingularConflict", among(resources, names.singular));
  take(
    "shortNames",
    "ShortNamesConflict",
    names.shortNames?.find((name) => resources.has(name)),
  );
  take("kind", "KindConflict", among(kinds, names.kind));
  take("listKind", "ListKindConflict", among(kinds, names.listKind));
  take("categories", "", undefined);
  return { accepted: accepted as AcceptedNames, conflict };
}
