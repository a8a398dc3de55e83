import type { ComponentChildren } from "preact";

interface DialogActionsProps {
  /** Why the last attempt failed; empty if it didn't. */
  readonly failure: string;
  readonly onCancel: () => void;
  /** The buttons beside Cancel. */
  readonly children: ComponentChildren;
}

/** The end of a dialog: why its action failed, and its buttons. */
export function DialogActions({ failure, onCancel, children }: DialogActionsProps) {
  return (
    <>
      {failure !== "" && (
        <p class="message bad" role="alert">
          {failure}
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        {children}
      </div>
    </>
  );
}
