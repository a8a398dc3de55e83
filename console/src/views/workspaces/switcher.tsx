import { useSignal } from "@preact/signals";
import { serverTitle } from "../../model/workspaces.ts";
import { Lazy } from "../../parts/lazy.tsx";
import { currentWorkspace, workspaceTypes } from "../../state/workspace.ts";

/** Names the workspace that the page shows, and opens the choice of another one. Nothing on a server without workspaces. */
export function WorkspaceSwitcher() {
  const isOpen = useSignal(false);
  const { value: name } = currentWorkspace;
  if (name === "" && workspaceTypes.value.length === 0) return null;
  const text = name === "" ? serverTitle : name;
  return (
    <>
      <button
        type="button"
        class={name === "" ? "switcher" : "switcher inside"}
        aria-haspopup="dialog"
        aria-label={name === "" ? "Workspace: none, the server itself" : `Workspace: ${name}`}
        title="Switch between the server and its workspaces"
        onClick={() => (isOpen.value = true)}
      >
        <span>{text}</span>
      </button>
      {isOpen.value && (
        <Lazy
          load={async () => (await import("./choice.tsx")).WorkspaceChoice}
          props={{ onClose: () => (isOpen.value = false) }}
        />
      )}
    </>
  );
}
