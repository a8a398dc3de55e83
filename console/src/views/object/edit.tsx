import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { parse } from "yaml";
import { actionOn } from "../../api/access.ts";
import { applyEdit, ConflictError, isChange, type Conflict, type EditRequest } from "../../api/apply.ts";
import { messageOf } from "../../api/client.ts";
import type { ApiObject } from "../../api/objects.ts";
import { changesBetween, type FieldChange } from "../../model/diff.ts";
import { editable } from "../../model/edit.ts";
import { withField } from "../../model/form-values.ts";
import type { MergeConflict } from "../../model/merge.ts";
import { isRecord } from "../../model/paths.ts";
import { writeYaml, type Json } from "../../model/yaml.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { Action } from "../../parts/action.tsx";
import { useKeys } from "../../state/keys.ts";
import type { LiveObject } from "../../state/live-object.ts";
import { ChangeList } from "./changes.tsx";
import { createEditor, type Editor } from "./editor.ts";
import { EditForm } from "./edit-form.tsx";
import { mergedEdit, MergeConflicts } from "./merge.tsx";

interface EditProps {
  readonly type: ResourceType;
  readonly live: LiveObject;
  readonly namespace: string;
  readonly name: string;
  /** Whether a form is above the editor. */
  readonly showsForm: boolean;
}

/** The result of the last dry run or write. */
type Outcome =
  | { readonly kind: "none" }
  | { readonly kind: "message"; readonly text: string; readonly isGood: boolean }
  | { readonly kind: "conflicts"; readonly conflicts: readonly Conflict[] }
  | { readonly kind: "preview"; readonly changes: readonly FieldChange[]; readonly force: boolean };

const nothing: Outcome = { kind: "none" };

/** The state of an edit: its text, the version of the object that it began with, and what the server said last. */
function useEdit({ type, live, name }: EditProps) {
  const start = useSignal(live.object.peek()!);
  const text = useSignal(textOf(start.peek()));
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const outcome = useSignal<Outcome>(nothing);
  const conflicts = useSignal<readonly MergeConflict[]>([]);
  const isBusy = useSignal(false);
  useEffect(() => {
    editor.current = createEditor(place.current!, text.peek(), `YAML of ${name}`, (next) => {
      text.value = next;
      outcome.value = nothing;
    });
    return () => editor.current!.destroy();
  }, []);
  const setText = (next: string) => editor.current!.setText(next);
  const refuse = (message: string) => {
    outcome.value = { kind: "message", text: message, isGood: false };
  };
  /** Continues with the newest version of the object. */
  const continueWith = (next: string, open: readonly MergeConflict[]) => {
    start.value = live.object.peek()!;
    setText(next);
    conflicts.value = open;
    outcome.value = nothing;
  };
  const merge = () => {
    const mine = parsedText(text.peek());
    if (typeof mine === "string") return refuse(mine);
    const newest = editable(live.object.peek()!);
    const merged = mergedEdit(text.peek(), editable(start.peek()), mine, newest);
    continueWith(merged.text, merged.conflicts);
  };
  const discard = () => continueWith(textOf(live.object.peek()!), []);
  const run = (force: boolean, dryRun: boolean) => {
    const request = requestOf(type, start.value, text.value, force, dryRun);
    if (typeof request === "string") return refuse(request);
    isBusy.value = true;
    applyEdit(request)
      .then((result) => {
        outcome.value = dryRun ? previewOf(request, result) : applied;
        if (!dryRun) start.value = result;
      })
      .catch((error: unknown) => (outcome.value = failureOf(error)))
      .finally(() => (isBusy.value = false));
  };
  return { start, text, place, outcome, conflicts, isBusy, setText, merge, discard, run };
}

/** Edits the object as YAML, or with a form that changes the YAML: a dry run first, then server-side apply. */
export function EditView(props: EditProps) {
  const { type, live, namespace, name, showsForm } = props;
  const { start, text, place, outcome, conflicts, isBusy, setText, merge, discard, run } = useEdit(props);
  useKeys([{ keys: ["Escape"], label: "Leave the editor", run: () => leaveEditor() }], []);
  const { value: shown } = outcome;
  const isStale = live.object.value?.metadata.resourceVersion !== start.value.metadata.resourceVersion;
  return (
    <div class="edit">
      <div class="edit-main">
        {showsForm && <EditForm type={type} text={text} onEdit={setText} />}
        <div ref={place} class="editor" />
      </div>
      <div class="edit-side">
        {isStale && <StaleNotice onMerge={merge} onReload={discard} />}
        <MergeConflicts
          conflicts={conflicts}
          onTake={({ path, theirs }) => setText(withField(text.peek(), path, theirs))}
        />
        <OutcomeView outcome={shown} onTakeOver={() => run(true, true)} />
        <div class="buttons">
          <button
            type="button"
            id="preview"
            class={shown.kind === "preview" ? "" : "primary"}
            disabled={isBusy.value}
            onClick={() => run(false, true)}
          >
            Preview (dry run)
          </button>
          {shown.kind === "preview" && (
            <Action
              action={actionOn(type, "patch", { namespace, name })}
              label={shown.force ? "Apply and take over" : "Apply"}
              isPrimary
              onRun={() => run(shown.force, false)}
            />
          )}
        </div>
      </div>
    </div>
  );
}

