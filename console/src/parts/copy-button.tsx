import { useSignal } from "@preact/signals";
import { reportBug } from "../state/bugs.ts";

/** Copies a text; the button says so for a moment. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  readonly text: () => string;
  readonly label?: string;
}) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), 1500);
  };
  return (
    <button type="button" onClick={() => void copy().catch(reportBug)}>
      {isCopied.value ? "Copied" : label}
    </button>
  );
}
