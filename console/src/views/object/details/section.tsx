import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

interface SectionProps {
  readonly title: string;
  readonly note?: string;
  /** Whether the content is shown only when the user asks. */
  readonly isFolded?: boolean;
  readonly children: ComponentChildren;
}

/** A part of the overview with its title. */
export function Section({ title, note = "", isFolded = false, children }: SectionProps) {
  const isOpen = useSignal(false);
  if (isFolded) {
    return (
      <section class="card" aria-label={title}>
        <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
          <summary>{title}: all fields</summary>
          {isOpen.value && children}
        </details>
      </section>
    );
  }
  return (
    <section class="card" aria-label={title}>
      <h2>
        {title} {note !== "" && <span class="note">{note}</span>}
      </h2>
      {children}
    </section>
  );
}

/** A name and its value. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values; those without a value are left out. */
export function Facts({ rows }: { readonly rows: readonly Fact[] }) {
  const filled = rows.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return (
    <dl class="facts">
      {filled.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What the sections of an object have. */
export interface DetailProps {
  readonly object: DetailObject;
}

export interface DetailObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}
