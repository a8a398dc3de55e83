import { useSignal } from "@preact/signals";
import { fieldText, parseText } from "../../model/form-values.ts";
import { isRecord } from "../../model/paths.ts";
import { textOf, type FieldType } from "../../model/schema.ts";
import { useDraft } from "../../parts/use-draft.ts";

/** What all controls of fields have. */
export interface ControlProps {
  /** Of the element that the label names. */
  readonly attributes: { readonly id: string; readonly "aria-describedby"?: string };
  readonly name: string;
  readonly type: FieldType;
  readonly value: unknown;
  readonly placeholder: string;
  readonly onSet: (value: unknown) => void;
}

/** A scalar as text. */
export function TextControl({ attributes, type, value, placeholder, onSet }: ControlProps) {
  const { error, commit } = useParsed(type, onSet);
  const text = fieldText(value);
  const isLong = text.includes("\n");
  const draft = { ...attributes, placeholder, "aria-invalid": error !== "" };
  return (
    <>
      {isLong ? (
        <Area {...draft} text={text} onCommit={commit} />
      ) : (
        <Line {...draft} text={text} onCommit={commit} />
      )}
      <FieldError text={error} />
    </>
  );
}

/** A list of scalars, one in each line. */
export function ListControl({ attributes, type, value, onSet }: ControlProps) {
  const { error, commit } = useParsed(type, onSet);
  return (
    <>
      <Area
        {...attributes}
        placeholder="one in each line"
        aria-invalid={error !== ""}
        text={fieldText(value)}
        onCommit={commit}
      />
      <FieldError text={error} />
    </>
  );
}

/** One of several values, or none. */
export function ChoiceControl({
  attributes,
  type,
  value,
  values,
  placeholder,
  onSet,
}: ControlProps & { readonly values: readonly string[] }) {
  const text = textOf(value);
  const others = text === "" || values.includes(text) ? [] : [text];
  return (
    <select
      {...attributes}
      value={text}
      onChange={({ currentTarget }) => {
        const parsed = parseText(type, currentTarget.value);
        if ("value" in parsed) onSet(parsed.value);
      }}
    >
      <option value="">{placeholder === "" ? "not set" : `not set (${placeholder})`}</option>
      {[...values, ...others].map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

/** A map of texts: a row for each entry, and one for a new entry. */
export function MapControl({ attributes, name, value, onSet }: ControlProps) {
  const entries = Object.entries(isRecord(value) ? value : {});
  const set = (at: number, entry: readonly [string, unknown] | undefined) => {
    const next = entries.flatMap((one, index) =>
      index === at ? (entry === undefined ? [] : [entry]) : [one],
    );
    if (at === entries.length && entry !== undefined) next.push([...entry]);
    onSet(next.length === 0 ? undefined : Object.fromEntries(next));
  };
  return (
    <div class="map">
      {[...entries, ["", ""] as const].map(([key, text], at) => (
        <div key={at < entries.length ? key : ""}>
          <Line
            {...(at === 0 && attributes)}
            label={key === "" ? `New key of ${name}` : `Key ${key} of ${name}`}
            placeholder="new key"
            text={key}
            onCommit={(next) => set(at, next === "" ? undefined : [next, text])}
          />
          {key !== "" && (
            <Area
              label={`Value of ${key} of ${name}`}
              text={textOf(text)}
              onCommit={(next) => set(at, [key, next])}
            />
          )}
        </div>
      ))}
    </div>
  );
}

interface DraftProps {
  readonly id?: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: boolean;
  /** Name for assistive technology, of a field without a label. */
  readonly label?: string;
  readonly placeholder?: string;
  readonly text: string;
  readonly onCommit: (text: string) => void;
}

function Line({ text, label, onCommit, ...attributes }: DraftProps) {
  const draft = useDraft<HTMLInputElement>(text, onCommit);
  return (
    <input type="text" {...(label !== undefined && { "aria-label": label })} {...attributes} {...draft} />
  );
}

function Area({ text, label, onCommit, ...attributes }: DraftProps) {
  const draft = useDraft<HTMLTextAreaElement>(text, onCommit);
  const rows = Math.min(draft.value.split("\n").length, 8);
  return (
    <textarea {...(label !== undefined && { "aria-label": label })} {...attributes} {...draft} rows={rows} />
  );
}

function FieldError({ text }: { readonly text: string }) {
  return text === "" ? null : (
    <p class="bad" role="alert">
      {text}
    </p>
  );
}

/** Parses the committed text, and reports why it has no value. */
function useParsed(type: ControlProps["type"], onSet: (value: unknown) => void) {
  const error = useSignal("");
  const commit = (text: string) => {
    const parsed = parseText(type, text);
    error.value = "error" in parsed ? parsed.error : "";
    if ("value" in parsed) onSet(parsed.value);
  };
  return { error: error.value, commit };
}
