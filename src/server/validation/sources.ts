import type { ManifestBytes } from "../../base/manifests.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import { decodeDocument, documentTexts, type DocumentText } from "../../base/yaml/yaml-documents.ts";
import { DocumentPositions } from "../../base/yaml/yaml-positions.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { apiGroup } from "../../vocabulary/names.ts";
import { mayBeContext } from "./context.ts";
import { itemsOf, nameOf, textOf, type ManifestObject } from "./documents.ts";
import type { ValidationLocation } from "./problem.ts";

/** An object of a file, or a text that is none. */
export type SourceEntry =
  | { readonly object: ManifestObject; readonly fault?: undefined }
  | {
      readonly object?: undefined;
      readonly fault: string;
      readonly location: ValidationLocation | undefined;
    };

/** Documents that are decoded already, by file and line. */
export type DecodedDocuments = Map<string, JsonDocument>;

/** Which documents are read. */
export interface SourceOptions {
  /** Whether only documents are decoded that may be context; they are added to `decoded`. */
  readonly contextOnly: boolean;
  /** `apiVersion kind` of further kinds that are context. */
  readonly alsoContext?: ReadonlySet<string>;
  readonly decoded: DecodedDocuments;
}

/**
 * Reads the objects of files. A document that can't be read is an entry with its fault, and the others are read nevertheless. Files of
 * kustomize and helm that are no manifests are left out.
 */
export async function* entriesOf(
  files: AsyncIterable<ManifestBytes>,
  options: SourceOptions,
): AsyncGenerator<SourceEntry> {
  for await (const { name: file, bytes, fault } of files) {
    if (bytes === undefined) {
      if (!options.contextOnly) yield { fault, location: { file, line: 1, column: 1 } };
      continue;
    }
    yield* entriesOfFile(file, bytes, options);
  }
}

/** Returns the objects of a text, as those of a file. */
export async function* entriesOfFile(
  file: string,
  bytes: Uint8Array,
  options: SourceOptions,
): AsyncGenerator<SourceEntry> {
  const start = { file, line: 1, column: 1 };
  let texts: readonly DocumentText[];
  try {
    if (isBinary(bytes)) throw new SyntaxFault("a binary file, not a manifest", 1, 1);
    texts = documentTexts(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    if (!options.contextOnly)
      yield { fault: error.problem, location: { ...start, line: error.line, column: error.column } };
    return;
  }
  if (texts.length === 0 && !options.contextOnly)
    yield { fault: "no manifest: the file has no document", location: start };
  for (const text of texts) {
    if (options.contextOnly && !mentionsContext(text.content, options.alsoContext)) continue;
    yield* entriesOfDocument(file, text, options);
  }
}

async function* entriesOfDocument(
  file: string,
  text: DocumentText,
  { contextOnly, decoded }: SourceOptions,
): AsyncGenerator<SourceEntry> {
  const key = `${file}:${text.line}`;
  try {
    const document = decoded.get(key) ?? (await decodeDocument(text));
    if (contextOnly) decoded.set(key, document);
    yield* objectsIn(file, text, document);
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    if (!contextOnly) yield faultOf(file, text, error);
  }
}

function* objectsIn(file: string, text: DocumentText, document: JsonDocument): Generator<SourceEntry> {
  const { value, duplicates } = document;
  if (value === null || isNoManifest(value)) return;
  const start = { file, line: firstLine(text), column: 1 };
  const positions = new DocumentLocations(file, text);
  const items = itemsOf(value);
  for (const [index, item] of (items ?? [{ value, path: "" }]).entries()) {
    const problem = problemOf(item.value);
    if (problem !== undefined) {
      const where = items === undefined ? "" : `item ${index + 1}: `;
      yield { fault: `${where}${problem}`, location: start };
      continue;
    }
    const below = (path: string) => [item.path, path].filter((one) => one !== "").join(".");
    const prefix = item.path === "" ? "" : `${item.path}.`;
    const own = duplicates.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
    yield {
      object: {
        value: item.value as ManifestObject["value"],
        duplicates: own,
        start,
        locate: (field, occurrence) => positions.at(below(field), occurrence),
      },
    };
  }
}

/** Returns why a value is no manifest; undefined for a manifest. */
function problemOf(value: JsonValue): string | undefined {
  if (!isObject(value))
    return `not a manifest: ${Array.isArray(value) ? "a list" : "a single value"}, not an object`;
  const missing = ["apiVersion", "kind"].filter((name) => textOf(value[name]) === "");
  if (missing.length === 0) return undefined;
  return `not a manifest: ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`;
}

/** Whether a value is a file of kustomize, or the description of a chart of helm. */
function isNoManifest(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const isChart =
    /^v[12]$/.test(textOf(value["apiVersion"])) && value["kind"] === undefined && "version" in value;
  return isChart || nameOf(value).group === apiGroup(kubernetes.groupSuffix, "kustomize.config");
}

/** Finds fields in the text of a document. */
class DocumentLocations {
  private positions: Promise<DocumentPositions> | undefined;

  constructor(
    private readonly file: string,
    private readonly text: DocumentText,
  ) {}

  async at(path: string, occurrence?: "first" | "last"): Promise<ValidationLocation> {
    const { content, line: first } = this.text;
    this.positions ??= DocumentPositions.of(content, first);
    const { line, column } = (await this.positions).at(path, occurrence);
    return { file: this.file, line, column };
  }
}

const kindMember = /^[ \t-]*"?kind"?[ \t]*:[ \t]*["']?([A-Za-z]+)/gm;

/** Whether a document may have an object of the context. */
function mentionsContext(content: string, more: ReadonlySet<string> = new Set()): boolean {
  // JSON may have several members in a line.
  if (/^\s*[{[]/.test(content)) return true;
  const others = new Set([...more].map((key) => key.slice(key.indexOf(" ") + 1)));
  for (const [, kind = ""] of content.matchAll(kindMember))
    if (mayBeContext(kind) || kind.endsWith("List") || others.has(kind)) return true;
  return false;
}

/** The first line of a document that isn't blank, a comment or a mark. */
function firstLine({ content, line }: DocumentText): number {
  const at = content.split("\n").findIndex((one) => !/^(\s*(#.*)?|---\s*(#.*)?|%.*)$/.test(one));
  return line + Math.max(at, 0);
}

function isBinary(bytes: Uint8Array): boolean {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return !isUtf16 && bytes.subarray(0, 8000).includes(0);
}

function faultOf(file: string, { content, line }: DocumentText, error: SyntaxFault): SourceEntry {
  const template = content.indexOf("{{");
  if (template === -1)
    return { fault: error.problem, location: { file, line: error.line, column: error.column } };
  const before = content.slice(0, template).split("\n");
  const shown = /\{\{[^\n]{0,60}/.exec(content)?.[0].trim() ?? "{{";
  return {
    fault: `a template that is not rendered: ${shown}; validate the output of its program, such as helm template`,
    location: { file, line: line + before.length - 1, column: before.at(-1)!.length + 1 },
  };
}
