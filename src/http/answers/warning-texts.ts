import type { HeaderLines } from "../transport/header-lines.ts";

/** Returns the texts of the Warning headers of a response. */
export function warningTexts(headers: HeaderLines): string[] {
  const warnings: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const text = headers[at] === "Warning" ? /^299 - (".*")$/s.exec(headers[at + 1]!)?.[1] : undefined;
    if (text !== undefined) warnings.push(text.slice(1, -1).replaceAll(/\\(.)/gs, "$1"));
  }
  return warnings;
}
