import { parse } from "acorn";
import { transformSync } from "esbuild";
import { read } from "./source-files.ts";

/** What the checks look at in a node of a syntax tree (ESTree). */
export interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
}

/** Calls `visit` with every node of a TypeScript file of the project, types left out. */
export function visitFile(file: string, visit: (node: SyntaxNode) => void): void {
  walk(parseFile(file).tree, visit);
}

/** A parsed file: its code without types, and its syntax tree, whose nodes have their positions in the code. */
export interface ParsedFile {
  readonly code: string;
  readonly tree: unknown;
}

/** Parses a TypeScript file of the project, types left out. */
export function parseFile(file: string): ParsedFile {
  const { code } = transformSync(read(file), { loader: "ts", target: "esnext" });
  return { code, tree: parse(code, { ecmaVersion: "latest", sourceType: "module" }) };
}

/** Calls `visit` with every node of a CommonJS script. */
export function visitScript(text: string, visit: (node: SyntaxNode) => void): void {
  walk(parse(text, { ecmaVersion: "latest", sourceType: "script", allowReturnOutsideFunction: true }), visit);
}

function walk(value: unknown, visit: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) for (const one of value) walk(one, visit);
  else if (typeof value === "object" && value !== null) {
    visit(value);
    for (const member of Object.values(value)) walk(member, visit);
  }
}
