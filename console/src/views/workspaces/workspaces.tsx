import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { listWorkspaces } from "../../api/workspaces.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { formatRoute } from "../../model/routes.ts";
import { baseText, expiryOf, workspaceUrl, type Workspace } from "../../model/workspaces.ts";
import { Action } from "../../parts/action.tsx";
import { EmptyState, Failure, Loading } from "../../parts/states.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { TableHead } from "../../parts/table-head.tsx";
import { Time } from "../../parts/time.tsx";
import { useAsync } from "../../state/use-async.ts";
import { workspaceType } from "../../state/workspace.ts";
import { CreateDialog } from "./create.tsx";

/** The workspaces of the server, and a way to create one. */
export function WorkspacesView() {
  const type = workspaceType("workspaces");
  if (type !== undefined) return <WorkspacesOf type={type} />;
  return (
    <EmptyState title="No workspaces">
      <p>
        The server serves no workspaces. Their API is alpha; it is served with the flag{" "}
        <code>--runtime-config=api/alpha=true</code>.
      </p>
    </EmptyState>
  );
}

function WorkspacesOf({ type }: { readonly type: ResourceType }) {
  const reads = useSignal(0);
  const retry = () => void reads.value++;
  const isCreating = useSignal(false);
  const list = useAsync((signal) => listWorkspaces(type, signal), [type, reads.value]);
  return (
    <section class="page server" aria-label="Workspaces">
      <div class="toolbar flat">
        <h1>Workspaces</h1>
        <span class="space" />
        <Action
          action={actionOn(type, "create")}
          label="New workspace"
          isOnServer
          onRun={() => (isCreating.value = true)}
        />
      </div>
      <p class="note">
        Separate APIs of the server. One that begins with the state of another is a branch of it.
      </p>
      {list === undefined && <Loading label="Reading the workspaces…" />}
      {typeof list === "string" && (
        <>
          <Failure title="The workspaces can't be listed" message={list} onRetry={retry} />
          <p class="note">You can enter one by its name, with the button beside the name of the product.</p>
        </>
      )}
      {typeof list === "object" && list.items.length === 0 && <p class="note">There is none yet.</p>}
      {typeof list === "object" && list.items.length > 0 && <WorkspaceTable items={list.items} />}
      {typeof list === "object" && list.isCut && <p class="note">There are more than these.</p>}
      {isCreating.value && <CreateDialog type={type} onClose={() => (isCreating.value = false)} />}
    </section>
  );
}

function WorkspaceTable({ items }: { readonly items: readonly Workspace[] }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="List of workspaces">
      <table class="plain by-row">
        <TableHead columns={["Name", "Phase", "Begins with", "Created", "Expires", "Enter"]} />
        <tbody>
          {items.map((one) => {
            const { name, creationTimestamp } = one.metadata;
            return (
              <tr key={name}>
                <th scope="row">
                  <a href={formatRoute({ view: "workspace", name, tab: "overview", query: {} })}>{name}</a>
                </th>
                <td data-label="Phase">
                  <StateText text={one.status?.phase ?? ""} />
                </td>
                <td data-label="Begins with">{baseText(one)}</td>
                <td data-label="Created">
                  <Time at={creationTimestamp} />
                </td>
                <td data-label="Expires">
                  {expiryOf(one) === undefined ? "never" : <Time at={expiryOf(one)} />}
                </td>
                <td data-label="Objects">
                  <a href={workspaceUrl(name, "#/")} aria-label={`Enter ${name}`}>
                    Enter
                  </a>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
