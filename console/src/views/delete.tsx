import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { actionOn } from "../api/access.ts";
import { messageOf } from "../api/client.ts";
import { countIn, deleteObject, findOwned, getObject } from "../api/objects.ts";
import { deletedWith } from "../model/owned-objects.ts";
import type { ResourceType } from "../model/resource-types.ts";
import { Action } from "../parts/action.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { DialogActions } from "../parts/dialog-actions.tsx";
import { serverTypes } from "../state/session.ts";

interface DeleteProps {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** UID of the object that the user has seen; another one of the same name is not deleted. */
  readonly uid: string | undefined;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

/** What else a deletion removes. */
interface Preview {
  readonly lines: readonly string[];
  readonly note: string;
}

/** Asks before an object is deleted, and shows what goes with it. */
export function DeleteDialog({ type, namespace, name, uid, onClose, onDeleted }: DeleteProps) {
  const preview = useSignal<Preview | string | undefined>(undefined);
  const failure = useSignal("");
  const orphans = useSignal(false);
  useEffect(() => {
    const controller = new AbortController();
    previewOf(type, namespace, name, controller.signal)
      .then((result) => (preview.value = result))
      .catch((error: unknown) => {
        if (!controller.signal.aborted) preview.value = messageOf(error);
      });
    return () => controller.abort();
  }, []);
  const { value } = preview;
  const remove = () => {
    deleteObject(type, namespace, name, orphans.value ? "Orphan" : "Background", uid)
      .then(() => {
        onClose();
        onDeleted?.();
      })
      .catch((error: unknown) => (failure.value = messageOf(error)));
  };
  return (
    <Dialog title={`Delete ${type.kind} ${name}?`} onClose={onClose}>
      {namespace !== "" && <p>Namespace {namespace}</p>}
      {value === undefined && <p role="status">Looking for what goes with it…</p>}
      {typeof value === "string" && <p class="bad">{value}</p>}
      {typeof value === "object" && <PreviewView preview={value} />}
      {!isNamespace(type) && (
        <label class="check">
          <input
            type="checkbox"
            checked={orphans.value}
            onChange={(event) => (orphans.value = event.currentTarget.checked)}
          />
          Keep dependents
        </label>
      )}
      <DialogActions failure={failure.value} onCancel={onClose}>
        <Action
          action={actionOn(type, "delete", { namespace, name })}
          label="Delete"
          isDangerous
          onRun={remove}
        />
      </DialogActions>
    </Dialog>
  );
}

function PreviewView({ preview: { lines, note } }: { readonly preview: Preview }) {
  return (
    <>
      {lines.length === 0 ? (
        <p>No other object goes with it.</p>
      ) : (
        <>
          <p>These go with it:</p>
          <ul class="preview">
            {lines.slice(0, 100).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          {lines.length > 100 && <p>and {lines.length - 100} more</p>}
        </>
      )}
      {note !== "" && <p class="note">{note}</p>}
    </>
  );
}

function isNamespace({ group, kind }: ResourceType): boolean {
  return group === "" && kind === "Namespace";
}

async function previewOf(
  type: ResourceType,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<Preview> {
  const { types, groupSuffix } = serverTypes.value;
  const metaGroup = `meta.${groupSuffix}`;
  const { metadata } = await getObject(type, namespace, name, signal);
  const finalizers = metadata.finalizers ?? [];
  const waits =
    finalizers.length === 0 ? "" : `It stays until its finalizers are done: ${finalizers.join(", ")}.`;
  if (isNamespace(type)) {
    const counts = await countIn(types, metaGroup, name, signal);
    return {
      lines: counts.map(({ type: { kind }, count }) => `${count} × ${kind}`),
      note: waits,
    };
  }
  const { owned, incomplete } = await findOwned(types, metaGroup, namespace, signal);
  const lines = deletedWith(metadata.uid ?? "", owned).map(
    (one) => `${one.type.kind} ${one.namespace ? `${one.namespace}/` : ""}${one.name}`,
  );
  const unsearched =
    incomplete.length === 0
      ? ""
      : `Not searched completely: ${incomplete.map((one) => one.kind).join(", ")}.`;
  return { lines, note: [waits, unsearched].filter((one) => one !== "").join(" ") };
}
