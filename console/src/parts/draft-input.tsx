import { useDraft } from "./use-draft.ts";

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
  /** Receives the text, without spaces around it, when the field is left or Enter is pressed. */
  readonly onCommit: (text: string) => void;
}

/** A text field with {@link useDraft}. */
export function DraftInput({ id, list, value, onCommit, ...attributes }: DraftInputProps) {
  const draft = useDraft<HTMLInputElement>(value, (text) => onCommit(text.trim()));
  const name = id === undefined ? { "aria-label": attributes.placeholder } : { id };
  return <input type="text" {...name} {...(list !== undefined && { list })} {...attributes} {...draft} />;
}
