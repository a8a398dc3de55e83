import type { Operation } from "../history.ts";
import { isWrite, type Timeline } from "./timeline.ts";

/** The state of one key. */
export interface RegisterState {
  /** Revision of the newest write of the key. */
  readonly revision: number;
  /** `uid` of the object; undefined if there is none. */
  readonly uid: string | undefined;
}

/** An operation on one key, as the search sees it. */
export interface RegisterOperation {
  readonly operation: Operation;
  readonly beginNs: number;
  /** The operation took effect, or read the state, before this time. */
  readonly endNs: number;
  /** Whether it changes the state; otherwise it observes the state. */
  readonly isEffect: boolean;
  /** Revision of an effect; undefined for a deletion that no watch delivered. */
  readonly revision: number | undefined;
  /** `uid` of the object that an effect leaves behind, if an answer or an observation shows it. */
  readonly uid: string | undefined;
}

/**
 * Returns the operation for the search; undefined if it says nothing about the key. A write without an answer whose value nobody saw
 * has had no effect, because the watches of a history cover its keys.
 */
export function registerOperation(operation: Operation, timeline: Timeline): RegisterOperation | undefined {
  const { request, answer, beginNs, endNs = Number.POSITIVE_INFINITY } = operation;
  if (answer?.outcome === "refused" && ["other", "gone"].includes(answer.refusal)) return undefined;
  if (!isWrite(request) || answer?.outcome === "refused")
    return answer === undefined
      ? undefined
      : { operation, beginNs, endNs, isEffect: false, revision: undefined, uid: undefined };
  const revision = timeline.revisionOf(operation);
  if (revision === undefined && answer === undefined) return undefined;
  const seenNs = timeline.seenNs(revision);
  const uid = revision === undefined ? undefined : timeline.versionAt(request.key, revision)?.object?.uid;
  return { operation, beginNs, endNs: Math.min(endNs, seenNs), isEffect: true, revision, uid };
}

/** Returns the deletions of a key that a watch delivered and no answer reported: they are effects of deletes without an answer. */
export function unansweredDeletions(
  key: string,
  operations: readonly Operation[],
  timeline: Timeline,
): RegisterOperation[] {
  const answered = new Set<number | undefined>();
  const unanswered: Operation[] = [];
  for (const operation of operations) {
    if (operation.request.verb !== "delete") continue;
    if (operation.answer === undefined) unanswered.push(operation);
    else answered.add(timeline.revisionOf(operation));
  }
  const deletions = (timeline.byKey.get(key) ?? []).filter(
    ({ object, revision }) => object === undefined && !answered.has(revision),
  );
  const first = unanswered.reduce<Operation | undefined>(
    (earliest, one) => (earliest === undefined || one.beginNs < earliest.beginNs ? one : earliest),
    undefined,
  );
  if (first === undefined) return [];
  const operation: Operation = { ...first, request: { verb: "delete", key } };
  return deletions.map(({ revision }) => {
    const endNs = timeline.seenNs(revision);
    return { operation, beginNs: first.beginNs, endNs, isEffect: true, revision, uid: undefined };
  });
}

/** Whether the answer of an observation agrees with the state. */
export function agrees(state: RegisterState, { operation }: RegisterOperation): boolean {
  const { request, answer } = operation;
  const isPresent = state.uid !== undefined;
  switch (answer?.outcome) {
    case "decision":
      return answer.allowed === isPresent;
    case "object":
      return isPresent && state.revision === answer.object.revision;
    case "refused":
      if (answer.refusal === "missing") return !isPresent;
      if (answer.refusal === "exists") return isPresent;
      return "expected" in request && request.expected !== undefined
        ? isPresent && state.revision !== request.expected
        : true;
    default:
      return false;
  }
}

/**
 * Applies a write.
 *
 * @param next the first known revision of a write of the key after the state's; a write with a known revision can only be that one.
 * @returns undefined if the write can't succeed in this state.
 */
export function apply(
  state: RegisterState,
  { operation, revision, uid }: RegisterOperation,
  next: number | undefined,
): RegisterState | undefined {
  const { request, answer } = operation;
  const isPresent = state.uid !== undefined;
  if (request.verb === "create" ? isPresent : !isPresent) return undefined;
  if (revision !== undefined && revision !== next) return undefined;
  const expected = "expected" in request ? request.expected : undefined;
  if (expected !== undefined && state.revision !== expected) return undefined;
  if (request.verb === "delete") {
    if (answer?.outcome === "deleted" && state.uid !== answer.uid) return undefined;
    return { revision: revision ?? state.revision, uid: undefined };
  }
  if (request.verb !== "create" && uid !== undefined && uid !== state.uid) return undefined;
  return { revision: revision ?? state.revision, uid: uid ?? state.uid ?? "" };
}
