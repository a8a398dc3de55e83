import { useSignal } from "@preact/signals";
import { readTrash, type Trash } from "../../api/trash.ts";
import { fullName, isBrowsable, type ResourceType } from "../../model/resource-types.ts";
import type { DeletedObject } from "../../model/trash.ts";
import { actionOn } from "../../api/access.ts";
import { Action } from "../../parts/action.tsx";
import { ObjectLink } from "../../parts/object-link.tsx";
import { EmptyState, Failure, Loading } from "../../parts/states.tsx";
import { TableHead } from "../../parts/table-head.tsx";
import { Time } from "../../parts/time.tsx";
import { go } from "../../state/place.ts";
import { serverTypes } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { RestoreDialog } from "./restore.tsx";

interface TrashProps {
  /** Full name of the kind that is shown, such as `deployments.apps`; empty for all. */
  readonly kind: string;
}

/** Deleted objects that can come back: who deleted them and when, with a way back. */
export function TrashView({ kind }: TrashProps) {
  const { types, groupSuffix } = serverTypes.value;
  const reads = useSignal(0);
  const retry = () => void reads.value++;
  const restored = useSignal<DeletedObject | undefined>(undefined);
  const candidates = types.filter((type) => isBrowsable(type) && type.verbs.includes("create"));
  const trash = useAsync(
    (signal) => readTrash(candidates, groupSuffix, signal),
    [types, groupSuffix, reads.value],
  );
  if (trash === undefined) return <Loading label="Reading the trash…" />;
  if (typeof trash === "string")
    return <Failure title="The trash can't be read" message={trash} onRetry={retry} />;
  if (trash.types.length === 0)
    return (
      <EmptyState title="No trash">
        <p>
          Deleted objects can come back if the server keeps their history, and if you may list them. It is
          kept for the resources in the flag <code>--history-retention</code>, such as{" "}
          <code>--history-retention=5m,configmaps=30d</code>.
        </p>
      </EmptyState>
    );
  const onRestored = (deleted: DeletedObject) => {
    restored.value = deleted;
    retry();
  };
  return <TrashTable trash={trash} kind={kind} restored={restored.value} onRestored={onRestored} />;
}

interface TrashTableProps extends TrashProps {
  readonly trash: Trash;
  /** The object that was restored last. */
  readonly restored: DeletedObject | undefined;
  readonly onRestored: (deleted: DeletedObject) => void;
}

function TrashTable({ trash, kind, restored, onRestored }: TrashTableProps) {
  const chosen = useSignal<DeletedObject | undefined>(undefined);
  const shown = trash.objects.filter(({ type }) => kind === "" || fullName(type) === kind);
  return (
    <section class="page server" aria-label="Trash">
      <h1>Trash</h1>
      <p class="note">Deleted objects that can come back, the last deleted first.</p>
      <KindField types={trash.types} kind={kind} />
      {restored !== undefined && (
        <p class="message good" role="status">
          Restored: <ObjectLink type={restored.type} namespace={restored.namespace} name={restored.name} />
        </p>
      )}
      {shown.length === 0 ? (
        <p class="note">Nothing that was deleted can come back{kind === "" ? "" : `: no ${kind}`}.</p>
      ) : (
        <div class="wide">
          <table class="plain">
            <TableHead columns={["Kind", "Namespace", "Name", "Deleted", "By", "Restore"]} />
            <tbody>
              {shown.map((one) => (
                <Row key={keyOf(one)} deleted={one} onRestore={() => (chosen.value = one)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {trash.incomplete.length > 0 && (
        <p class="note">
          Not all are shown of: {trash.incomplete.map((type) => type.name).join(", ")}. The command{" "}
          <code>plinth trash</code> lists the others.
        </p>
      )}
      {chosen.value !== undefined && (
        <RestoreDialog
          key={keyOf(chosen.value)}
          deleted={chosen.value}
          onClose={() => (chosen.value = undefined)}
          onRestored={(deleted) => {
            chosen.value = undefined;
            onRestored(deleted);
          }}
        />
      )}
    </section>
  );
}

function keyOf({ type, namespace, name }: DeletedObject): string {
  return `${fullName(type)} ${namespace}/${name}`;
}

function KindField({ types, kind }: { readonly types: readonly ResourceType[]; readonly kind: string }) {
  const names = types.map(fullName).toSorted();
  return (
    <p>
      <label for="trash-kind">Kind</label>{" "}
      <select
        id="trash-kind"
        value={kind}
        onChange={(event) => go({ view: "trash", kind: event.currentTarget.value })}
      >
        <option value="">all kinds</option>
        {(kind === "" || names.includes(kind) ? names : [kind, ...names]).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </p>
  );
}

interface RowProps {
  readonly deleted: DeletedObject;
  readonly onRestore: () => void;
}

function Row({ deleted, onRestore }: RowProps) {
  const { type, namespace, name, deletedAt, deletedBy } = deleted;
  return (
    <tr>
      <td>{type.kind}</td>
      <td>{namespace}</td>
      <th scope="row">{name}</th>
      <td>
        <Time at={deletedAt} />
      </td>
      <td>{deletedBy === "" ? "unknown" : deletedBy}</td>
      <td>
        <Action
          action={actionOn(type, "create", { namespace })}
          label="Restore"
          fullLabel={`Restore ${name}`}
          onRun={onRestore}
        />
      </td>
    </tr>
  );
}
