import { effect, signal } from "@preact/signals";
import { formatRoute, placeTitle, type Route } from "../model/routes.ts";
import { isWorkspaceName } from "../model/workspaces.ts";
import { storage } from "./place.ts";
import { session } from "./session.ts";
import { currentWorkspace } from "./workspace.ts";

/** A place that the sidebar links. */
export interface SavedPlace {
  /** The fragment of its URL. */
  readonly place: string;
  /** Name of its workspace; absent for the server. */
  readonly workspace?: string;
  readonly title: string;
}

const favoritesKey = "plinth-console-favorites";
const [maxFavorites, maxRecent] = [20, 6];

/** Places that the user has marked; they are kept in the browser. */
export const favorites = signal<readonly SavedPlace[]>(storedFavorites());
/** Objects and lists that were shown last, the newest first; until the sign-out. */
export const recent = signal<readonly SavedPlace[]>([]);

effect(() => {
  if (session.value.kind === "signed-out") recent.value = [];
});

/** Adds a place to the recent ones. The start and the pages of the server are always linked. */
export function visited(place: Route): void {
  if (place.view !== "object") return;
  const { group, resource, namespace, name } = place;
  const saved = savedPlace({ view: "object", group, resource, namespace, name, tab: "overview" });
  recent.value = [saved, ...recent.peek().filter((one) => one.place !== saved.place)].slice(0, maxRecent);
}

export function isFavorite(place: Route): boolean {
  const saved = savedPlace(place);
  return favorites.value.some((one) => isSame(one, saved));
}

/** Marks a place, or removes the mark. */
export function toggleFavorite(place: Route): void {
  const saved = savedPlace(place);
  const others = favorites.value.filter((one) => !isSame(one, saved));
  favorites.value =
    others.length < favorites.value.length ? others : [...favorites.value, saved].slice(-maxFavorites);
  storage()?.setItem(favoritesKey, JSON.stringify(favorites.value));
}

function savedPlace(place: Route): SavedPlace {
  const { value: workspace } = currentWorkspace;
  return { place: formatRoute(place), title: placeTitle(place), ...(workspace !== "" && { workspace }) };
}

function isSame(one: SavedPlace, other: SavedPlace): boolean {
  return one.place === other.place && one.workspace === other.workspace;
}

function storedFavorites(): readonly SavedPlace[] {
  try {
    const value: unknown = JSON.parse(storage()?.getItem(favoritesKey) ?? "[]");
    if (!Array.isArray(value)) return [];
    return (value as readonly Partial<SavedPlace>[])
      .filter((one): one is SavedPlace => typeof one?.place === "string" && typeof one.title === "string")
      .filter(({ place }) => place.startsWith("#/"))
      .filter(({ workspace }) => workspace === undefined || isWorkspaceName(workspace))
      .slice(0, maxFavorites);
  } catch {
    // Not JSON: another program has written it.
    return [];
  }
}
