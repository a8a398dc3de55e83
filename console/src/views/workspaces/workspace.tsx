import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { readWorkspace } from "../../api/workspaces.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { formatRoute, type WorkspaceRoute } from "../../model/routes.ts";
import { workspaceUrl, type Workspace } from "../../model/workspaces.ts";
import { Action } from "../../parts/action.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { useKeys } from "../../state/keys.ts";
import { go } from "../../state/place.ts";
import { useAsync } from "../../state/use-async.ts";
import { currentWorkspace, workspaceType } from "../../state/workspace.ts";
import { CreateDialog } from "./create.tsx";
import { DeleteWorkspaceDialog } from "./delete.tsx";
import { DifferenceTab } from "./difference.tsx";
import { MergeTab } from "./merge.tsx";
import { WorkspaceOverview } from "./overview.tsx";

const tabs = [
  ["overview", "Overview", "1"],
  ["difference", "Difference", "2"],
  ["merge", "Merge", "3"],
  ["rebase", "Rebase", "4"],
] as const;

/** A workspace: what it is, how it differs from its base, and the ways back and forth. */
export function WorkspaceView({ place }: { readonly place: WorkspaceRoute }) {
  const type = workspaceType("workspaces");
  if (type === undefined)
    return (
      <EmptyState title="No workspaces">
        <p>The server serves no workspaces.</p>
      </EmptyState>
    );
  return <WorkspacePage type={type} place={place} />;
}

interface PageProps {
  readonly type: ResourceType;
  readonly place: WorkspaceRoute;
}

function WorkspacePage({ type, place }: PageProps) {
  const { name, tab } = place;
  const dialog = useSignal<"none" | "branch" | "delete">("none");
  const reads = useSignal(0);
  const workspace = useAsync((signal) => readWorkspace(type, name, signal), [type, name, reads.value]);
  const show = (next: string) => go({ ...place, tab: next, query: {} }, true);
  useKeys(
    tabs.map(([one, label, key]) => ({ keys: [key], label, run: () => show(one) })),
    [place],
  );
  const close = () => (dialog.value = "none");
  return (
    <section class="object" aria-label={`Workspace ${name}`}>
      <div class="toolbar">
        <h1>
          <a href={formatRoute({ view: "workspaces" })}>Workspace</a> {name}
        </h1>
        <span class="space" />
        {currentWorkspace.value !== name && (
          <a class="button" href={workspaceUrl(name, "#/")}>
            Enter
          </a>
        )}
        <Action
          action={actionOn(type, "create")}
          label="Branch"
          fullLabel={`Branch ${name}`}
          isOnServer
          onRun={() => (dialog.value = "branch")}
        />
        {typeof workspace === "object" && (
          <Action
            action={actionOn(type, "delete", { name })}
            label="Delete"
            isDangerous
            isOnServer
            onRun={() => (dialog.value = "delete")}
          />
        )}
      </div>
      <Tabs label="Views of the workspace" tabs={tabs} current={tab} onShow={show} />
      <div id="tab-panel" class="page" role="tabpanel" tabIndex={0} aria-labelledby={`tab-${tab}`}>
        <Panel
          key={`${name} ${tab}`}
          place={place}
          workspace={workspace}
          onChanged={() => void reads.value++}
        />
      </div>
      {dialog.value === "branch" && <CreateDialog type={type} from={name} onClose={close} />}
      {dialog.value === "delete" && typeof workspace === "object" && (
        <DeleteWorkspaceDialog type={type} workspace={workspace} onClose={close} />
      )}
    </section>
  );
}

interface PanelProps {
  readonly place: WorkspaceRoute;
  /** A message if it can't be read; undefined while it is read. */
  readonly workspace: Workspace | string | undefined;
  readonly onChanged: () => void;
}

function Panel({ place, workspace, onChanged }: PanelProps): ComponentChildren {
  const { name, tab, query } = place;
  const change = (next: Readonly<Record<string, string>>) => go({ ...place, query: next }, true);
  switch (tab) {
    case "difference":
      return <DifferenceTab name={name} query={query} onChange={change} />;
    case "merge":
      return <MergeTab name={name} work="merge" query={query} onChange={change} onChanged={onChanged} />;
    case "rebase":
      return <MergeTab name={name} work="rebase" query={query} onChange={change} onChanged={onChanged} />;
    default:
      return <WorkspaceOverview workspace={workspace} onRetry={onChanged} />;
  }
}
