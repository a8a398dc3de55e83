import { useRef } from "preact/hooks";
import { actionOn } from "../../api/access.ts";
import type { ListRoute } from "../../model/routes.ts";
import { apiVersionOf, type ResourceType } from "../../model/resource-types.ts";
import { Action } from "../../parts/action.tsx";
import { DraftInput } from "../../parts/draft-input.tsx";
import { FavoriteButton } from "../../parts/favorite-button.tsx";
import { useKeys } from "../../state/keys.ts";
import type { LiveTable } from "../../state/live-table.ts";
import { go } from "../../state/place.ts";

interface ToolbarProps {
  readonly type: ResourceType;
  readonly place: ListRoute;
  readonly table: LiveTable;
}

/** Title, number of rows and filters of a list. The filters are in the URL, so a favorite or a link has them too. */
export function Toolbar({ type, place, table }: ToolbarProps) {
  const search = useRef<HTMLInputElement>(null);
  const change = (more: Partial<ListRoute>) => go({ ...place, ...more }, true);
  useKeys(
    [
      { keys: ["/"], label: "Search in the rows", run: () => search.current!.focus() },
      {
        keys: ["Escape"],
        label: "Clear the search, or go back",
        run: () => (place.search === "" ? history.back() : change({ search: "" })),
      },
    ],
    [place],
  );
  const leave = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    if (event.key === "Escape" || event.key === "Enter") {
      event.currentTarget.blur();
      document.querySelector<HTMLElement>(".table")?.focus();
      event.preventDefault();
    }
  };
  return (
    <div class="toolbar">
      <div class="title">
        <h1 title={`${type.kind} ${apiVersionOf(type)}`}>
          {type.kind} <span class="note">{apiVersionOf(type)}</span>
        </h1>
        <FavoriteButton place={place} />
        <Count table={table} />
        <LiveMark table={table} />
      </div>
      <input
        ref={search}
        type="search"
        aria-label="Search in the rows"
        placeholder="Search  /"
        value={place.search}
        onInput={(event) => change({ search: event.currentTarget.value })}
        onKeyDown={leave}
      />
      <Selector label="Label selector" value={place.labels} onChange={(labels) => change({ labels })} />
      <Selector label="Field selector" value={place.fields} onChange={(fields) => change({ fields })} />
      {type.verbs.includes("create") && (
        <Action
          action={actionOn(type, "create", { namespace: place.namespace })}
          label="Create"
          isPrimary
          onRun={() =>
            go({ view: "create", group: type.group, resource: type.name, namespace: place.namespace })
          }
        />
      )}
    </div>
  );
}

interface SelectorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A selector that the server evaluates; it applies when the user confirms it. */
function Selector({ label, value, onChange }: SelectorProps) {
  return <DraftInput class="selector" placeholder={label} value={value} onCommit={onChange} />;
}

interface TableProps {
  readonly table: LiveTable;
}

/** The number of rows; of those found if some are hidden by the search. */
function Count({ table: { model, version } }: TableProps) {
  const shown = (version.value, model.view.length);
  return (
    <span class="count" aria-live="polite">
      {shown === model.size ? String(shown) : `${shown} of ${model.size}`}
    </span>
  );
}

function LiveMark({ table }: TableProps) {
  const { value: state } = table.state;
  const text =
    state.kind === "loading"
      ? "loading"
      : state.kind === "failed"
        ? "not live"
        : state.isView
          ? "my objects"
          : "live";
  return (
    <span class={`live ${state.kind}`} role="status">
      {text}
    </span>
  );
}
