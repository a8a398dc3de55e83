import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isBrowsable, matchingTypes, type ResourceType } from "../model/resource-types.ts";
import { fullName } from "../model/resource-types.ts";
import { formatRoute, listRoute, type Route } from "../model/routes.ts";
import { KeyHelp } from "../parts/key-help.tsx";
import { Lazy } from "../parts/lazy.tsx";
import { Palette, type Choice } from "../parts/palette.tsx";
import { bug } from "../state/bugs.ts";
import { useKeys } from "../state/keys.ts";
import { go, lastNamespace, route, theme, type Theme } from "../state/place.ts";
import { serverTypes, session, signOut } from "../state/session.ts";
import { Browse } from "./browse.tsx";
import { Home } from "./home.tsx";
import { NamespaceField } from "./namespace-field.tsx";
import { Sidebar } from "./sidebar.tsx";

/** The frame of the console after the login. */
export function Shell() {
  const dialog = useSignal<"none" | "palette" | "keys">("none");
  const close = () => (dialog.value = "none");
  useKeys(
    [
      { keys: [":"], label: "Go to a kind, or run a command", run: () => (dialog.value = "palette") },
      { keys: ["?"], label: "Keys", run: () => (dialog.value = "keys") },
      { keys: ["n"], label: "Namespace", run: () => document.getElementById("namespace")?.focus() },
      { keys: ["Escape"], label: "Back", run: () => history.back() },
    ],
    [],
  );
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <Header openPalette={() => (dialog.value = "palette")} openKeys={() => (dialog.value = "keys")} />
      <Sidebar />
      <main id="main" tabIndex={0}>
        {bug.value !== "" && (
          <p class="message bad" role="alert">
            The console has a bug: {bug.value}{" "}
            <button type="button" class="link" onClick={() => (bug.value = "")}>
              Hide
            </button>
          </p>
        )}
        <Content place={route.value} />
      </main>
      {dialog.value === "palette" && <Palette choices={choicesFor} onClose={close} />}
      {dialog.value === "keys" && <KeyHelp onClose={close} />}
    </div>
  );
}

/** The fragment of the URL is the place, so the link moves the focus itself. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

interface HeaderProps {
  readonly openPalette: () => void;
  readonly openKeys: () => void;
}

function Header({ openPalette, openKeys }: HeaderProps) {
  const { value: state } = session;
  const { value: place } = route;
  const link = (to: Route, text: string, isCurrent: boolean) => (
    <a href={formatRoute(to)} aria-current={isCurrent ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <header>
      <a class="brand" href="#/">
        <img src="icon.svg" alt="" width="20" height="20" /> Plinth
      </a>
      <button type="button" class="go" onClick={openPalette}>
        Go to… <kbd>:</kbd>
      </button>
      <NamespaceField />
      <nav aria-label="Views">
        {link({ view: "access", tab: "why", query: {} }, "Access", place.view === "access")}
        {link({ view: "server" }, "Server", place.view === "server")}
      </nav>
      <button type="button" class="quiet" onClick={openKeys} aria-label="Keys">
        ?
      </button>
      <ThemeSwitch />
      <span class="user" title="Signed in as">
        {state.kind === "signed-in" ? state.userName : ""}
      </span>
      <button type="button" class="quiet" onClick={() => signOut("You are signed out.")}>
        Sign out
      </button>
    </header>
  );
}

const themes: readonly Theme[] = ["system", "light", "dark"];
const themeMarks: Readonly<Record<Theme, string>> = { system: "◐", light: "○", dark: "●" };

function ThemeSwitch() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Colors: ${theme.value}. Switch to ${next}.`}
      title={`Colors: ${theme.value}`}
      onClick={() => (theme.value = next)}
    >
      {themeMarks[theme.value]}
    </button>
  );
}

function Content({ place }: { readonly place: Route }) {
  useEffect(() => {
    if ("namespace" in place && place.view === "list") lastNamespace.value = place.namespace;
    document.title = titleOf(place);
  }, [place]);
  switch (place.view) {
    case "home":
      return <Home />;
    case "list": {
      const type = findType(place);
      if (type === undefined) return <Missing place={place} />;
      return <Browse key={fullName(type)} type={type} place={place} />;
    }
    case "object": {
      const type = findType(place);
      if (type === undefined) return <Missing place={place} />;
      const load = async () => (await import("./object/object.tsx")).ObjectView;
      return <Lazy key="object" load={load} props={{ type, place }} />;
    }
    case "create": {
      const type = findType(place);
      if (type === undefined) return <Missing place={place} />;
      const load = async () => (await import("./object/create.tsx")).CreateView;
      return <Lazy key="create" load={load} props={{ type, place }} />;
    }
    case "access":
      return (
        <Lazy
          key="access"
          load={async () => (await import("./access/access.tsx")).AccessView}
          props={{ place }}
        />
      );
    case "server":
      return (
        <Lazy key="server" load={async () => (await import("./server/server.tsx")).ServerView} props={{}} />
      );
  }
}

function titleOf(place: Route): string {
  if (place.view === "object") return `${place.name} · ${place.resource} · Plinth`;
  if ("resource" in place) return `${place.resource} · Plinth`;
  return place.view === "home" ? "Plinth console" : `${place.view} · Plinth`;
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
    <section class="page">
      <h1>Not served</h1>
      <p>
        The server has no resource {place.resource} in the group {place.group === "" ? "core" : place.group}.
      </p>
    </section>
  );
}

/** Choices of the palette: kinds first, then commands. */
function choicesFor(text: string): readonly Choice[] {
  const types = matchingTypes(serverTypes.value.types.filter(isBrowsable), text).map((type) => ({
    id: fullName(type),
    label: type.name,
    note: [type.kind, type.group, ...type.shortNames].filter((one) => one !== "").join(" · "),
    run: () => go(listRoute(type, type.namespaced ? lastNamespace.value : "")),
  }));
  const lower = text.trim().toLowerCase();
  const commands = paletteCommands.filter(({ label }) => lower !== "" && label.includes(lower));
  return [...types, ...commands];
}

const paletteCommands: readonly Choice[] = [
  command("access why", "Why may a user do something?", () => go({ view: "access", tab: "why", query: {} })),
  command("access who-can", "Who may do something?", () => go({ view: "access", tab: "who-can", query: {} })),
  command("access matrix", "What may a user do?", () => go({ view: "access", tab: "matrix", query: {} })),
  command("access graph", "Roles and bindings of a subject", () =>
    go({ view: "access", tab: "graph", query: {} }),
  ),
  command("server", "Health and metrics", () => go({ view: "server" })),
  command("home", "All kinds", () => go({ view: "home" })),
  command("quit", "Sign out", () => signOut("You are signed out.")),
];

function command(label: string, note: string, run: () => void): Choice {
  return { id: `command ${label}`, label, note, run };
}
