import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { messageOf } from "../../api/client.ts";
import { deleteWorkspace } from "../../api/workspaces.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { formatRoute } from "../../model/routes.ts";
import { workspaceUrl, type Workspace } from "../../model/workspaces.ts";
import { Action } from "../../parts/action.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogActions } from "../../parts/dialog-actions.tsx";
import { go } from "../../state/place.ts";
import { currentWorkspace } from "../../state/workspace.ts";

interface DeleteProps {
  readonly type: ResourceType;
  readonly workspace: Workspace;
  readonly onClose: () => void;
}

/** Asks before a workspace is deleted, with everything in it. */
export function DeleteWorkspaceDialog({ type, workspace, onClose }: DeleteProps) {
  const typed = useSignal("");
  const failure = useSignal("");
  const { name } = workspace.metadata;
  const remove = () => {
    failure.value = "";
    deleteWorkspace(type, workspace)
      .then(() => {
        onClose();
        // This page has no API any more.
        if (currentWorkspace.value === name)
          location.assign(workspaceUrl("", formatRoute({ view: "workspaces" })));
        else go({ view: "workspaces" });
      })
      .catch((error: unknown) => (failure.value = messageOf(error)));
  };
  return (
    <Dialog title={`Delete workspace ${name}?`} onClose={onClose}>
      <p>
        All its objects are deleted, also those that were not merged. Nothing of it can be restored. Branches
        of it keep what they need.
      </p>
      <label class="stacked">
        Type its name
        <input
          value={typed.value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => (typed.value = event.currentTarget.value.trim())}
        />
      </label>
      <DialogActions failure={failure.value} onCancel={onClose}>
        <Action
          action={actionOn(type, "delete", { name })}
          label="Delete"
          fullLabel={`Delete ${name}`}
          isDangerous
          isOnServer
          isDisabled={typed.value !== name}
          onRun={remove}
        />
      </DialogActions>
    </Dialog>
  );
}
