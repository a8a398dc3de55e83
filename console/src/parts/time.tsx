import { ageText } from "../model/time.ts";

/** A time as its age; the exact time is behind it. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  const ms = Date.parse(at ?? "");
  if (Number.isNaN(ms)) return null;
  const isFuture = ms > Date.now() + 1000;
  const age = ageText(Math.abs(Date.now() - ms));
  return (
    <time dateTime={at!} title={`${at!} (${new Date(ms).toLocaleString()})`}>
      {isFuture ? `in ${age}` : `${age} ago`}
    </time>
  );
}
