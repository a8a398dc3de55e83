// Reads the declarations of the package's entries with the TypeScript compiler.
import path from "node:path";
import { SymbolFlags, API } from "typescript/unstable/sync";
import { isTypeAliasDeclaration, SyntaxKind } from "typescript/unstable/ast";
import { noComment, parseComment } from "./doc-comment.mjs";

/** The types of the package, as one program: `tsconfig.json` names the files of the entries. Must be closed. */
export class Declarations {
  #api = new API({ cwd: process.cwd() });
  #project;
  #root = path.resolve("dist/types");

  constructor() {
    const config = path.resolve("scripts/reference/tsconfig.json");
    this.#project = this.#api.updateSnapshot({ openProjects: [config] }).getProject(config);
  }

  close() {
    this.#api.close();
  }

  /** Returns what a file exports, by name. */
  exportsOf(file) {
    const { program, checker } = this.#project;
    const module = checker.getSymbolAtLocation(program.getSourceFile(path.resolve(file)));
    return new Map(
      checker.getExportsOfModule(module).map((symbol) => [symbol.name, this.#declaration(symbol)]),
    );
  }

  /** Returns the declarations of the package that a declaration names in its signature or in some of its members. */
  namedBy({ nodes }, members) {
    const symbols = new Map();
    const visit = (node) => {
      const name =
        node.typeName ?? (node.kind === SyntaxKind.ExpressionWithTypeArguments ? node.expression : undefined);
      if (name !== undefined) {
        const symbol = this.#project.checker.getSymbolAtLocation(name);
        if (symbol !== undefined) symbols.set(symbol.id, symbol);
      }
      node.forEachChild(visit);
    };
    for (const node of nodes) for (const part of partsOf(node)) visit(part);
    for (const { node } of members) visit(node);
    return [...symbols.values()]
      .filter(({ flags }) => !(flags & SymbolFlags.TypeParameter))
      .map((symbol) => this.#declaration(symbol))
      .filter(({ file }) => file !== undefined);
  }

  #declaration(symbol) {
    const { checker } = this.#project;
    const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const nodes = target.declarations.map((handle) => handle.resolve(this.#project));
    const [node] = nodes;
    const file = node && this.#fileOf(node);
    const word = { [SyntaxKind.ClassDeclaration]: "class", [SyntaxKind.InterfaceDeclaration]: "interface" }[
      node?.kind
    ];
    return {
      id: target.id,
      name: target.name,
      file,
      nodes,
      word,
      comment: commentOf(node),
      members: word === undefined || file === undefined ? [] : this.#members(target),
      type: node && isTypeAliasDeclaration(node) ? () => this.#expanded(target) : undefined,
    };
  }

  /** The path of the file below `dist/types`; undefined for the libraries of the language. */
  #fileOf(node) {
    const file = path.relative(this.#root, node.getSourceFile().fileName);
    return file.startsWith("..")
      ? undefined
      : file
          .split(path.sep)
          .join("/")
          .replace(/\.d\.ts$/, "");
  }

  /** The members of a class or interface that callers can use, with the inherited ones. */
  #members(symbol) {
    const { checker } = this.#project;
    return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).flatMap((property) => {
      const nodes = property.declarations.map((handle) => handle.resolve(this.#project));
      const [node] = nodes;
      if (node === undefined || this.#fileOf(node) === undefined || isHidden(node)) return [];
      // The constructor has the comment of a parameter that is a property.
      const comment = nodes.map(commentOf).find((one) => one !== noComment) ?? noComment;
      if (comment.isInternal) return [];
      return [
        {
          name: node.name.getText(),
          node,
          nodes,
          owner: node.parent.name?.getText(),
          comment,
          isOptional: Boolean(property.flags & SymbolFlags.Optional),
        },
      ];
    });
  }

  /** The text of a type alias with the values that it is computed from. */
  #expanded(symbol) {
    const { checker } = this.#project;
    const noTruncation = 1;
    const inTypeAlias = 1 << 23;
    return checker.typeToString(
      checker.getDeclaredTypeOfSymbol(symbol),
      undefined,
      noTruncation | inTypeAlias,
    );
  }
}

/** The nodes of a declaration that name types, except members. */
function partsOf(node) {
  if (node.members !== undefined)
    return [
      ...(node.heritageClauses ?? []),
      ...(node.typeParameters ?? []),
      ...node.members.filter(isConstructor),
    ];
  return [node];
}

/** @param {import("typescript/unstable/ast").Node} member */
export function isConstructor(member) {
  return member.kind === SyntaxKind.Constructor;
}

function isHidden(node) {
  const modifiers = node.modifiers?.map((modifier) => modifier.getText()) ?? [];
  return (
    modifiers.includes("private") || modifiers.includes("protected") || node.name.getText().startsWith("#")
  );
}

/** @param {import("typescript/unstable/ast").Node} node */
export function commentOf(node) {
  const last = node?.jsDoc?.at(-1);
  return last === undefined ? noComment : parseComment(last.getText());
}
