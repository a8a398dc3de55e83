/** What the tests say of each requirement id: the titles, with the values of the row where an id is in a table of cases. */
import { parseFile } from "./syntax-tree.ts";

/** Requirement ids: the document (A: access reviews and roles, C: conventions), the section, a number. */
const idForm = /\b([AC])-(\d+(?:\.\d+)?)-(\d+)\b/g;

/** A text that names requirements. */
export interface RequirementTitle {
  readonly ids: readonly string[];
  /** The text without ids. */
  readonly words: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly value?: unknown;
  readonly name?: string;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly callee?: Node;
  readonly property?: Node;
  readonly object?: Node;
  readonly arguments?: readonly Node[];
  readonly elements?: readonly Node[];
  readonly properties?: readonly { readonly key?: Node; readonly value?: Node }[];
  readonly id?: Node;
}

/** A call that declares tests with a title: `test("…")`, `it.each(table)("…")`. */
interface Declaration {
  readonly node: Node;
  readonly title: string;
  /** The table of cases, if there is one. */
  readonly table: Node | undefined;
}

/** Returns whether a text has the id of a requirement. */
export const namesRequirements = (text: string): boolean => idsIn(text).length > 0;

/** Returns the texts of a test file that name requirements. */
export function requirementTitles(file: string): RequirementTitle[] {
  const { code, tree } = parseFile(file);
  const declarations: Declaration[] = [];
  const named: { readonly text: string; readonly ancestors: readonly Node[] }[] = [];
  walk(tree, [], (node, ancestors) => {
    const text = textOf(node);
    if (text !== undefined && idsIn(text).length > 0) named.push({ text, ancestors });
    const [title] = node.type === "CallExpression" ? (node.arguments ?? []) : [];
    const titleText = title === undefined ? undefined : textOf(title);
    if (titleText === undefined || !isDeclaration(node.callee!)) return;
    declarations.push({ node, title: titleText, table: tableOf(node.callee!) });
  });
  return named.map(({ text, ancestors }) => {
    const words = withoutIds(text);
    const own = declarations.find(({ node }) => node === ancestors.at(-1));
    const described =
      own === undefined
        ? wordsAround(ancestors, declarations, code)
        : withSubject(withoutIdPlaceholder(words, own), own, declarations);
    // A text that only names its subject in a table says less than the title that it is put into.
    return { ids: idsIn(text), words: described.length > words.length ? described : words };
  });
}

/** Puts the title of the surrounding tests before a title of few words. */
function withSubject(title: string, { node }: Declaration, declarations: readonly Declaration[]): string {
  if (
    title
      .replaceAll(/%[a-z]|\$\w+/g, "")
      .split(" ")
      .filter((word) => word !== "").length > 4
  )
    return title;
  const outer = declarations.findLast((one) => one.node.start < node.start && one.node.end >= node.end);
  const subject = withoutIds(outer?.title ?? "").replace(/^%s/, "");
  return subject === "" ? title : `${subject}: ${title}`;
}

/** What a table or a variable with nothing but ids says: the title of its tests with the other values of the row. */
function wordsAround(ancestors: readonly Node[], declarations: readonly Declaration[], code: string): string {
  const row = ancestors.findLast(({ type }) => type === "ArrayExpression" || type === "ObjectExpression");
  if (row?.type === "ObjectExpression") {
    const member = (name: string) =>
      textOf(row.properties?.find(({ key }) => key?.name === name)?.value ?? row);
    if (member("flag") !== undefined) return `--${member("flag")} changes ${member("observed")}`;
  }
  const variable = ancestors.findLast(({ type }) => type === "VariableDeclarator")?.id?.name;
  const declaration =
    declarations.find(({ table }) => table !== undefined && ancestors.includes(table)) ??
    declarations.find(({ table }) => variable !== undefined && table?.name === variable) ??
    declarations.findLast(
      ({ node, title }) =>
        variable !== undefined &&
        withoutIds(title) !== "" &&
        new RegExp(`\\b${variable}\\b`).test(code.slice(node.start, node.end)),
    );
  if (declaration === undefined || row === undefined) return withoutIds(declaration?.title ?? "");
  const title = row.type === "ArrayExpression" ? fill(declaration.title, row, code) : declaration.title;
  return withSubject(withoutIds(title), declaration, declarations).replaceAll(/ +/g, " ");
}

/** Puts the values of a row in place of the placeholders of a title; long values are left out. */
function fill(title: string, row: Node, code: string): string {
  let at = 0;
  const values = (row.elements ?? []).map((element) => {
    const text = textOf(element) ?? code.slice(element.start, element.end).replaceAll(/\s+/g, " ");
    return text.length > 120 ? "…" : text;
  });
  const filled = title.replaceAll(/%[sjdio]/g, () => {
    const value = values[at++] ?? "";
    return value === "" ? '""' : value;
  });
  return filled.replace(/^\$\w+/, values[0] ?? "");
}

/** Removes the placeholder of the ids at the beginning of a title. */
function withoutIdPlaceholder(words: string, { table, title }: Declaration): string {
  const [row] = table?.elements ?? [];
  const [first] = row?.elements ?? [];
  const text = first === undefined ? undefined : textOf(first);
  const isId = text !== undefined && idsIn(text).length > 0 && withoutIds(text) === "";
  return isId || /^%s [AC]-/.test(title) ? words.replace(/^%s /, "") : words;
}

/** The text of a string or of the fixed parts of a template; undefined for other nodes. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return undefined;
  return node.quasis!.map(({ value }) => value.cooked).join("…");
}

function isDeclaration(callee: Node): boolean {
  let node: Node | undefined = callee;
  while (node !== undefined && node.name === undefined) node = node.object ?? node.callee;
  return /^(?:describe|it|test)$/.test(node?.name ?? "");
}

function tableOf(callee: Node): Node | undefined {
  return callee.type === "CallExpression" && callee.callee?.property?.name === "each"
    ? callee.arguments?.[0]
    : undefined;
}

function idsIn(text: string): string[] {
  return [...text.matchAll(idForm)].map(([id]) => id);
}

function withoutIds(text: string): string {
  return text
    .replaceAll(idForm, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^[ …:]+/, "")
    .trim();
}

function walk(
  value: unknown,
  ancestors: readonly Node[],
  visit: (node: Node, ancestors: readonly Node[]) => void,
): void {
  if (Array.isArray(value)) for (const one of value) walk(one, ancestors, visit);
  else if (typeof value === "object" && value !== null) {
    const node = value as Node;
    const isNode = typeof node.type === "string";
    if (isNode) visit(node, ancestors);
    const next = isNode ? [...ancestors, node] : ancestors;
    for (const member of Object.values(value)) walk(member, next, visit);
  }
}
