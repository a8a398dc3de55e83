import { fullName, isBrowsable, matchingTypes } from "../model/resource-types.ts";
import { listRoute } from "../model/routes.ts";
import type { Choice } from "../parts/palette.tsx";
import { go, lastNamespace } from "../state/place.ts";
import { serverTypes, signOut } from "../state/session.ts";

/** Choices of the palette: kinds first, then commands. */
export function choicesFor(text: string): readonly Choice[] {
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
  command("trash", "Deleted objects that can come back", () => go({ view: "trash", kind: "" })),
  command("workspaces", "Separate APIs of the server, and branches", () => go({ view: "workspaces" })),
  command("server", "Health and metrics", () => go({ view: "server" })),
  command("home", "All kinds", () => go({ view: "home" })),
  command("quit", "Sign out", () => signOut("You are signed out.")),
];

function command(label: string, note: string, run: () => void): Choice {
  return { id: `command ${label}`, label, note, run };
}
