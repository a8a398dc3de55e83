import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

/** A button that opens a list of further buttons. */
export function Menu({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const element = useRef<HTMLDetailsElement>(null);
  const close = () => (element.current!.open = false);
  return (
    <details
      ref={element}
      class="menu-list"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !element.current!.open) return;
        event.preventDefault();
        close();
        element.current!.querySelector("summary")!.focus();
      }}
      onFocusOut={(event) => {
        if (event.relatedTarget instanceof Node && !element.current!.contains(event.relatedTarget)) close();
      }}
    >
      <summary>{label}</summary>
      <div>{children}</div>
    </details>
  );
}
