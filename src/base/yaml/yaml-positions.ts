import type { Document, ParsedNode, YAMLMap } from "yaml";
import { decodeYamlText } from "./yaml-text.ts";

/** A position in a text. */
export interface TextPosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** Whether the text has the field; otherwise this is the position of the innermost object or list that it would be in. */
  readonly exact: boolean;
}

type YamlLibrary = typeof import("./yaml-library.ts");

/**
 * The positions of the fields of a document. It parses the document again, because positions are needed only for the few documents with
 * problems.
 */
export class DocumentPositions {
  private readonly document: Document.Parsed;

  private constructor(
    private readonly yaml: YamlLibrary,
    private readonly text: string,
    private readonly line: number,
  ) {
    this.document = yaml.parseDocument(text, { uniqueKeys: false, logLevel: "silent" });
  }

  /** Parses a document. @param line its first line in the file, from 1. */
  static async of(text: string, line = 1): Promise<DocumentPositions> {
    return new DocumentPositions(await import("./yaml-library.ts"), text, line);
  }

  /**
   * Returns the position of a field.
   *
   * @param path names and indexes, such as `spec.ports[0].name`; keys of maps may be in brackets (`metadata.labels[app]`), and names may
   *   contain dots. The empty path is the document.
   * @param occurrence which of several members with the same name.
   */
  at(path: string, occurrence: "first" | "last" = "first"): TextPosition {
    let node: unknown = this.document.contents;
    let offset = startOf(node as ParsedNode | null);
    let rest = path;
    while (rest !== "") {
      const value = this.resolved(node);
      const next = this.yaml.isSeq<ParsedNode>(value)
        ? itemAt(value.items, rest)
        : this.yaml.isMap<ParsedNode, ParsedNode | null>(value)
          ? this.memberAt(value, rest, occurrence)
          : undefined;
      if (next === undefined) return this.positionOf(offset, false);
      ({ offset, node, rest } = next);
    }
    return this.positionOf(offset, true);
  }

  private positionOf(offset: number, exact: boolean): TextPosition {
    const before = this.text.slice(0, offset);
    const lineStart = before.lastIndexOf("\n") + 1;
    return { line: this.line + before.split("\n").length - 1, column: offset - lineStart + 1, exact };
  }

  /** Returns the value of an alias; any other node itself. */
  private resolved(node: unknown): unknown {
    return this.yaml.isAlias(node) ? node.resolve(this.document) : node;
  }

  /** Finds the member with the longest name that fits, because a name may contain dots. */
  private memberAt(map: YAMLMap<ParsedNode, ParsedNode | null>, rest: string, occurrence: "first" | "last") {
    let longest: Member | undefined;
    for (const { key, value } of map.items) {
      const name = this.yaml.isScalar(key) ? String(key.value) : "";
      const after = name === "" ? undefined : restAfter(rest, name);
      if (after === undefined) continue;
      const isBetter =
        longest === undefined ||
        after.length < longest.rest.length ||
        (occurrence === "last" && after.length === longest.rest.length);
      if (isBetter) longest = { offset: key.range[0], node: value, rest: after };
    }
    return longest ?? this.mergedAt(map, rest, occurrence);
  }

  /** Finds a member in the values of the merge keys. */
  private mergedAt(
    map: YAMLMap<ParsedNode, ParsedNode | null>,
    rest: string,
    occurrence: "first" | "last",
  ): Member | undefined {
    for (const { key, value } of map.items) {
      if (!this.yaml.isScalar(key) || key.value !== "<<") continue;
      const source = this.resolved(value);
      const sources: unknown[] = this.yaml.isSeq(source) ? source.items : [source];
      for (const one of sources) {
        const merged = this.resolved(one);
        if (!this.yaml.isMap<ParsedNode, ParsedNode | null>(merged)) continue;
        const member: Member | undefined = this.memberAt(merged, rest, occurrence);
        if (member !== undefined) return member;
      }
    }
    return undefined;
  }
}

interface Member {
  readonly offset: number;
  readonly node: unknown;
  /** The path behind the member. */
  readonly rest: string;
}

function startOf(node: ParsedNode | null): number {
  return node?.range[0] ?? 0;
}

function itemAt(items: readonly ParsedNode[], rest: string): Member | undefined {
  const index = /^\[(\d+)\]\.?/.exec(rest);
  const item = index === null ? undefined : items[Number(index[1])];
  if (index === null || item === undefined) return undefined;
  return { offset: startOf(item), node: item, rest: rest.slice(index[0].length) };
}

/** Returns the path behind a member's name; undefined if the path doesn't begin with the name. */
function restAfter(path: string, name: string): string | undefined {
  for (const form of [name, `[${name}]`, `['${name}']`, `["${name}"]`]) {
    if (!path.startsWith(form)) continue;
    const rest = path.slice(form.length);
    if (rest === "" || rest.startsWith("[")) return rest;
    if (rest.startsWith(".")) return rest.slice(1);
  }
  return undefined;
}

/**
 * Returns the line of a field in a document of YAML or JSON, from 1; undefined if the document doesn't have the field.
 *
 * @param path see {@link DocumentPositions.at}.
 */
export async function lineOfField(bytes: Uint8Array, path: string): Promise<number | undefined> {
  if (path === "") return undefined;
  const { line, exact } = (await DocumentPositions.of(decodeYamlText(bytes))).at(path);
  return exact ? line : undefined;
}
