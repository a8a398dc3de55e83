import { useSignal } from "@preact/signals";

interface DraftInputProps {
  /** Its id; a field without one has its placeholder as label. */
  readonly id?: string;
  readonly class?: string;
  readonly placeholder: string;
  /** Id of the suggestions. */
  readonly list?: string;
  readonly value: string;
  readonly onFocus?: () => void;
  readonly onKeyDown?: (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => void;
  /** Receives the text when the field is left or Enter is pressed. */
  readonly onCommit: (text: string) => void;
}

/** A text field whose text counts when it is left. What was typed until then is kept when the page renders again. */
export function DraftInput({ id, list, value, onCommit, ...attributes }: DraftInputProps) {
  const draft = useSignal<string | undefined>(undefined);
  const name = id === undefined ? { "aria-label": attributes.placeholder } : { id };
  return (
    <input
      type="text"
      {...name}
      {...(list !== undefined && { list })}
      {...attributes}
      autocomplete="off"
      spellcheck={false}
      value={draft.value ?? value}
      onInput={(event) => (draft.value = event.currentTarget.value)}
      onChange={(event) => {
        draft.value = undefined;
        onCommit(event.currentTarget.value.trim());
      }}
    />
  );
}
