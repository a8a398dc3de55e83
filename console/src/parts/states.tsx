import type { ComponentChildren } from "preact";

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** A place where something would be: what it is, why it isn't there, and how to make it. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <section class="state">
      <h1>{title}</h1>
      {children}
    </section>
  );
}

/** Lines in the place of content that is being read. They appear after a moment, so that fast answers don't flicker. */
export function Loading({ label = "Reading…" }: { readonly label?: string }) {
  return (
    <div class="loading-lines" role="status">
      <span class="hidden">{label}</span>
      {[70, 45, 60, 35].map((width) => (
        <i key={width} class={`w${width}`} />
      ))}
    </div>
  );
}

interface FailureProps {
  readonly title?: string;
  readonly message: string;
  readonly onRetry?: () => void;
}

/** A failure, with what the server said, and a way to try again. */
export function Failure({ title = "This can't be read", message, onRetry }: FailureProps) {
  return (
    <div class="message bad" role="alert">
      <strong>{title}</strong>
      <p>{message}</p>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
