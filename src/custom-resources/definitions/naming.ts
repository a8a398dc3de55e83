import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import type { AcceptedNames, OtherNames } from "./reserved-names.ts";

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
 * @param others what others of the group have.
 */
export function acceptNames({ spec, status }: CustomResourceDefinition, others: OtherNames): Naming {
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
  const resource = (name = ""): string | undefined =>
    name !== "" && others.hasResource(name) ? name : undefined;
  const kind = (name = ""): string | undefined => (name !== "" && others.hasKind(name) ? name : undefined);
  take("plural", "PluralConflict", resource(names.plural));
  take("singular", "SingularConflict", resource(names.singular));
  take(
    "shortNames",
    "ShortNamesConflict",
    names.shortNames?.find((name) => others.hasResource(name)),
  );
  take("kind", "KindConflict", kind(names.kind));
  take("listKind", "ListKindConflict", kind(names.listKind));
  take("categories", "", undefined);
  return { accepted: accepted as AcceptedNames, conflict };
}
