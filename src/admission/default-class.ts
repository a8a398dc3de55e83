import type { ApiObject } from "../schema/kind.ts";
import type { Target } from "../resources/engine/engine.ts";
import type { VocabularyBehavior } from "../vocabulary/behavior.ts";
import { forbidden } from "./forbidden.ts";

/** What decides which class is the default one. */
export interface DefaultClassFacts {
  readonly name: string;
  readonly isDefault: boolean;
  /** In milliseconds since 1970. */
  readonly createdMs: number;
}

/** @param marks annotations of which one with the value "true" makes a class a default class. */
export function defaultClassFacts({ metadata }: ApiObject, marks: readonly string[]): DefaultClassFacts {
  return {
    name: metadata.name!,
    isDefault: marks.some((mark) => metadata.annotations?.[mark] === "true"),
    createdMs: Date.parse(metadata.creationTimestamp ?? ""),
  };
}

/**
 * The default class among all classes (spec: conventions 4.13); undefined where none is marked.
 *
 * @param target the object that is being created.
 * @param kind of the classes.
 * @throws {StatusError} Forbidden where several are marked, unless the vocabulary takes the newest.
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

/** Classes of one second are in the order of their names. */
function newestFirst(one: DefaultClassFacts, other: DefaultClassFacts): number {
  return other.createdMs - one.createdMs || (one.name < other.name ? -1 : 1);
}
