import { Fragment } from "preact";

/** A long name that may break after its separators, and nowhere else. */
export function Breakable({ text }: { readonly text: string }) {
  return (
    <>
      {(text.match(/[^./:@=-]+[./:@=-]*|[./:@=-]+/g) ?? []).map((part, at) => (
        <Fragment key={at}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </>
  );
}
