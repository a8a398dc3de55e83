import { useSignal } from "@preact/signals";
import { messageOf } from "../../api/client.ts";
import { recreate, recreationOf } from "../../api/trash.ts";
import type { DeletedObject, ObjectState, Recreation } from "../../model/trash.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogActions } from "../../parts/dialog-actions.tsx";
import { serverTypes } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { YamlText } from "../object/yaml-text.tsx";

interface RestoreProps {
  readonly deleted: DeletedObject;
  readonly onClose: () => void;
  readonly onRestored: (deleted: DeletedObject) => void;
}

/** What a restore would create, as the server answers a dry run. */
interface Preview extends Recreation {
  readonly result: ObjectState;
}

/** Shows what a restore would create, and creates it. */
export function RestoreDialog({ deleted, onClose, onRestored }: RestoreProps) {
  const { types, groupSuffix } = serverTypes.value;
  const failure = useSignal("");
  const preview = useAsync(async (): Promise<Preview> => {
    const planned = await recreationOf(deleted, types, groupSuffix);
    return { ...planned, result: await recreate(deleted, planned.object, true) };
  }, []);
  const restore = (object: ObjectState) => {
    failure.value = "";
    recreate(deleted, object, false)
      .then(() => onRestored(deleted))
      .catch((error: unknown) => (failure.value = messageOf(error)));
  };
  const { type, namespace, name } = deleted;
  return (
    <Dialog title={`Restore ${type.kind} ${name}?`} onClose={onClose}>
      {namespace !== "" && <p>Namespace {namespace}</p>}
      {preview === undefined && <p role="status">Trying the restore…</p>}
      {typeof preview === "string" && (
        <p class="message bad" role="alert">
          It can't be restored: {preview}
        </p>
      )}
      {typeof preview === "object" && (
        <>
          {preview.notes.map((note) => (
            <p key={note} class="note">
              {note}
            </p>
          ))}
          <p>It is created anew, with a new uid and without status:</p>
          <YamlText object={preview.result} />
        </>
      )}
      <DialogActions failure={failure.value} onCancel={onClose}>
        {typeof preview === "object" && (
          <button type="button" class="primary" onClick={() => restore(preview.object)}>
            Restore
          </button>
        )}
      </DialogActions>
    </Dialog>
  );
}
