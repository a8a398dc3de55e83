import { useSignal } from "@preact/signals";
import { byGroup, isBrowsable, type ResourceType } from "../model/resource-types.ts";
import { formatRoute, listRoute, type Route } from "../model/routes.ts";
import { lastNamespace, route } from "../state/place.ts";
import { serverTypes } from "../state/session.ts";
import { currentWorkspace, workspaceTypes } from "../state/workspace.ts";
import { UserArea } from "./header.tsx";
import { SavedPlaces } from "./saved-places.tsx";

/** The kinds by group. */
export function Sidebar() {
  const groups = byGroup(serverTypes.value.types.filter(isBrowsable));
  const { value: place } = route;
  const current = "resource" in place ? `${place.group}/${place.resource}` : "";
  return (
    <aside class="sidebar" id="sidebar" aria-label="Places">
      <UserArea />
      <nav aria-label="Views">
        <ul>
          <PlaceLink to={{ view: "home" }} text="Home" />
          <PlaceLink to={{ view: "access", tab: "mine", query: {} }} text="Access" />
          <PlaceLink to={{ view: "trash", kind: "" }} text="Trash" />
          {workspaceTypes.value.length > 0 && <PlaceLink to={{ view: "workspaces" }} text="Workspaces" />}
          {currentWorkspace.value === "" ? (
            <PlaceLink to={{ view: "server" }} text="Server" />
          ) : (
            <PlaceLink
              to={{ view: "workspace", name: currentWorkspace.value, tab: "overview", query: {} }}
              text={`Workspace ${currentWorkspace.value}`}
            />
          )}
        </ul>
      </nav>
      <SavedPlaces />
      <nav aria-label="Kinds">
        {groups.map(([group, types]) => (
          <Group key={group} group={group} types={types} current={current} />
        ))}
      </nav>
    </aside>
  );
}

function PlaceLink({ to, text }: { readonly to: Route; readonly text: string }) {
  return (
    <li>
      <a href={formatRoute(to)} aria-current={route.value.view === to.view ? "page" : undefined}>
        {text}
      </a>
    </li>
  );
}

interface GroupProps {
  readonly group: string;
  readonly types: readonly ResourceType[];
  /** `group/name` of the type that is shown. */
  readonly current: string;
}

/** Groups that are open at first. */
const openAtFirst = new Set(["", "apps", "batch"]);

function Group({ group, types, current }: GroupProps) {
  const isOpen = useSignal(openAtFirst.has(group) || current.startsWith(`${group}/`));
  return (
    <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary title={group === "" ? "core" : group}>{group === "" ? "core" : shortened(group)}</summary>
      <ul>
        {types.map((type) => (
          <li key={type.name}>
            <a
              href={formatRoute(listRoute(type, type.namespaced ? lastNamespace.value : ""))}
              aria-current={current === `${type.group}/${type.name}` ? "page" : undefined}
            >
              {type.kind}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The group without the suffix of the server's own groups. */
function shortened(group: string): string {
  const suffix = `.${serverTypes.value.groupSuffix}`;
  return group.endsWith(suffix) ? group.slice(0, -suffix.length) : group;
}
