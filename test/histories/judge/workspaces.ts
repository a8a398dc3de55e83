import { describe, type Violation } from "../history.ts";
import { isBranching, type Branching, type Part } from "./parts.ts";
import { describeVersion, evidenceOf } from "./revision-order.ts";
import type { Version } from "./timeline.ts";

const law = "workspaces";

/**
 * Workspaces share one order of revisions, so each revision belongs to one of them; and a branch of the latest state isn't older than what
 * was seen in its base before its creation began. Linear in the versions, n log n in the evidence of parts with branches.
 */
export function judgeWorkspaces(parts: readonly Part[]): Violation[] {
  return [...sharedRevisions(parts), ...parts.flatMap(outdatedBranches)];
}

function sharedRevisions(parts: readonly Part[]): Violation[] {
  const owners = new Map<number, { readonly part: Part; readonly version: Version }>();
  const violations: Violation[] = [];
  for (const part of parts) {
    for (const version of part.timeline.versions) {
      const { revision } = version;
      if (revision <= part.history.initial.revision) continue;
      const owner = owners.get(revision);
      if (owner === undefined) owners.set(revision, { part, version });
      else if (owner.part !== part) {
        const [first, second] = [owner, { part, version }].map(
          (one) => `${describeVersion(one.version)} ${nameOf(one.part)}`,
        );
        violations.push({ law, message: `revision ${revision} is ${first}, but ${second}` });
      }
    }
  }
  return violations;
}

function outdatedBranches({ history, timeline }: Part): Violation[] {
  const branches = history.operations.filter(isBranching);
  if (branches.length === 0) return [];
  const evidence = evidenceOf(history, timeline).toSorted((a, b) => a.atNs - b.atNs);
  return branches.flatMap((branch) => outdated(branch, evidence));
}

function outdated(branch: Branching, evidence: ReturnType<typeof evidenceOf>): Violation[] {
  const newer = evidence.find(
    ({ atNs, revision }) => atNs < branch.beginNs && revision > branch.answer.revision,
  );
  if (newer === undefined) return [];
  const message = `${describe(branch)} is older than revision ${newer.revision}, seen before by ${newer.source()}`;
  return [{ law, message }];
}

function nameOf({ workspace }: Part): string {
  return workspace === undefined ? "outside of workspaces" : `in workspace ${workspace}`;
}
