import { describe, type History, type Operation, type Violation } from "../history.ts";
import { isWrite, type Timeline } from "./timeline.ts";

const law = "effects";

/**
 * Every value that was seen was requested by a write that was not refused, and each write took effect at most once, under its key, at
 * the revision of its answer. Linear in the history.
 */
export function judgeEffects(history: History, timeline: Timeline): Violation[] {
  const writes = new Map<string, Operation>();
  for (const operation of history.operations) {
    const { request } = operation;
    if (isWrite(request) && request.verb !== "delete") writes.set(request.token, operation);
  }
  const violations: Violation[] = [];
  const report = (message: string) => violations.push({ law, message });
  const deletes = deletesOf(history.operations);
  const seen = [...timeline.versions, ...timeline.conflicts.map(({ second }) => second)];
  for (const { object, key, uid, revision, source } of seen) {
    if (revision <= history.initial.revision) continue;
    if (object === undefined && !deletes.uids.has(uid) && !deletes.unansweredKeys.has(key))
      report(`${source} shows that ${key} was deleted at revision ${revision}, which no delete requested`);
    if (object === undefined || object.token === "") continue;
    const sight = `${source} shows ${key} at revision ${revision} with the value ${object.token}`;
    const write = writes.get(object.token);
    if (write === undefined) {
      report(`${sight}, which no write requested`);
      continue;
    }
    if (isWrite(write.request) && write.request.key !== key) report(`${sight} of ${describe(write)}`);
    if (write.answer?.outcome === "refused")
      report(`${sight}, but the write was refused: ${describe(write)}`);
    if (write.answer?.outcome === "object" && write.answer.object.revision !== revision)
      report(`${sight}, but the write was answered with another revision: ${describe(write)}`);
  }
  for (const [token, revisions] of timeline.revisionsByToken) {
    if (revisions.length > 1 && writes.has(token))
      report(`${describe(writes.get(token)!)} took effect at the revisions ${revisions.join(", ")}`);
  }
  return violations;
}

/** The objects that deletes removed, and the keys of deletes without an answer. */
function deletesOf(operations: readonly Operation[]) {
  const uids = new Set<string>();
  const unansweredKeys = new Set<string>();
  for (const { request, answer } of operations) {
    if (request.verb !== "delete") continue;
    if (answer === undefined) unansweredKeys.add(request.key);
    if (answer?.outcome === "deleted") uids.add(answer.uid);
  }
  return { uids, unansweredKeys };
}
