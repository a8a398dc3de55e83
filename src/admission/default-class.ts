import type { ApiObject } from "../schema/kind.ts";
import type { Target } from "../resources/engine/engine.ts";
import type { VocabularyBehavior } from "../vocabulary/behavior.ts";
import { forbidden } from "./forbidden.ts";

/** The attributes of a class that decide about the default class. */
export interface DefaultClassFacts {
  readonly name: string;
  readonly isDefault: boolean;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
}

/** @param marks annotations; the value "true" of any of them makes the class a default class. */
export function defaultClassFacts({ metadata }: ApiObject, marks: readonly string[]): DefaultClassFacts {
  return {
    name: metadata.name!,
    isDefault: marks.some((mark) => metadata.annotations?.[mark] === "true"),
    createdMs: Date.parse(metadata.creationTimestamp ?? ""),
  };
}

/**
 * Returns the default class (spec: conventions 4.13); undefined if no class is marked.
 *
 * @param target the object that is being created, for the error.
 * @param kind the kind of the classes, for the error.
 * @throws {StatusError} Forbidden: several classes are marked, unless the vocabulary chooses the newest.
 */
export function defaultClassOf(
  classes: readonly DefaultClassFacts[],
  target: Target,
  kind: string,
  { newestDefaultClass }: VocabularyBehavior,
): DefaultClassFacts | undefined {
  const defaults = classes.filter(({ isDefault }) => isDefault);
  if (defaults.length > 1 && !newestDefaultClass) {
    throw forbidden(target, `${defaults.length} default ${kind}es were found; at most one may be marked`);
  }
  return defaults.toSorted(newestFirst).at(0);
}

/** Classes with the same creation time are sorted by name. */
function newestFirst(one: DefaultClassFacts, other: DefaultClassFacts): number {
  return other.createdMs - one.createdMs || (one.name < other.name ? -1 : 1);
}
