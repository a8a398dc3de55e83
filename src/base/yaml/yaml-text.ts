import { SyntaxFault } from "../json/syntax-fault.ts";
import { decodeUtf8 } from "../json/encode.ts";

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
