import { describe, isAnswered, type History, type Operation, type Violation } from "../history.ts";
import type { Timeline, Version } from "./timeline.ts";

const law = "revision order";

/** Something that shows at a time that a revision exists. */
interface Evidence {
  readonly atNs: number;
  readonly revision: number;
  readonly source: () => string;
}

/**
 * There is one order of revisions: everybody sees the same value at a revision, and a write that began after a revision was seen has
 * a greater one. The latter compares each write with the greatest revision seen before its begin: n log n.
 */
export function judgeRevisionOrder(history: History, timeline: Timeline): Violation[] {
  const violations: Violation[] = timeline.conflicts.map(({ first, second }) => ({
    law,
    message: `revision ${first.revision} is ${describeVersion(first)}, but ${describeVersion(second)}`,
  }));
  const evidence = evidenceOf(history, timeline).toSorted((a, b) => a.atNs - b.atNs);
  const writes = history.operations
    .map((operation) => ({ operation, revision: timeline.revisionOf(operation) }))
    .filter((write): write is { operation: Operation; revision: number } => write.revision !== undefined)
    .toSorted((a, b) => a.operation.beginNs - b.operation.beginNs);
  let next = 0;
  let greatest: Evidence | undefined;
  for (const { operation, revision } of writes) {
    for (; next < evidence.length && evidence[next]!.atNs < operation.beginNs; next++) {
      if (greatest === undefined || evidence[next]!.revision > greatest.revision) greatest = evidence[next];
    }
    if (greatest !== undefined && revision <= greatest.revision) {
      violations.push({
        law,
        message:
          `${describe(operation)} has revision ${revision}, but revision ${greatest.revision} was seen ` +
          `before it began, by ${greatest.source()}`,
      });
    }
  }
  return violations;
}

/** Every answer and event that shows a revision, in no order. */
export function evidenceOf(history: History, timeline: Timeline): Evidence[] {
  const evidence: Evidence[] = [
    { atNs: Number.NEGATIVE_INFINITY, revision: history.initial.revision, source: () => "the initial state" },
  ];
  for (const operation of history.operations) {
    if (!isAnswered(operation)) continue;
    const { answer, endNs: atNs } = operation;
    const source = () => describe(operation);
    if (answer.outcome === "page") evidence.push({ atNs, revision: answer.revision, source });
    else if (answer.outcome === "branched") evidence.push({ atNs, revision: answer.revision, source });
    else if (answer.outcome === "object") evidence.push({ atNs, revision: answer.object.revision, source });
    else if (answer.outcome === "deleted") {
      const revision = timeline.revisionOf(operation);
      if (revision !== undefined) evidence.push({ atNs, revision, source });
    }
  }
  for (const { id, frames } of history.watches) {
    for (const frame of frames) {
      if (frame.type === "GONE" || frame.type === "BOOKMARK") continue;
      evidence.push({
        atNs: frame.atNs,
        revision: frame.object.revision,
        source: () => `an event of watch ${id}`,
      });
    }
  }
  return evidence;
}

/** Describes a version for a message. */
export function describeVersion({ key, object, source }: Version): string {
  const value = object === undefined ? "deleted" : `${object.token} (${object.digest})`;
  return `${key} ${value} in ${source}`;
}
