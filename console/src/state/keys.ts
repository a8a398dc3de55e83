import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/** A command of the keyboard. */
export interface KeyCommand {
  /** The key as in `KeyboardEvent.key`, with `Ctrl+` and `Shift+` for keys that aren't characters. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly run: () => void;
}

/** Commands of the open views; the last ones have precedence. */
export const keyLayers = signal<readonly (readonly KeyCommand[])[]>([]);

/** Adds commands while a component is shown. They are replaced when one of `inputs` changes. */
export function useKeys(commands: readonly KeyCommand[], inputs: readonly unknown[]): void {
  useLayoutEffect(() => {
    keyLayers.value = [...keyLayers.peek(), commands];
    return () => {
      keyLayers.value = keyLayers.peek().filter((one) => one !== commands);
    };
  }, inputs);
}

/** Runs the commands of pressed keys. Text fields keep their keys, except for Escape. */
export function followKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey || event.metaKey) return;
    // The target of an event in the editor's shadow tree would be its host.
    const target = event.composedPath()[0] ?? null;
    if (isTextField(target) && event.key !== "Escape") return;
    if (document.querySelector("dialog[open]") !== null) return;
    const name = nameOf(event);
    // Enter and Space belong to a focused link or button.
    if ((name === "Enter" || name === " ") && isControl(target)) return;
    for (const commands of keyLayers.peek().toReversed()) {
      const command = commands.find(({ keys }) => keys.includes(name));
      if (command === undefined) continue;
      event.preventDefault();
      command.run();
      return;
    }
  });
}

function nameOf(event: KeyboardEvent): string {
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return `${event.ctrlKey ? "Ctrl+" : ""}${shift}${event.key}`;
}

function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("a, button, summary") !== null;
}
