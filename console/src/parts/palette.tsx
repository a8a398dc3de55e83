import { useSignal } from "@preact/signals";
import { Dialog } from "./dialog.tsx";

/** An entry of the palette. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly note: string;
  readonly run: () => void;
}

interface PaletteProps {
  /** Returns the choices for a typed text, best first. */
  readonly choices: (text: string) => readonly Choice[];
  readonly onClose: () => void;
}

const maxShown = 12;

/** A command line with completion, as opened by `:`. */
export function Palette({ choices, onClose }: PaletteProps) {
  const text = useSignal("");
  const index = useSignal(0);
  const shown = choices(text.value).slice(0, maxShown);
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    choice.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) index.value = (index.value + step + shown.length) % Math.max(1, shown.length);
    else if (event.key === "Tab") text.value = shown[index.value]?.label ?? text.value;
    else if (event.key === "Enter") run(shown[index.value]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div class="palette">
        <label for="palette-input" class="hidden">
          Kind or command
        </label>
        <input
          id="palette-input"
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={shown.length === 0 ? undefined : `choice-${index.value}`}
          autocomplete="off"
          spellcheck={false}
          placeholder="kind, short name or command"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            index.value = 0;
          }}
          onKeyDown={pressed}
        />
        <ul id="palette-list" role="listbox" aria-label="Choices">
          {shown.map((choice, at) => (
            <li
              key={choice.id}
              id={`choice-${at}`}
              role="option"
              aria-selected={at === index.value}
              onClick={() => run(choice)}
            >
              <span>{choice.label}</span>
              <span class="note">{choice.note}</span>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
