import type { ParsedNode } from "yaml";
import { decodeYamlText } from "./yaml-text.ts";

/**
 * Returns the line of a field in a document of YAML or JSON, from 1; undefined if the document doesn't have the field. It parses the
 * document again, so it is only for error messages.
 *
 * @param path names and indexes, such as `plugins[0].configuration`.
 */
export async function lineOfField(bytes: Uint8Array, path: string): Promise<number | undefined> {
  const { parseDocument, isMap, isSeq, isScalar } = await import("./yaml-library.ts");
  const text = decodeYamlText(bytes);
  let node: unknown = parseDocument(text, { uniqueKeys: false }).contents;
  let offset: number | undefined;
  for (let rest = path; rest !== "";) {
    const index = /^\[(\d+)\]\.?/.exec(rest);
    if (isSeq<ParsedNode>(node) && index !== null) {
      node = node.items[Number(index[1])];
      offset = (node as ParsedNode | undefined)?.range[0] ?? offset;
      rest = rest.slice(index[0].length);
      continue;
    }
    if (!isMap<ParsedNode>(node)) return undefined;
    // A name may contain dots, so the longest one that fits counts.
    const matches = node.items.flatMap(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : "";
      const isNext = rest === name || ["[", "."].some((after) => rest.startsWith(`${name}${after}`));
      return isNext && name !== "" ? [{ name, at: key.range[0], value }] : [];
    });
    const next = matches.toSorted((a, b) => a.name.length - b.name.length).at(-1);
    if (next === undefined) return undefined;
    ({ at: offset, value: node } = next);
    rest = rest.slice(next.name.length).replace(/^\./, "");
  }
  return offset === undefined ? undefined : text.slice(0, offset).split("\n").length;
}
