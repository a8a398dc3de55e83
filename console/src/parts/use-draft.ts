import { useSignal } from "@preact/signals";

type TextField = HTMLInputElement | HTMLTextAreaElement;

/** Attributes of a text field whose text counts when it is left. What was typed until then is kept when the page renders again. */
export function useDraft<E extends TextField>(value: string, onCommit: (text: string) => void) {
  const draft = useSignal<string | undefined>(undefined);
  return {
    autocomplete: "off",
    spellcheck: false,
    value: draft.value ?? value,
    onInput: (event: { readonly currentTarget: E }) => {
      draft.value = event.currentTarget.value;
    },
    onChange: (event: { readonly currentTarget: E }) => {
      draft.value = undefined;
      onCommit(event.currentTarget.value);
    },
  } as const;
}
