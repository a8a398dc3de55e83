import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import type { BulkCommand } from "../../model/bulk-command.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { Action } from "../../parts/action.tsx";
import { Lazy } from "../../parts/lazy.tsx";
import type { LiveTable } from "../../state/live-table.ts";
import type { Marks } from "../../state/marks.ts";

interface BulkBarProps {
  readonly type: ResourceType;
  readonly table: LiveTable;
  readonly marks: Marks;
  readonly namespace: string;
}

/** Commands for the marked rows; nothing if there are none. */
export function BulkBar({ type, table, marks, namespace }: BulkBarProps) {
  const command = useSignal<BulkCommand | undefined>(undefined);
  const count = marks.value.size;
  if (count === 0) return null;
  const run = (next: BulkCommand) => () => (command.value = next);
  return (
    <div class="bulk" role="group" aria-label="Marked objects">
      <strong>{count} marked</strong>
      {type.verbs.includes("delete") && (
        <Action
          action={actionOn(type, "delete", { namespace })}
          label="Delete…"
          isDangerous
          onRun={run("delete")}
        />
      )}
      {type.verbs.includes("patch") && (
        <>
          <Action action={actionOn(type, "patch", { namespace })} label="Label…" onRun={run("labels")} />
          <Action
            action={actionOn(type, "patch", { namespace })}
            label="Annotate…"
            onRun={run("annotations")}
          />
        </>
      )}
      <button type="button" class="quiet" onClick={() => (marks.value = new Set())}>
        Unmark all
      </button>
      {command.value !== undefined && (
        <Lazy
          key={command.value}
          load={async () => (await import("./bulk-dialog.tsx")).BulkDialog}
          props={{
            type,
            command: command.value,
            // Those that are still there: a deleted object's row is gone.
            rows: [...marks.value].map((key) => table.model.find(key)).filter((row) => row !== undefined),
            onClose: () => (command.value = undefined),
            onDone: (done: readonly string[]) =>
              (marks.value = new Set([...marks.peek()].filter((key) => !done.includes(key)))),
          }}
        />
      )}
    </div>
  );
}
