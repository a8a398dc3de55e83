import { getJson } from "../../api/client.ts";
import { bindingsWithoutEffect, type BindingObject, type RoleObject } from "../../model/access-graph.ts";
import { builtInType } from "../../model/references.ts";
import { Fold } from "../../parts/fold.tsx";
import { ObjectLink } from "../../parts/object-link.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { serverTypes } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { Card } from "./card.tsx";

/** Objects of each type that are read. */
const limit = 1000;

async function read<T>(resource: string, signal: AbortSignal): Promise<readonly T[]> {
  const path = `/apis/rbac.authorization.${serverTypes.value.groupSuffix}/v1/${resource}?limit=${limit}`;
  return (await getJson<{ items: T[] }>(path, { signal })).items;
}

async function readFaults(signal: AbortSignal) {
  const [clusterRoles, roles, clusterRoleBindings, roleBindings] = await Promise.all([
    read<RoleObject>("clusterroles", signal),
    read<RoleObject>("roles", signal),
    read<BindingObject>("clusterrolebindings", signal),
    read<BindingObject>("rolebindings", signal),
  ]);
  const isPartial = clusterRoles.length === limit || roles.length === limit;
  // A role that wasn't read may exist.
  const faults = bindingsWithoutEffect({ clusterRoles, roles, clusterRoleBindings, roleBindings });
  return { faults: isPartial ? [] : faults, isPartial };
}

/** Bindings that grant nothing: their role doesn't exist, or they name nobody. */
export function Bindings() {
  const answer = useAsync(readFaults, []);
  return (
    <Card title="Bindings without effect" answer={answer}>
      {({ faults, isPartial }) =>
        isPartial ? (
          <p class="note">
            There are too many roles to check them here. The command plinth auth checks one user.
          </p>
        ) : faults.length === 0 ? (
          <p>
            <StateText text="None" tone="good" /> <span class="note">each has a role and a subject</span>
          </p>
        ) : (
          <Fold items={faults} limit={6} noun="bindings">
            {(shown) => (
              <ul>
                {shown.map(({ kind, namespace, name, message }) => {
                  const type = builtInType(serverTypes.value, ["rbac.authorization", kind]);
                  return (
                    <li key={`${kind} ${namespace} ${name}`}>
                      <StateText text="" tone="bad" />
                      {type === undefined ? (
                        `${kind} ${name}`
                      ) : (
                        <ObjectLink type={type} namespace={namespace} name={name} />
                      )}{" "}
                      <span class="note">
                        {namespace} {message}
                      </span>
                    </li>
                  );
                })}
              </ul>
            )}
          </Fold>
        )
      }
    </Card>
  );
}
