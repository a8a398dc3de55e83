import { isAnswered, type Answer, type History, type Operation, type State } from "../history.ts";
import { Timeline } from "./timeline.ts";

/** What happened in one workspace, or outside of workspaces. */
export interface Part {
  /** Name of the workspace; undefined outside of workspaces. */
  readonly workspace: string | undefined;
  /** Begins with the state with which the workspace began. */
  readonly history: History;
  readonly timeline: Timeline;
  /** The part from which the workspace branched. */
  readonly base: Part | undefined;
}

/** An operation that created a branch. */
export type Branching = Operation & {
  readonly request: Extract<Operation["request"], { verb: "branch" }>;
  readonly answer: Extract<Answer, { outcome: "branched" }>;
};

/**
 * Divides a history by workspaces. The initial state of a branch is that of its base at the revision of the branch, whatever clients saw
 * in the branch. Branches whose creation wasn't answered are left out: nobody uses them.
 */
export function partsOf(history: History): Part[] {
  const operations = byWorkspace(history.operations);
  const watches = byWorkspace(history.watches);
  /** They remove the history of all workspaces. */
  const compactions = history.operations.filter(({ request }) => request.verb === "compact");
  const part = (workspace: string | undefined, initial: State, base?: Part): Part => {
    const own = operations.get(workspace) ?? [];
    const one: History = {
      ...history,
      initial,
      workspaces: {},
      operations: workspace === undefined ? own : [...own, ...compactions],
      watches: watches.get(workspace) ?? [],
      terms: workspace === undefined ? history.terms : [],
    };
    return { workspace, history: one, timeline: new Timeline(one), base };
  };
  const parts = [part(undefined, history.initial)];
  for (const [name, state] of Object.entries(history.workspaces ?? {})) parts.push(part(name, state));
  // The branches of a part follow it.
  for (const base of parts)
    for (const { request, answer } of base.history.operations.filter(isBranching))
      parts.push(part(request.name, stateAt(base.timeline, answer.revision), base));
  return parts;
}

/** Whether an operation created a branch. */
export function isBranching(operation: Operation): operation is Branching {
  return (
    operation.request.verb === "branch" && isAnswered(operation) && operation.answer.outcome === "branched"
  );
}

/** Returns the state at a revision, according to everybody who saw it. */
function stateAt(timeline: Timeline, revision: number): State {
  const objects = [...timeline.byKey.keys()].flatMap(
    (key) => timeline.versionAt(key, revision)?.object ?? [],
  );
  return { revision, objects };
}

function byWorkspace<T extends { readonly workspace?: string | undefined }>(
  all: readonly T[],
): Map<string | undefined, T[]> {
  const groups = new Map<string | undefined, T[]>();
  for (const one of all) {
    const group = groups.get(one.workspace);
    if (group === undefined) groups.set(one.workspace, [one]);
    else group.push(one);
  }
  return groups;
}
