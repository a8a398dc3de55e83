import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { apiVersionOf, type ResourceType } from "../../model/resource-types.ts";
import { formatRoute, listRoute, type ObjectRoute } from "../../model/routes.ts";
import { curlCommand, kubectlCommand } from "../../model/copies.ts";
import { writeYaml, type Json } from "../../model/yaml.ts";
import { Action } from "../../parts/action.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { FavoriteButton } from "../../parts/favorite-button.tsx";
import { Lazy } from "../../parts/lazy.tsx";
import { Menu } from "../../parts/menu.tsx";
import { EmptyState, Loading } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { WhyButton } from "../../parts/why-not.tsx";
import { useKeys } from "../../state/keys.ts";
import { LiveObject } from "../../state/live-object.ts";
import { go } from "../../state/place.ts";
import { visited } from "../../state/saved-places.ts";
import { workspaceServer, workspaceType } from "../../state/workspace.ts";
import { DeleteDialog } from "../delete.tsx";
import { Changes } from "./changes.tsx";
import { Events } from "./events.tsx";
import { Fields } from "./fields.tsx";
import { Overview } from "./overview.tsx";
import { Relations } from "./relations.tsx";
import { Versions } from "./versions.tsx";
import { YamlText } from "./yaml-text.tsx";

/** Tabs in order: name in the place, title, and key. */
const tabs = [
  ["overview", "Overview", "1"],
  ["yaml", "YAML", "2"],
  ["fields", "Fields", "3"],
  ["relations", "Relations", "4"],
  ["events", "Events", "5"],
  ["changes", "Changes", "6"],
  ["edit", "Edit", "7"],
  ["form", "Form", "8"],
] as const;

interface ObjectProps {
  readonly type: ResourceType;
  readonly place: ObjectRoute;
}

/** One object, followed while it is shown. */
export function ObjectView({ type, place }: ObjectProps) {
  const { namespace, name } = place;
  const live = useMemo(() => new LiveObject(type, namespace, name), [type, namespace, name]);
  const isDeleting = useSignal(false);
  useEffect(() => () => live.close(), [live]);
  const show = (tab: string) => go({ ...place, tab }, true);
  useObjectKeys(place, show, () => (isDeleting.value = live.object.peek() !== undefined));
  const isRead = live.object.value !== undefined;
  useEffect(() => {
    if (isRead) visited(place);
  }, [live, isRead]);
  if (!isRead && live.failure.value !== "") return <Unreadable type={type} place={place} live={live} />;
  return (
    <section class="object" aria-label={`${type.kind} ${name}`}>
      <div class="toolbar">
        <h1 title={`${type.kind} ${name}`}>
          <a href={formatRoute(listRoute(type, namespace))}>{type.kind}</a> {name}{" "}
          <span class="note">
            {namespace} {apiVersionOf(type)}
          </span>
        </h1>
        <FavoriteButton place={{ ...place, tab: "overview" }} />
        <span class="space" />
        {type === workspaceType("workspaces") && (
          <a class="button" href={formatRoute({ view: "workspace", name, tab: "difference", query: {} })}>
            Difference
          </a>
        )}
        <CopyMenu type={type} place={place} live={live} />
        {isRead && !live.isDeleted.value && (
          <Action
            action={actionOn(type, "delete", { namespace, name })}
            label="Delete"
            isDangerous
            onRun={() => (isDeleting.value = true)}
          />
        )}
      </div>
      <Tabs label="Views of the object" tabs={tabs} current={place.tab} onShow={show} />
      {live.failure.value !== "" && (
        <div class="message bad" role="alert">
          <strong>
            {live.failureStatus.value === 0 ? "The connection is lost" : "The object can't be read any more"}
          </strong>
          <p>{live.failure.value}. This is the last version that was read; it is tried again by itself.</p>
        </div>
      )}
      {live.isDeleted.value && (
        <p class="message" role="status">
          The object was deleted. This is its last version.
        </p>
      )}
      <div id="tab-panel" class="page" role="tabpanel" tabIndex={0} aria-labelledby={`tab-${place.tab}`}>
        <Panel type={type} place={place} live={live} />
      </div>
      {isDeleting.value && (
        <DeleteDialog
          type={type}
          namespace={namespace}
          name={name}
          uid={live.object.value?.metadata.uid}
          onClose={() => (isDeleting.value = false)}
          onDeleted={() => go(listRoute(type, namespace))}
        />
      )}
    </section>
  );
}

