import { SortedMap } from "../../base/collections/sorted-map.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { SubjectKey } from "./bound-subject.ts";
import type { SubjectScopes } from "./subject-scopes.ts";

/** A subject; the namespace is empty except for a service account. */
export interface SubjectName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Number of subjects that are inserted between two calls of `yieldIfDue`. */
const subjectsPerStep = 64;

/** Orders subjects by kind, namespace and name. */
export function compareSubjects(one: SubjectName, other: SubjectName): number {
  if (one.kind !== other.kind) return one.kind < other.kind ? -1 : 1;
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}

/** Returns the subject for a user or group. A user with the name of a service account becomes a ServiceAccount. */
export function subjectName({ isGroup, name }: SubjectKey, systemPrefix: string): SubjectName {
  if (isGroup) return { kind: "Group", namespace: "", name };
  const accounts = `${systemPrefix}serviceaccount:`;
  const colon = name.indexOf(":", accounts.length);
  if (!name.startsWith(accounts) || colon <= accounts.length || colon === name.length - 1) {
    return { kind: "User", namespace: "", name };
  }
  return {
    kind: "ServiceAccount",
    namespace: name.slice(accounts.length, colon),
    name: name.slice(colon + 1),
  };
}

/** The sorted subjects of all bindings, built at the first call of {@link SubjectDirectory.ready}. */
export class SubjectDirectory {
  private tree: SortedMap<SubjectName, SubjectScopes> | undefined;
  private filling: Promise<void> | undefined;

  /** @param allSubjects returns the current subjects of bindings. */
  constructor(
    private readonly systemPrefix: string,
    private readonly allSubjects: () => Iterable<SubjectScopes>,
  ) {}

  /** Adds a subject after its first binding was added. */
  added(scopes: SubjectScopes): void {
    this.tree?.set(subjectName(scopes, this.systemPrefix), scopes);
  }

  /** Removes a subject after its last binding was removed. */
  removed(scopes: SubjectScopes): void {
    this.tree?.delete(subjectName(scopes, this.systemPrefix));
  }

  /** Resolves when the directory contains all subjects. */
  ready(yieldIfDue: YieldIfDue): Promise<void> {
    return (this.filling ??= this.fill(yieldIfDue));
  }

  /** Returns up to `count` subjects after the given one (undefined: from the first). */
  after(subject: SubjectName | undefined, count: number): (readonly [SubjectName, SubjectScopes])[] {
    const result: (readonly [SubjectName, SubjectScopes])[] = [];
    const { tree } = this;
    if (tree === undefined) throw new Error("the directory isn't ready");
    for (const [name, scopes] of tree.entries(subject)) {
      if (result.length === count) break;
      if (subject === undefined || compareSubjects(subject, name) < 0) result.push([name, scopes]);
    }
    return result;
  }

  private async fill(yieldIfDue: YieldIfDue): Promise<void> {
    const tree = (this.tree = new SortedMap<SubjectName, SubjectScopes>(undefined, compareSubjects));
    let steps = 0;
    for (const scopes of this.allSubjects()) {
      tree.set(subjectName(scopes, this.systemPrefix), scopes);
      if (++steps % subjectsPerStep === 0) await yieldIfDue();
    }
  }
}
