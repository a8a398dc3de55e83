import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { actionOn } from "../../api/access.ts";
import { getJson, messageOf } from "../../api/client.ts";
import type { ApiObject } from "../../api/objects.ts";
import { fieldManager } from "../../api/apply.ts";
import { apiVersionOf, pathOf, type ResourceType } from "../../model/resource-types.ts";
import { writeYaml } from "../../model/yaml.ts";
import { Action } from "../../parts/action.tsx";
import { useKeys } from "../../state/keys.ts";
import { go } from "../../state/place.ts";
import { EditForm } from "./edit-form.tsx";
import { createEditor, type Editor } from "./editor.ts";

interface CreateProps {
  readonly type: ResourceType;
  readonly place: { readonly namespace: string; readonly name?: string };
}

/** Creates an object from YAML and a form that changes it, after a dry run. */
export function CreateView({ type, place }: CreateProps) {
  const namespace = type.namespaced ? place.namespace || "default" : "";
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const text = useSignal(initialText(type, namespace, place.name));
  const outcome = useSignal<{ readonly text: string; readonly isGood: boolean } | undefined>(undefined);
  useEffect(() => {
    editor.current = createEditor(parent.current!, text.peek(), `YAML of a new ${type.kind}`, (next) => {
      text.value = next;
      outcome.value = undefined;
    });
    return () => editor.current!.destroy();
  }, []);
  useKeys(
    [{ keys: ["Escape"], label: "Leave the editor", run: () => document.getElementById("check")?.focus() }],
    [],
  );
  const run = (dryRun: boolean) => {
    const parameters = new URLSearchParams({ fieldManager, ...(dryRun && { dryRun: "All" }) });
    getJson<ApiObject>(`${pathOf(type, namespace)}?${parameters.toString()}`, {
      method: "POST",
      contentType: "application/yaml",
      body: text.value,
    })
      .then(({ metadata: { name, namespace: stored = "" } }) => {
        if (dryRun) outcome.value = { text: "The server would create it.", isGood: true };
        else
          go({
            view: "object",
            group: type.group,
            resource: type.name,
            namespace: stored,
            name,
            tab: "overview",
          });
      })
      .catch((error: unknown) => (outcome.value = { text: messageOf(error), isGood: false }));
  };
  const { value: shown } = outcome;
  return (
    <section class="page create">
      <h1>New {type.kind}</h1>
      <EditForm type={type} text={text} isNew onEdit={(next) => editor.current!.setText(next)} />
      <div ref={parent} class="editor" />
      {shown !== undefined && (
        <p class={`message ${shown.isGood ? "good" : "bad"}`} role={shown.isGood ? "status" : "alert"}>
          {shown.text}
        </p>
      )}
      <div class="buttons">
        <button type="button" id="check" onClick={() => run(true)}>
          Check (dry run)
        </button>
        <Action
          action={actionOn(type, "create", { namespace })}
          label="Create"
          isPrimary
          onRun={() => run(false)}
        />
      </div>
    </section>
  );
}

function initialText(type: ResourceType, namespace: string, name = ""): string {
  const metadata = { name, ...(namespace !== "" && { namespace }) };
  return writeYaml({ apiVersion: apiVersionOf(type), kind: type.kind, metadata });
}
