import { useSignal } from "@preact/signals";
import { listWorkspaces } from "../../api/workspaces.ts";
import { formatRoute, type Route } from "../../model/routes.ts";
import { baseText, isWorkspaceName, serverTitle, workspaceUrl } from "../../model/workspaces.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { route } from "../../state/place.ts";
import { useAsync } from "../../state/use-async.ts";
import { currentWorkspace, workspaceType } from "../../state/workspace.ts";

/** Chooses the server or a workspace: from those that the user may list, or by name. */
export function WorkspaceChoice({ onClose }: { readonly onClose: () => void }) {
  const type = workspaceType("workspaces");
  const text = useSignal("");
  const list = useAsync(
    (signal) =>
      type === undefined ? Promise.resolve({ items: [], isCut: false }) : listWorkspaces(type, signal),
    [],
  );
  const fragment = formatRoute(sharedPlace(route.value));
  const typed = text.value.trim();
  const items = typeof list === "object" ? list.items : [];
  const shown = items.filter(({ metadata: { name } }) => name.includes(typed));
  return (
    <Dialog title="Workspaces" onClose={onClose}>
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault();
          const isListed = shown.some(({ metadata: { name } }) => name === typed);
          const name = !isListed && shown.length === 1 ? shown[0]!.metadata.name : typed;
          if (!isWorkspaceName(name)) return;
          onClose();
          location.assign(workspaceUrl(name, fragment));
        }}
      >
        <input
          aria-label="Name of a workspace"
          placeholder="name"
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <button type="submit" disabled={!isWorkspaceName(typed)}>
          Enter
        </button>
      </form>
      {list === undefined && <p role="status">Reading the workspaces…</p>}
      {typeof list === "string" && (
        <p class="note" role="status">
          They can&apos;t be listed: {list}. You can enter one by its name.
        </p>
      )}
      <ul class="workspace-list">
        {serverTitle.toLowerCase().includes(typed.toLowerCase()) && (
          <Choice name="" note="the objects outside of workspaces" fragment={fragment} onClose={onClose} />
        )}
        {shown.map((one) => (
          <Choice
            key={one.metadata.name}
            name={one.metadata.name}
            note={`begins with ${baseText(one)}`}
            fragment={fragment}
            onClose={onClose}
          />
        ))}
      </ul>
      {typeof list === "object" && list.isCut && <p class="note">There are more. Enter one by its name.</p>}
      <div class="buttons">
        <a href="#/workspaces" onClick={onClose}>
          All workspaces
        </a>
        <span class="space" />
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface ChoiceProps {
  /** Empty for the server. */
  readonly name: string;
  readonly note: string;
  readonly fragment: string;
  readonly onClose: () => void;
}

function Choice({ name, note, fragment, onClose }: ChoiceProps) {
  return (
    <li>
      <a
        href={workspaceUrl(name, fragment)}
        aria-current={currentWorkspace.value === name ? "true" : undefined}
        onClick={onClose}
      >
        {name === "" ? serverTitle : name}
      </a>{" "}
      <span class="note">{note}</span>
    </li>
  );
}

/** The same place in another workspace; the start page if it has none. */
function sharedPlace(place: Route): Route {
  return place.view === "server" || place.view === "workspace" ? { view: "home" } : place;
}
