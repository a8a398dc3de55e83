import { readOwnRules } from "../../api/own-rules.ts";
import { ownRights } from "../../model/own-rules.ts";
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
        const rights = ownRights(resourceRules);
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
                : `In the namespace ${namespace}: read or use ${countText(rights.length)}, change ${countText(writes.length)}.`}
            </p>
            {groups.length > 0 && <p class="note">Groups: {groups.join(", ")}</p>}
            <a href="#/access/mine">All my rights</a>
          </>
        );
      }}
    </Card>
  );
}

function countText(count: number): string {
  return count === 1 ? "1 kind" : `${count} kinds`;
}
