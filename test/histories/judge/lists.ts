import {
  describe,
  isAnswered,
  type Answer,
  type Answered,
  type History,
  type ObservedObject,
  type Violation,
} from "../history.ts";
import { Compactions } from "./compaction.ts";
import { evidenceOf } from "./revision-order.ts";
import type { Timeline } from "./timeline.ts";

const law = "lists";

/** A page of a list. */
type Page = Answered & {
  readonly request: Extract<Answered["request"], { verb: "list" }>;
  readonly answer: Extract<Answer, { outcome: "page" }>;
};

/**
 * A list has exactly the objects of its revision; the pages of a list are of one revision; a list at an exact revision is of that
 * one; and a list of the latest state isn't older than what was seen before it began. Costs the number of listed objects.
 */
export function judgeLists(history: History, timeline: Timeline): Violation[] {
  const violations: Violation[] = [];
  const pages = history.operations.filter(isAnswered).filter(isPage);
  const byFirst = new Map<number, Page[]>();
  for (const page of pages) {
    const { state } = page.request;
    const first = state.kind === "continued" ? state.first : page.id;
    byFirst.set(first, [...(byFirst.get(first) ?? []), page]);
  }
  for (const list of byFirst.values()) {
    list.sort((a, b) => a.beginNs - b.beginNs);
    const message = contradictionOf(list, history, timeline);
    if (message !== undefined)
      violations.push({ law, message: `${message}: ${list.map(describe).join(", ")}` });
  }
  return [
    ...violations,
    ...outdatedLists(history, timeline, pages),
    ...wronglyGone(history, timeline, pages),
  ];
}

function isPage(operation: Answered): operation is Page {
  return operation.request.verb === "list" && operation.answer.outcome === "page";
}

function contradictionOf(pages: readonly Page[], history: History, timeline: Timeline): string | undefined {
  const first = pages[0]!;
  const { prefix, state } = first.request;
  const { revision } = first.answer;
  if (state.kind === "exact" && state.revision !== revision) return `the list is of revision ${revision}`;
  const other = pages.find((page) => page.answer.revision !== revision);
  if (other !== undefined) return `pages are of the revisions ${revision} and ${other.answer.revision}`;
  if (revision < history.initial.revision || state.kind === "continued") return undefined;
  const objects = pages.flatMap(({ answer }) => answer.objects);
  const unordered = objects.findIndex(({ key }, index) => index > 0 && key <= objects[index - 1]!.key);
  if (unordered !== -1)
    return `${objects[unordered]!.key} follows ${objects[unordered - 1]!.key} in the list at revision ${revision}`;
  const end = pages.at(-1)!.answer.more ? (objects.at(-1)?.key ?? prefix) : undefined;
  return difference(objects, prefix, revision, end, timeline);
}

/** Compares the objects of a list, up to the key `end`, with the state at its revision. */
function difference(
  objects: readonly ObservedObject[],
  prefix: string,
  revision: number,
  end: string | undefined,
  timeline: Timeline,
): string | undefined {
  const listed = new Map(objects.map((object) => [object.key, object]));
  const unknown = objects.find(({ key }) => !timeline.byKey.has(key));
  if (unknown !== undefined)
    return `${unknown.key} is listed with revision ${unknown.revision}, but it is absent at revision ${revision} and before`;
  for (const key of timeline.keysUnder(prefix)) {
    if (end !== undefined && key > end) break;
    const expected = timeline.versionAt(key, revision);
    const actual = listed.get(key);
    if (expected?.object?.revision === actual?.revision) continue;
    const isValue = expected?.object === undefined ? "absent" : `the value of revision ${expected.revision}`;
    const isListed = actual === undefined ? "missing" : `listed with revision ${actual.revision}`;
    return `${key} is ${isListed}, but at revision ${revision} it is ${isValue} (${expected?.source ?? "nobody saw it"})`;
  }
  return undefined;
}

/** Returns a violation for each list at a past revision that was answered with 410 although the revision must be retained. */
function wronglyGone(history: History, timeline: Timeline, pages: readonly Page[]): Violation[] {
  const compactions = new Compactions(history, timeline);
  const revisions = new Map(pages.map(({ id, answer }) => [id, answer.revision]));
  return history.operations.filter(isAnswered).flatMap((operation) => {
    const { request, answer, endNs } = operation;
    if (request.verb !== "list" || answer.outcome !== "refused" || answer.refusal !== "gone") return [];
    const { state } = request;
    const revision =
      state.kind === "exact" ? state.revision : revisions.get(state.kind === "continued" ? state.first : -1);
    if (revision !== undefined && compactions.mayHaveRemoved(revision, endNs)) return [];
    return [{ law, message: `nothing was compacted, but: ${describe(operation)}` }];
  });
}

/** Returns a violation for each list of the latest state with a smaller revision than one seen before it began. */
function outdatedLists(history: History, timeline: Timeline, pages: readonly Page[]): Violation[] {
  const evidence = evidenceOf(history, timeline).toSorted((a, b) => a.atNs - b.atNs);
  const latest = pages
    .filter(({ request }) => request.state.kind === "latest")
    .toSorted((a, b) => a.beginNs - b.beginNs);
  const violations: Violation[] = [];
  let next = 0;
  let greatest = evidence[0]!;
  for (const page of latest) {
    for (; next < evidence.length && evidence[next]!.atNs < page.beginNs; next++)
      if (evidence[next]!.revision > greatest.revision) greatest = evidence[next]!;
    if (page.answer.revision >= greatest.revision) continue;
    violations.push({
      law,
      message: `${describe(page)} is older than revision ${greatest.revision}, seen before by ${greatest.source()}`,
    });
  }
  return violations;
}
