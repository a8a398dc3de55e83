import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import type { AcceptedNames, OtherNames } from "./reserved-names.ts";

/** The accepted names of a definition, and the reason why others are not accepted. */
export interface Naming {
  readonly accepted: AcceptedNames;
  /** The last conflict; undefined if all names are accepted. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Accepts the names of a definition that no other definition of its group has. A name with a conflict doesn't replace the accepted one.
 *
 * @param others the accepted names of the other definitions of the group.
 */
export function acceptNames({ spec, status }: CustomResourceDefinition, others: OtherNames): Naming {
  const { names } = spec;
  const before = status?.acceptedNames;
  const accepted: Record<string, unknown> = { plural: "", kind: "", ...before };
  let conflict: Naming["conflict"];
  const accept = (member: keyof AcceptedNames, reason: string, used: string | undefined): void => {
    if (used !== undefined) {
      conflict = { reason, message: `${JSON.stringify(used)} is already in use` };
    } else if (names[member] === undefined) delete accepted[member];
    else accepted[member] = names[member];
  };
  const resource = (name = ""): string | undefined =>
    name !== "" && others.hasResource(name) ? name : undefined;
  const kind = (name = ""): string | undefined => (name !== "" && others.hasKind(name) ? name : undefined);
  accept("plural", "PluralConflict", resource(names.plural));
  accept("singular", "SingularConflict", resource(names.singular));
  accept(
    "shortNames",
    "ShortNamesConflict",
    names.shortNames?.find((name) => others.hasResource(name)),
  );
  accept("kind", "KindConflict", kind(names.kind));
  accept("listKind", "ListKindConflict", kind(names.listKind));
  accept("categories", "", undefined);
  return { accepted: accepted as AcceptedNames, conflict };
}