interface LiveProps extends ObjectProps {
  readonly live: LiveObject;
}

/** The object can't be read: it isn't there, or the user may not get it. */
function Unreadable({ type, place: { group, resource, namespace, name }, live }: LiveProps) {
  const where = namespace === "" ? "" : ` in the namespace ${namespace}`;
  const status = live.failureStatus.value;
  const list = (
    <a href={formatRoute(listRoute(type, namespace))}>
      All {type.name}
      {where}
    </a>
  );
  if (status === 404) {
    return (
      <EmptyState title={`${type.kind} ${name} doesn't exist`}>
        <p>
          There is no {type.kind} of this name{where}. It may have been deleted. This page shows it as soon as
          it is created.
        </p>
        <div class="buttons">
          {type.verbs.includes("create") && (
            <Action
              action={actionOn(type, "create", { namespace })}
              label="Create it"
              onRun={() => go({ view: "create", group, resource, namespace, name })}
            />
          )}
          {list}
        </div>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title={status === 403 ? `You may not read ${type.kind} ${name}` : `${type.kind} ${name} can't be read`}
    >
      <p class="bad" role="alert">
        {live.failure.value}
      </p>
      {status !== 403 && <p class="note">It is tried again every few seconds.</p>}
      <div class="buttons">
        {status === 403 && <WhyButton action={actionOn(type, "get", { namespace, name })} />}
        {list}
      </div>
    </EmptyState>
  );
}

/** The object in forms for other programs. */
function CopyMenu({ type, place: { namespace, name }, live }: LiveProps) {
  return (
    <Menu label="Copy">
      <CopyButton label="YAML" text={() => writeYaml(live.object.peek() as unknown as Json)} />
      <CopyButton
        label="kubectl command"
        text={() => kubectlCommand(type, namespace, name, workspaceServer())}
      />
      <CopyButton
        label="curl command"
        text={() => curlCommand(workspaceServer() || location.origin, type, namespace, name)}
      />
      <CopyButton label="Link" text={() => location.href} />
    </Menu>
  );
}

function useObjectKeys(place: ObjectRoute, show: (tab: string) => void, remove: () => void): void {
  useKeys(
    [
      ...tabs.map(([tab, label, key]) => ({ keys: [key], label, run: () => show(tab) })),
      { keys: ["y"], label: "YAML", run: () => show("yaml") },
      { keys: ["d"], label: "Overview", run: () => show("overview") },
      { keys: ["e"], label: "Edit", run: () => show("edit") },
      { keys: ["Ctrl+d", "Delete"], label: "Delete", run: remove },
    ],
    [place],
  );
}

function Panel({ type, place, live }: ObjectProps & { readonly live: LiveObject }): ComponentChildren {
  const { value: object } = live.object;
  if (object === undefined) return <Loading label={`Reading ${place.name}…`} />;
  switch (place.tab) {
    case "overview":
      return <Overview type={type} object={object} />;
    case "fields":
      return <Fields object={object} />;
    case "relations":
      return <Relations key={object.metadata.uid} type={type} object={object} />;
    case "events":
      return <Events key={object.metadata.uid} object={object} />;
    case "changes":
      return (
        <>
          <Changes versions={live.versions.value} />
          <h2>History</h2>
          <Versions type={type} object={object} />
        </>
      );
    case "edit":
    case "form":
      return (
        <Lazy
          load={async () => (await import("./edit.tsx")).EditView}
          props={{
            type,
            live,
            namespace: place.namespace,
            name: place.name,
            showsForm: place.tab === "form",
          }}
        />
      );
    default:
      return <YamlText object={object} />;
  }
}
