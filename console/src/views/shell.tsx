import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { fullName, type ResourceType } from "../model/resource-types.ts";
import type { Route } from "../model/routes.ts";
import { workspaceUrl } from "../model/workspaces.ts";
import { EmptyState } from "../parts/states.tsx";
import { KeyHelp } from "../parts/key-help.tsx";
import { Lazy } from "../parts/lazy.tsx";
import { Palette } from "../parts/palette.tsx";
import { bug } from "../state/bugs.ts";
import { useKeys } from "../state/keys.ts";
import { lastNamespace, route } from "../state/place.ts";
import { serverTypes, signedInUser } from "../state/session.ts";
import { currentWorkspace, entryFailure } from "../state/workspace.ts";
import { Browse } from "./browse/browse.tsx";
import { Header } from "./header.tsx";
import { choicesFor } from "./palette-choices.ts";
import { Sidebar } from "./sidebar.tsx";
import { ViewAsBanner } from "./view-as.tsx";

/** The frame of the console after the login. */
export function Shell() {
  const dialog = useSignal<"none" | "palette" | "keys">("none");
  const showsMenu = useSignal(false);
  const close = () => (dialog.value = "none");
  const { value: place } = route;
  useKeys(
    [
      { keys: [":"], label: "Go to a kind, or run a command", run: () => (dialog.value = "palette") },
      { keys: ["?"], label: "Keys", run: () => (dialog.value = "keys") },
      { keys: ["n"], label: "Namespace", run: () => document.getElementById("namespace")?.focus() },
      { keys: ["Escape"], label: "Back", run: () => history.back() },
    ],
    [],
  );
  // The menu of narrow windows closes when a place is chosen.
  useEffect(() => void (showsMenu.value = false), [route.value]);
  return (
    <div class={showsMenu.value ? "shell with-menu" : "shell"}>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <Header
        showsMenu={showsMenu}
        openPalette={() => (dialog.value = "palette")}
        openKeys={() => (dialog.value = "keys")}
      />
      <Sidebar />
      {showsMenu.value && <Backdrop onClose={() => (showsMenu.value = false)} />}
      <main id="main" tabIndex={0}>
        <ViewAsBanner />
        {bug.value !== "" && (
          <p class="message bad" role="alert">
            The console has a bug: {bug.value}{" "}
            <button type="button" class="link" onClick={() => (bug.value = "")}>
              Hide
            </button>
          </p>
        )}
        {entryFailure.value === "" || place.view === "workspaces" || place.view === "workspace" ? (
          <Content key={signedInUser.value.name} place={place} />
        ) : (
          <NoEntry message={entryFailure.value} />
        )}
      </main>
      {dialog.value === "palette" && <Palette choices={choicesFor} onClose={close} />}
      {dialog.value === "keys" && <KeyHelp onClose={close} />}
    </div>
  );
}

/** Darkens the view beside the menu of a narrow window. A click on it and Escape close the menu. */
function Backdrop({ onClose }: { readonly onClose: () => void }) {
  useKeys([{ keys: ["Escape"], label: "Close the menu", run: onClose }], []);
  return <div class="backdrop" onClick={onClose} />;
}

/** The fragment of the URL is the place, so the link moves the focus itself. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Content({ place }: { readonly place: Route }) {
  useEffect(() => {
    if ("namespace" in place && place.view === "list") lastNamespace.value = place.namespace;
    document.title = titleOf(place);
  }, [place]);
  switch (place.view) {
    case "home":
      return <Lazy key="home" load={async () => (await import("./home/home.tsx")).Home} props={{}} />;
    case "list": {
      const type = findType(place);
      if (type === undefined) return <Missing place={place} />;
      return <Browse key={fullName(type)} type={type} place={place} />;
    }
    case "object": {
      const type = findType(place);
      if (type === undefined) return <Missing place={place} />;
      const load = async () => (await import("./object/object.tsx")).ObjectView;
      // Another object has a state of its own, such as the text that is edited.
      const key = ["object", fullName(type), place.namespace, place.name].join(" ");
      return <Lazy key={key} load={load} props={{ type, place }} />;
    }
    case "create": {
      const type = findType(place);
      if (type === undefined) return <Missing place={place} />;
      const load = async () => (await import("./object/create.tsx")).CreateView;
      const key = ["create", fullName(type), place.namespace, place.name].join(" ");
      return <Lazy key={key} load={load} props={{ type, place }} />;
    }
    case "access":
      return (
        <Lazy
          key="access"
          load={async () => (await import("./access/access.tsx")).AccessView}
          props={{ place }}
        />
      );
    case "trash": {
      const load = async () => (await import("./trash/trash.tsx")).TrashView;
      return <Lazy key="trash" load={load} props={{ kind: place.kind }} />;
    }
    case "workspaces": {
      const load = async () => (await import("./workspaces/workspaces.tsx")).WorkspacesView;
      return <Lazy key="workspaces" load={load} props={{}} />;
    }
    case "workspace": {
      const load = async () => (await import("./workspaces/workspace.tsx")).WorkspaceView;
      return <Lazy key={`workspace ${place.name}`} load={load} props={{ place }} />;
    }
    case "server":
      if (currentWorkspace.value !== "") return <OfServer />;
      return (
        <Lazy key="server" load={async () => (await import("./server/server.tsx")).ServerView} props={{}} />
      );
  }
}

/** The title of the page; the name of a workspace comes first. */
function titleOf(place: Route): string {
  const { value: workspace } = currentWorkspace;
  return workspace === "" ? plainTitle(place) : `${workspace}: ${plainTitle(place)}`;
}

function plainTitle(place: Route): string {
  if (place.view === "object") return `${place.name} · ${place.resource} · Plinth`;
  if (place.view === "workspace") return `${place.name} · workspace · Plinth`;
  if ("resource" in place) return `${place.resource} · Plinth`;
  return place.view === "home" ? "Plinth console" : `${place.view} · Plinth`;
}

/** The workspace of the URL can't be entered. */
function NoEntry({ message }: { readonly message: string }) {
  const { value: name } = currentWorkspace;
  return (
    <EmptyState title={`The workspace ${name} can't be entered`}>
      <p class="bad" role="alert">
        {message}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
        <a href={workspaceUrl("", "#/")}>The server</a>
        <a href="#/workspaces">All workspaces</a>
      </div>
    </EmptyState>
  );
}

/** A page that only the server itself has. */
function OfServer() {
  return (
    <EmptyState title="This page belongs to the server">
      <p>Health, metrics and audited requests are those of the server with all its workspaces.</p>
      <a href={workspaceUrl("", "#/server")}>Leave the workspace</a>
    </EmptyState>
  );
}

function findType({
  group,
  resource,
}: {
  readonly group: string;
  readonly resource: string;
}): ResourceType | undefined {
  return serverTypes.value.types.find((one) => one.group === group && one.name === resource);
}

function Missing({ place }: { readonly place: { readonly group: string; readonly resource: string } }) {
  return (
    <EmptyState title="Not served">
      <p>
        The server has no resource {place.resource} in the group {place.group === "" ? "core" : place.group}.
        It may be a custom kind whose definition was deleted.
      </p>
      <a href="#/">All kinds</a>
    </EmptyState>
  );
}
