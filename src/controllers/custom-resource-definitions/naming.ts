import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import type { AcceptedNames, OtherNames } from "./taken-names.ts";

/** The accepted names of a definition, and the conflict if there is one. */
export interface Naming {
  readonly accepted: AcceptedNames;
  /** The last conflict; undefined if there is none. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Accepts the names of a definition that no other definition of its group has. A name that is in use elsewhere keeps
 * its previously accepted value.
 *
 * @param others the accepted names of other definitions of the group.
 */
export function acceptNames({ spec, status }: CustomResourceDefinition, others: OtherNames): Naming {
  const { names } = spec;
  const before = status?.acceptedNames;
  const accepted: Record<string, unknown> = { plural: "", kind: "", ...before };
  let conflict: Naming["conflict"];
  const accept = (member: keyof AcceptedNames, reason: string, taken: string | undefined): void => {
    if (taken !== undefined) {
      conflict = { reason, message: `${JSON.stringify(taken)} is already in use` };
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
