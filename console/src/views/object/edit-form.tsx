import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { objectIn, withField } from "../../model/form-values.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { Form, type SetField } from "./form.tsx";

/** Time without changes of the text after which the form shows them. */
const parseDelayMs = 200;

interface EditFormProps {
  readonly type: ResourceType;
  readonly text: ReadonlySignal<string>;
  /** Whether the object is created; its name can be edited then. */
  readonly isNew?: boolean;
  readonly onEdit: (text: string) => void;
}

/** A form for the object of a YAML text, which it changes. */
export function EditForm({ type, text, isNew = false, onEdit }: EditFormProps) {
  const object = useSignal(objectIn(text.peek()));
  useSignalEffect(() => {
    const { value } = text;
    const timer = setTimeout(() => (object.value = objectIn(value)), parseDelayMs);
    return () => clearTimeout(timer);
  });
  const set: SetField = (path, value) => {
    onEdit(withField(text.peek(), path, value));
    object.value = objectIn(text.peek());
  };
  return <Form type={type} isNew={isNew} object={object.value} onSet={set} />;
}
