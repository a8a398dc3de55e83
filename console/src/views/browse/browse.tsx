import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { actionOn } from "../api/access.ts";
import { tableColumns } from "../model/columns.ts";
import { listRoute, type ListRoute } from "../model/routes.ts";
import { apiVersionOf, pathOf, type ResourceType } from "../model/resource-types.ts";
import type { Row, Sort } from "../model/table.ts";
import { Action } from "../parts/action.tsx";
import { DraftInput } from "../parts/draft-input.tsx";
import { VirtualTable } from "../parts/virtual-table.tsx";
import { useKeys } from "../state/keys.ts";
import { LiveTable } from "../state/live-table.ts";
import { go } from "../state/place.ts";
import { serverTypes } from "../state/session.ts";
import { useAccess } from "../state/use-access.ts";
import { DeleteDialog } from "./delete.tsx";

/** Rows whose texts determine the widths of the columns. */
const measuredRows = 200;

/** A live list of the objects of one type. */
export function Browse({ type, place }: { readonly type: ResourceType; readonly place: ListRoute }) {
  const namespace = type.namespaced ? place.namespace : "";
  const access = useAccess(actionOn(type, "list", { namespace }));
  const allowed = access.value?.allowed;
  const table = useMemo(() => {
    const query = {
      path: pathOf(type, namespace),
      labels: place.labels,
      fields: place.fields,
      metaGroup: `meta.${serverTypes.value.groupSuffix}`,
      watches: type.verbs.includes("watch"),
    };
    return new LiveTable(query);
    // A changed right begins a new list: it has exactly the rows that the user may see now.
  }, [type, namespace, place.labels, place.fields, allowed === false]);
  useEffect(() => () => table.close(), [table]);
  useEffect(() => table.search(place.search), [table, place.search]);
  return (
    <section class="browse" aria-label={type.kind}>
      <Toolbar type={type} place={place} table={table} />
      <ListNotice table={table} type={type} />
      <Rows type={type} table={table} showsNamespace={type.namespaced && namespace === ""} />
    </section>
  );
}

interface PartProps {
  readonly type: ResourceType;
  readonly table: LiveTable;
}

function Toolbar({ type, place, table }: PartProps & { readonly place: ListRoute }) {
  const search = useRef<HTMLInputElement>(null);
  const count = useComputed(() => {
    const { model, version } = table;
    const shown = (version.value, model.view.length);
    return shown === model.size ? String(shown) : `${shown} of ${model.size}`;
  });
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
      <h1>
        {type.kind} <span class="note">{apiVersionOf(type)}</span>
      </h1>
      <span class="count" aria-live="polite">
        {count}
      </span>
      <LiveMark table={table} />
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

function LiveMark({ table }: { readonly table: LiveTable }) {
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

function ListNotice({ table, type }: PartProps) {
  const { value: state } = table.state;
  if (state.kind === "failed") {
    return (
      <p class="message bad" role="alert">
        {state.message}
      </p>
    );
  }
  if (state.kind === "live" && state.isView) {
    return (
      <p class="message">
        You may not list all {type.name} here. These are the objects that you may get
        {state.isPolled ? "; the list is read again every five seconds." : "."}
      </p>
    );
  }
  return null;
}

function Rows({ type, table, showsNamespace }: PartProps & { readonly showsNamespace: boolean }) {
  const selected = useSignal("");
  const deleting = useSignal<Row | undefined>(undefined);
  const sort = useSignal<Sort>(table.model.sort);
  const { model, version, columnVersion } = table;
  // The widths are computed once the first rows are there, so that columns don't move later.
  const hasRows = useComputed(() => (version.value, model.size > 0));
  const columns = useMemo(
    () => tableColumns(model.columns, model.view.slice(0, measuredRows), showsNamespace),
    [table, columnVersion.value, hasRows.value, showsNamespace],
  );
  const open = ({ namespace, name }: Row, tab = "yaml") =>
    go({ view: "object", group: type.group, resource: type.name, namespace, name, tab });
  const withSelected = (run: (row: Row) => void) => {
    const row = model.find(selected.peek());
    if (row !== undefined) run(row);
  };
  useRowKeys(type, table, {
    open: (tab) => withSelected((row) => open(row, tab)),
    remove: () => withSelected((row) => (deleting.value = row)),
  });
  useEffect(() => {
    if (sort.peek() !== table.model.sort) table.sortBy(sort.peek());
  }, [table]);
  useEffect(() => {
    if (hasRows.value && selected.peek() === "") selected.value = model.view[0]?.key ?? "";
  }, [table, hasRows.value]);
  useEffect(() => document.querySelector<HTMLElement>(".table")?.focus({ preventScroll: true }), [table]);
  if (columns.length === 0) return <div class="table empty" />;
  return (
    <>
      <VirtualTable
        label={`${type.kind} objects`}
        columns={columns}
        rows={() => model.view}
        version={version}
        now={table.now}
        selected={selected}
        indexOf={(key) => model.indexOf(key)}
        sort={sort.value}
        onSort={(next) => {
          sort.value = next;
          table.sortBy(next);
        }}
        onSelect={({ key }) => (selected.value = key)}
        onOpen={(row) => open(row)}
      />
      {deleting.value !== undefined && (
        <DeleteDialog
          type={type}
          namespace={deleting.value.namespace}
          name={deleting.value.name}
          uid={deleting.value.uid}
          onClose={() => (deleting.value = undefined)}
        />
      )}
    </>
  );
}

interface RowCommands {
  readonly open: (tab: string) => void;
  readonly remove: () => void;
}

function useRowKeys(type: ResourceType, table: LiveTable, { open, remove }: RowCommands): void {
  useKeys(
    [
      { keys: ["d"], label: "Describe the selected object", run: () => open("overview") },
      { keys: ["y"], label: "YAML of the selected object", run: () => open("yaml") },
      { keys: ["e"], label: "Edit the selected object", run: () => open("edit") },
      { keys: ["Ctrl+d", "Delete"], label: "Delete the selected object", run: remove },
      { keys: ["0"], label: "All namespaces", run: () => go(listRoute(type)) },
    ],
    [table],
  );
}
