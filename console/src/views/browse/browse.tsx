import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { actionOn } from "../../api/access.ts";
import type { ListRoute } from "../../model/routes.ts";
import { pathOf, type ResourceType } from "../../model/resource-types.ts";
import { useMarks } from "../../state/marks.ts";
import { LiveTable } from "../../state/live-table.ts";
import { serverTypes } from "../../state/session.ts";
import { useAccess } from "../../state/use-access.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { Rows } from "./rows.tsx";
import { Toolbar } from "./toolbar.tsx";

/** A live list of the objects of one type. */
export function Browse({ type, place }: { readonly type: ResourceType; readonly place: ListRoute }) {
  const namespace = type.namespaced ? place.namespace : "";
  const access = useAccess(actionOn(type, "list", { namespace }));
  // The reason of a decision doesn't concern the list.
  const isRefused = useComputed(() => access.value?.allowed === false).value;
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
  }, [type, namespace, place.labels, place.fields, isRefused]);
  const marks = useMarks(table);
  useEffect(() => () => table.close(), [table]);
  useEffect(() => table.search(place.search), [table, place.search]);
  return (
    <section class="browse" aria-label={type.kind}>
      <Toolbar type={type} place={place} table={table} />
      <ListNotice table={table} type={type} />
      <BulkBar type={type} table={table} marks={marks} namespace={namespace} />
      <Rows
        type={type}
        place={place}
        table={table}
        marks={marks}
        showsNamespace={type.namespaced && namespace === ""}
      />
    </section>
  );
}

interface NoticeProps {
  readonly type: ResourceType;
  readonly table: LiveTable;
}

function ListNotice({ table, type }: NoticeProps) {
  const { value: state } = table.state;
  if (state.kind === "failed") {
    return (
      <div class="message bad" role="alert">
        <strong>{state.status === 0 ? "The connection is lost" : "The list can't be read"}</strong>
        <p>{state.message}. It is tried again by itself.</p>
      </div>
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
