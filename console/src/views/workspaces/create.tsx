import { useSignal, type Signal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { messageOf } from "../../api/client.ts";
import { createWorkspace, listWorkspaces } from "../../api/workspaces.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { isWorkspaceName, type NewSource } from "../../model/workspaces.ts";
import { Action } from "../../parts/action.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogActions } from "../../parts/dialog-actions.tsx";
import { go } from "../../state/place.ts";
import { useAsync } from "../../state/use-async.ts";
import { currentWorkspace } from "../../state/workspace.ts";

interface CreateProps {
  readonly type: ResourceType;
  /** Name of the workspace to branch; by default the one that the page shows. */
  readonly from?: string;
  readonly onClose: () => void;
}

/** Creates a workspace, by default a branch of the one that is shown. */
export function CreateDialog({ type, from = currentWorkspace.value, onClose }: CreateProps) {
  const name = useSignal("");
  const source = useSignal(valueOf(from));
  const hours = useSignal("");
  const failure = useSignal("");
  const list = useAsync((signal) => listWorkspaces(type, signal), []);
  const items = typeof list === "object" ? list.items.map(({ metadata }) => metadata.name) : [];
  const sources = [...new Set([...(from === "" ? [] : [from]), ...items])];
  const create = () => {
    failure.value = "";
    createWorkspace(type, name.value, sourceOf(source.value), hours.value)
      .then(() => {
        onClose();
        go({ view: "workspace", name: name.value, tab: "overview", query: {} });
      })
      .catch((error: unknown) => (failure.value = messageOf(error)));
  };
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <div class="question">
        <label>
          Name
          <input
            value={name.value}
            placeholder="trial"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => (name.value = event.currentTarget.value.trim())}
          />
        </label>
        <SourceField source={source} workspaces={sources} />
        <label>
          Deleted after hours
          <input
            value={hours.value}
            placeholder="never"
            inputMode="decimal"
            autocomplete="off"
            onInput={(event) => (hours.value = event.currentTarget.value)}
          />
        </label>
      </div>
      <p class="note">
        A branch begins with the state as it is now, and is separate from then on. Creating it copies nothing.
      </p>
      <DialogActions failure={failure.value} onCancel={onClose}>
        <Action
          action={actionOn(type, "create")}
          label="Create"
          isPrimary
          isOnServer
          isDisabled={!isWorkspaceName(name.value)}
          onRun={create}
        />
      </DialogActions>
    </Dialog>
  );
}

interface SourceFieldProps {
  readonly source: Signal<string>;
  /** Names of those that can be branched. */
  readonly workspaces: readonly string[];
}

function SourceField({ source, workspaces }: SourceFieldProps) {
  return (
    <label>
      Begins with
      <select value={source.value} onChange={(event) => (source.value = event.currentTarget.value)}>
        <option value="server">the server</option>
        {workspaces.map((one) => (
          <option key={one} value={valueOf(one)}>
            workspace {one}
          </option>
        ))}
        <option value="defaults">default objects only</option>
      </select>
    </label>
  );
}

/** The value of a source in the choice. @param name empty for the server. */
function valueOf(name: string): string {
  return name === "" ? "server" : `workspace ${name}`;
}

function sourceOf(value: string): NewSource {
  if (value === "server" || value === "defaults") return value;
  return { workspace: value.slice("workspace ".length) };
}
