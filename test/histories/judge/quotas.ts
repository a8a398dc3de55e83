import type { History, Violation } from "../history.ts";
import { visitVersions } from "./live-objects.ts";
import type { Timeline } from "./timeline.ts";

/** At no revision are there more objects under a prefix than its quota allows. Linear in the versions under the prefix. */
export function judgeQuotas({ quotas }: History, timeline: Timeline): Violation[] {
  return quotas.flatMap(({ prefix, limit }) => {
    const violations: Violation[] = [];
    let count = 0;
    visitVersions(timeline, prefix, ({ object, key, revision, source }, previous) => {
      const isNew = object !== undefined && previous === undefined;
      if (isNew) count++;
      if (object === undefined && previous !== undefined) count--;
      if (isNew && count > limit) {
        const message = `${key} at revision ${revision} (${source}) is number ${count} under ${prefix}, of ${limit} allowed`;
        violations.push({ law: "quotas", message });
      }
    });
    return violations;
  });
}
