import { SyntaxFault } from "../json/syntax-fault.ts";
import { decodeUtf8 } from "../json/encode.ts";
import type { ParsedNode } from "yaml";

/**
 * Decodes the bytes of a YAML text as YAML 1.1 does: UTF-8, or UTF-16 with a byte order mark. A carriage return and the character NEL
 * (U+0085) end a line as a line feed does; they are replaced by one, so that positions in the text stay the same.
 *
 * @throws {SyntaxFault} for bytes that are invalid in the encoding.
 */
export function decodeYamlText(bytes: Uint8Array): string {
  const text = decodeCharacters(bytes);
  return text.replaceAll(/\r(?!\n)|\u0085/g, "\n");
}

function decodeCharacters(bytes: Uint8Array): string {
  const encoding = utf16Of(bytes);
  if (encoding === undefined) {
    const text = decodeUtf8(bytes);
    return text.startsWith("\uFEFF") ? text.slice(1) : text;
  }
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new SyntaxFault("the text is not valid UTF-16, which its byte order mark announces", 1, 1);
  }
}

/** Returns the encoding that a byte order mark of UTF-16 announces; undefined without one. */
function utf16Of([first, second]: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return undefined;
}

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
