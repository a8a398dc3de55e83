import { workspaceUrl } from "../model/workspaces.ts";
import { currentWorkspace } from "../state/workspace.ts";
import { favorites, recent, type SavedPlace } from "../state/saved-places.ts";

/** The favorites of the user, and the objects that were shown last. */
export function SavedPlaces() {
  const marked = new Set(
    favorites.value
      .filter(({ workspace = "" }) => workspace === currentWorkspace.value)
      .map(({ place }) => place),
  );
  return (
    <>
      <PlaceList title="Favorites" places={favorites.value} />
      <PlaceList title="Recent" places={recent.value.filter(({ place }) => !marked.has(place))} />
    </>
  );
}

function PlaceList({ title, places }: { readonly title: string; readonly places: readonly SavedPlace[] }) {
  if (places.length === 0) return null;
  return (
    <nav aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {places.map(({ place, workspace = "", title: name }) => {
          const text = workspace === "" ? name : `${name} · ${workspace}`;
          return (
            <li key={`${workspace} ${place}`}>
              <a
                href={workspace === currentWorkspace.value ? place : workspaceUrl(workspace, place)}
                title={text}
              >
                {text}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
