import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { actionOn } from "../../api/access.ts";
import { sortOf, sortText, tableColumns } from "../../model/columns.ts";
import { formatRoute, listRoute, type ListRoute } from "../../model/routes.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import type { Row } from "../../model/table.ts";
import { Action } from "../../parts/action.tsx";
import { EmptyState, Loading } from "../../parts/states.tsx";
import { VirtualTable } from "../../parts/virtual-table.tsx";
import { useKeys } from "../../state/keys.ts";
import type { LiveTable } from "../../state/live-table.ts";
import type { Marks } from "../../state/marks.ts";
import { go } from "../../state/place.ts";
import { DeleteDialog } from "../delete.tsx";

/** Rows whose texts determine the widths of the columns. */
const measuredRows = 200;

interface RowsProps {
  readonly type: ResourceType;
  readonly place: ListRoute;
  readonly table: LiveTable;
  readonly marks: Marks;
  readonly showsNamespace: boolean;
}

/** The rows of a list. */
export function Rows({ type, place, table, marks, showsNamespace }: RowsProps) {
  const selected = useSignal("");
  const deleting = useSignal<Row | undefined>(undefined);
  const { model, version, columnVersion } = table;
  // The widths are computed once the first rows are there, so that columns don't move later.
  const hasRows = (version.value, model.size > 0);
  const columns = useMemo(
    () => tableColumns(model.columns, model.view.slice(0, measuredRows), showsNamespace),
    [table, columnVersion.value, hasRows, showsNamespace],
  );
  const sort = useMemo(() => sortOf(place.sort, columns), [place.sort, columns]);
  const open = ({ namespace, name }: Row, tab = "overview") =>
    go({ view: "object", group: type.group, resource: type.name, namespace, name, tab });
  const withSelected = (run: (row: Row) => void) => {
    const row = model.find(selected.peek());
    if (row !== undefined) run(row);
  };
  useRowKeys(type, table, {
    open: (tab) => withSelected((row) => open(row, tab)),
    remove: () => withSelected((row) => (deleting.value = row)),
    leaveMarks: () => (marks.value = new Set()),
  });
  useEffect(() => table.sortBy(sort), [table, sort]);
  useEffect(() => {
    if (model.find(selected.peek()) === undefined) selected.value = model.view[0]?.key ?? "";
  }, [table, hasRows]);
  useEffect(() => document.querySelector<HTMLElement>(".table")?.focus({ preventScroll: true }), [table]);
  if (columns.length === 0)
    return table.state.value.kind === "loading" ? <Loading label="Reading the list…" /> : null;
  return (
    <>
      <VirtualTable
        label={`${type.kind} objects`}
        columns={columns}
        rows={() => model.view}
        version={version}
        now={table.now}
        selected={selected}
        marks={marks}
        indexOf={(key) => model.indexOf(key)}
        sort={sort}
        onSort={(next) => go({ ...place, sort: sortText(next, columns) }, true)}
        onSelect={({ key }) => (selected.value = key)}
        onOpen={(row) => open(row)}
        empty={<EmptyList type={type} place={place} table={table} />}
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

/** Says why a list has no rows, and how to make one. */
function EmptyList({ type, place, table }: Pick<RowsProps, "type" | "place" | "table">) {
  const { kind } = table.state.value;
  if (kind !== "live") return null;
  const { namespace, labels, fields, search } = place;
  const where = namespace === "" || !type.namespaced ? "" : ` in ${namespace}`;
  const isFiltered = labels !== "" || fields !== "" || search !== "";
  if (isFiltered) {
    return (
      <EmptyState title={`No ${type.name} match`}>
        <p>Some may be there that the search or the selectors leave out{where}.</p>
        <button type="button" onClick={() => go({ ...place, labels: "", fields: "", search: "" }, true)}>
          Show all
        </button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={`No ${type.name}${where}`}>
      <p>Each {type.kind} has a row here, as soon as it is created.</p>
      <div class="buttons">
        {type.verbs.includes("create") && (
          <Action
            action={actionOn(type, "create", { namespace })}
            label={`New ${type.kind}`}
            onRun={() => go({ view: "create", group: type.group, resource: type.name, namespace })}
          />
        )}
        {where !== "" && <a href={formatRoute(listRoute(type))}>Look in all namespaces</a>}
      </div>
    </EmptyState>
  );
}

interface RowCommands {
  readonly open: (tab: string) => void;
  readonly remove: () => void;
  readonly leaveMarks: () => void;
}

function useRowKeys(type: ResourceType, table: LiveTable, { open, remove, leaveMarks }: RowCommands): void {
  useKeys(
    [
      { keys: ["d"], label: "Describe the selected object", run: () => open("overview") },
      { keys: ["y"], label: "YAML of the selected object", run: () => open("yaml") },
      { keys: ["e"], label: "Edit the selected object", run: () => open("edit") },
      { keys: ["Ctrl+d", "Delete"], label: "Delete the selected object", run: remove },
      { keys: ["u"], label: "Remove all marks", run: leaveMarks },
      { keys: ["0"], label: "All namespaces", run: () => go(listRoute(type)) },
    ],
    [table],
  );
}
