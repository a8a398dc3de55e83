import { SortedMap } from "../../base/sorted-map.ts";
import type { YieldIfDue } from "../../base/yielding.ts";
import type { SubjectKey } from "./bound-subject.ts";
import type { SubjectScopes } from "./subject-scopes.ts";

/** A subject, with an empty namespace where it has none. */
export interface SubjectName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Subjects that are sorted between two looks at the clock. */
const subjectsAStep = 64;

/** Orders subjects by kind, namespace and name. */
export function compareSubjects(one: SubjectName, other: SubjectName): number {
  if (one.kind !== other.kind) return one.kind < other.kind ? -1 : 1;
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}

/** A user or group as subjects name them: a user who is spelled as a service account is one. */
export function nameOf({ isGroup, name }: SubjectKey, systemPrefix: string): SubjectName {
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

/** All subjects of bindings, sorted. It is built at the first question. */
export class SubjectDirectory {
  private tree: SortedMap<SubjectName, SubjectScopes> | undefined;
  private filling: Promise<void> | undefined;

  /** @param everybody those whom bindings name now. */
  constructor(
    private readonly systemPrefix: string,
    private readonly everybody: () => Iterable<SubjectScopes>,
  ) {}

  /** Adds a subject that a binding names for the first time. */
  added(scopes: SubjectScopes): void {
    this.tree?.set(nameOf(scopes, this.systemPrefix), scopes);
  }

  /** Removes a subject that no binding names any more. */
  removed(scopes: SubjectScopes): void {
    this.tree?.delete(nameOf(scopes, this.systemPrefix));
  }

  /** Whether questions find everybody in it; else they have to wait for {@link SubjectDirectory.ready}. */
  ready(yieldIfDue: YieldIfDue): Promise<void> {
    return (this.filling ??= this.fill(yieldIfDue));
  }

  /** The next so many after a subject (undefined: from the first). */
  after(subject: SubjectName | undefined, count: number): (readonly [SubjectName, SubjectScopes])[] {
    const found: (readonly [SubjectName, SubjectScopes])[] = [];
    const { tree } = this;
    if (tree === undefined) throw new Error("the directory isn't ready");
    for (const [name, scopes] of tree.entries(subject)) {
      if (found.length === count) break;
      if (subject === undefined || compareSubjects(subject, name) < 0) found.push([name, scopes]);
    }
    return found;
  }

  private async fill(yieldIfDue: YieldIfDue): Promise<void> {
    const tree = (this.tree = new SortedMap<SubjectName, SubjectScopes>(undefined, compareSubjects));
    let steps = 0;
    for (const scopes of this.everybody()) {
      tree.set(nameOf(scopes, this.systemPrefix), scopes);
      if (++steps % subjectsAStep === 0) await yieldIfDue();
    }
  }
}