interface StaleProps {
  readonly onMerge: () => void;
  readonly onReload: () => void;
}

function StaleNotice({ onMerge, onReload }: StaleProps) {
  return (
    <div class="message waiting" role="status">
      The object has changed since you began.
      <div class="buttons">
        <button type="button" onClick={onMerge}>
          Bring my changes to the newest version
        </button>
        <button type="button" onClick={onReload}>
          Discard my changes
        </button>
      </div>
    </div>
  );
}

const applied: Outcome = { kind: "message", text: "Applied.", isGood: true };

function OutcomeView({
  outcome,
  onTakeOver,
}: {
  readonly outcome: Outcome;
  readonly onTakeOver: () => void;
}) {
  switch (outcome.kind) {
    case "none":
      return <p class="note">The preview shows what the server would change, before anything is written.</p>;
    case "message":
      return (
        <p class={`message ${outcome.isGood ? "good" : "bad"}`} role={outcome.isGood ? "status" : "alert"}>
          {outcome.text}
        </p>
      );
    case "preview":
      return (
        <>
          <h2>The server would change</h2>
          <ChangeList changes={outcome.changes} />
        </>
      );
    case "conflicts":
      return <Conflicts conflicts={outcome.conflicts} onTakeOver={onTakeOver} />;
  }
}

interface ConflictsProps {
  readonly conflicts: readonly Conflict[];
  readonly onTakeOver: () => void;
}

function Conflicts({ conflicts, onTakeOver }: ConflictsProps) {
  const owners = [...new Set(conflicts.map(({ owner }) => owner))];
  return (
    <div role="alert">
      <h2>Other managers own these fields</h2>
      {owners.map((owner) => (
        <div key={owner} class="grant">
          <p>
            <strong>{owner}</strong>
          </p>
          <ul class="code">
            {conflicts
              .filter((one) => one.owner === owner)
              .map(({ field }) => (
                <li key={field}>{field}</li>
              ))}
          </ul>
        </div>
      ))}
      <p class="note">If you take them over, their managers may set them back.</p>
      <button type="button" class="danger" onClick={onTakeOver}>
        Preview taking them over
      </button>
    </div>
  );
}

function leaveEditor(): void {
  document.getElementById("preview")?.focus();
}

function textOf(object: ApiObject): string {
  return writeYaml(editable(object) as Json);
}

/** Returns the request for an edited text; a message if the text can't be used. */
function requestOf(
  type: ResourceType,
  original: ApiObject,
  text: string,
  force: boolean,
  dryRun: boolean,
): EditRequest | string {
  const edited = parsedText(text);
  if (typeof edited === "string") return edited;
  const base = editable(original);
  const { metadata } = edited;
  const { name, namespace } = original.metadata;
  const isSame =
    edited["apiVersion"] === original.apiVersion &&
    edited["kind"] === original.kind &&
    isRecord(metadata) &&
    metadata["name"] === name &&
    metadata["namespace"] === namespace;
  if (!isSame) return "apiVersion, kind, name and namespace can't be changed.";
  if (!isChange({ base, edited })) return "Nothing is changed.";
  return { type, original, edited, base, force, dryRun };
}

/** Returns the object of a YAML text; a message if it has none. */
function parsedText(text: string): Readonly<Record<string, unknown>> | string {
  try {
    const value: unknown = parse(text);
    return isRecord(value) ? value : "The text is no object.";
  } catch (error) {
    return messageOf(error);
  }
}

function previewOf({ base, edited, original, force }: EditRequest, result: ApiObject): Outcome {
  const changes = changesBetween(original, result);
  const removals = changesBetween(base, edited).filter(
    ({ path, after }) => after === undefined && !changes.some((one) => one.path === path),
  );
  return { kind: "preview", changes: [...changes, ...removals], force };
}

function failureOf(error: unknown): Outcome {
  if (error instanceof ConflictError) return { kind: "conflicts", conflicts: error.conflicts };
  return { kind: "message", text: messageOf(error), isGood: false };
}
