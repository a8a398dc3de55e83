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
  for (const part of parts(text)) {
    const document = await decodeDocument(part);
    if (document.value !== null) documents.push(document);
  }
  return documents;
}

/**
 * Splits a file of manifests into its documents, so that each can be decoded by itself.
 *
 * @throws {SyntaxFault} for bytes that are invalid in their encoding.
 */
export function documentTexts(bytes: Uint8Array): readonly DocumentText[] {
  const text = decodeYamlText(bytes);
  return parts(text).filter(({ content }) => !isBlankDocument(content));
}

/** Whether a document has comments and marks only. */
function isBlankDocument(content: string): boolean {
  return content.split("\n").every((line) => line.trim() === "" || /^(#|%|---\s*$|\.\.\.\s*$)/.test(line));
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

/**
 * Decodes a document of a file: JSON, or YAML as by `decodeYaml`.
 *
 * @throws {SyntaxFault} with the line of the file.
 */
export async function decodeDocument({ content, line }: DocumentText): Promise<JsonDocument> {
  const json = /^\s*[{[]/.test(content) ? readJson(content) : undefined;
  if (json !== undefined) return json;
  try {
    return await decodeYaml(Buffer.from(content));
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new SyntaxFault(error.problem, error.line + line - 1, error.column);
  }
}

/** The text of a document in a file. */
export interface DocumentText {
  readonly content: string;
  /** Its first line in the file, from 1. */
  readonly line: number;
}

/**
 * Splits a file into documents with their directives. `---` and `...` at the start of a line separate documents, also inside of
 * multi-line strings.
 */
function parts(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
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
