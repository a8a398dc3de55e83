import { readOwnRules } from "../../api/own-rules.ts";
import { ownRights } from "../../model/own-rules.ts";
import { isBrowsable } from "../../model/resource-types.ts";
import { lastNamespace } from "../../state/place.ts";
import { serverTypes, signedInUser } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { Card } from "./card.tsx";

/** What the user may do, in few words. */
export function OwnRights() {
  const namespace = lastNamespace.value || "default";
  const answer = useAsync(
    (signal) => readOwnRules(serverTypes.value.groupSuffix, namespace, signal),
    [namespace],
  );
  const { groups } = signedInUser.value;
  return (
    <Card title="What you may do" answer={answer}>
      {({ resourceRules }) => {
        // Reviews and other resources without objects don't count.
        const rights = ownRights(resourceRules).filter(
          ({ group, resource }) => resource === "*" || isListed(group, resource),
        );
        const writes = rights.filter(({ verbs }) =>
          verbs.some((verb) => ["*", "create", "update", "patch", "delete"].includes(verb)),
        );
        const isAll = rights.some(
          ({ resource, verbs, group }) => resource === "*" && group === "*" && verbs.includes("*"),
        );
        return (
          <>
            <p>
              {isAll
                ? "Everything, in all namespaces."
                : `In the namespace ${namespace}: you see ${countText(rights.length)}, and change ${countText(writes.length)}.`}
            </p>
            {groups.length > 0 && <p class="note">Groups: {groups.join(", ")}</p>}
            <a href="#/access/mine">All my rights</a>
          </>
        );
      }}
    </Card>
  );
}

function isListed(group: string, resource: string): boolean {
  return serverTypes.value.types.some(
    (one) => one.group === group && one.name === resource && isBrowsable(one),
  );
}

function countText(count: number): string {
  if (count === 0) return "no kinds";
  return count === 1 ? "1 kind" : `${count} kinds`;
}
