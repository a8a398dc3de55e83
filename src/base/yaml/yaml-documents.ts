import { decodeJson } from "../json/decode.ts";
import type { JsonDocument } from "../json/exact.ts";
import { SyntaxFault } from "../json/syntax-fault.ts";
import { decodeYaml } from "./yaml.ts";
import { decodeYamlText } from "./yaml-text.ts";

/**
 * Decodes a file of manifests: one JSON value, or any number of YAML documents, each with the guarantees and limits of
 * `decodeYaml`. Skips documents without content.
 *
 * @throws {SyntaxFault} with the line of the file.
 */
export async function decodeDocuments(bytes: Uint8Array): Promise<readonly JsonDocument[]> {
  const text = decodeYamlText(bytes);
  if (/^\s*[{[]/.test(text)) {
    const json = readJson(text);
    if (json !== undefined) return [json];
  }
  const documents: JsonDocument[] = [];
  for (const { content, line } of parts(text)) {
    const document = await readPart(content, line);
    if (document.value !== null) documents.push(document);
  }
  return documents;
}

/** Parses the text as JSON. Returns undefined if it is invalid: it may be YAML in flow style. */
function readJson(text: string): JsonDocument | undefined {
  try {
    return decodeJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof SyntaxFault) return undefined;
    throw error;
  }
}

async function readPart(content: string, line: number): Promise<JsonDocument> {
  try {
    return await decodeYaml(Buffer.from(content));
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new SyntaxFault(error.problem, error.line + line - 1, error.column);
  }
}

interface TextPart {
  readonly content: string;
  /** Its first line in the whole text, from 1. */
  readonly line: number;
}

/**
 * Splits a file into documents with their directives. `---` and `...` at the start of a line separate documents, also inside of
 * multi-line strings.
 */
function parts(text: string): TextPart[] {
  const documents: TextPart[] = [];
  let start = 0;
  let first = 1;
  let isBegun = false;
  const close = (end: number, next: number): void => {
    documents.push({ content: text.slice(start, end), line: first });
    start = end;
    first = next;
    isBegun = false;
  };
  let offset = 0;
  let number = 0;
  for (const line of text.split("\n")) {
    number++;
    if (/^---(\s|$)/.test(line) && isBegun) close(offset, number);
    isBegun ||= !isDirective(line);
    offset += line.length + 1;
    if (/^\.\.\.(\s|$)/.test(line)) close(offset, number + 1);
  }
  close(text.length, number);
  return documents;
}

/** Whether a line may precede a document's `---` and belongs to the document. */
function isDirective(line: string): boolean {
  return line.startsWith("%") || line.startsWith("#") || line.trim() === "";
}
