import type { ComponentChildren } from "preact";
import { Loading } from "../../parts/states.tsx";

interface CardProps<T> {
  readonly title: string;
  /** What {@link useAsync} returns. */
  readonly answer: T | string | undefined;
  readonly children: (answer: T) => ComponentChildren;
}

/** A part of the start page that is read by itself. */
export function Card<T extends object>({ title, answer, children }: CardProps<T>) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {answer === undefined && <Loading />}
      {typeof answer === "string" && (
        <p class="note">{answer.includes("cannot") ? "You may not read this." : answer}</p>
      )}
      {typeof answer === "object" && children(answer)}
    </section>
  );
}
