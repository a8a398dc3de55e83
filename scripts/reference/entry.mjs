// One declaration as a part of the page.
import { format } from "prettier";
import { SyntaxKind } from "typescript/unstable/ast";
import { firstSentence, joined } from "./doc-comment.mjs";
import { isConstructor, commentOf } from "./declarations.mjs";

/** Longest type, parameters and description of a member in a table; longer ones have a section of their own. */
const longestType = 100;
const longestParameters = 90;
const longestText = 400;

/**
 * Returns the lines of a declaration.
 *
 * @param entry the declaration.
 * @param {{ anchors: Map<string, string>, isExported: boolean, related: readonly string[] }} page
 */
export async function entryText(entry, page) {
  const { name, nodes, comment } = entry;
  const constructor = nodes[0].members?.find(
    (member) => isConstructor(member) && !member.getText().startsWith("private"),
  );
  const head = headOf(entry, constructor);
  const mark = page.isExported ? "" : "(Not exported.)";
  const text = [head, comment.text, mark].filter(Boolean).join(" ");
  const parts = [`### ${headingOf(entry)}`];
  const signature = head === "" ? await signatureOf(entry, constructor) : undefined;
  if (signature !== undefined) parts.push(signature);
  parts.push(...descriptionOf({ ...comment, text }, page, name));
  if (constructor !== undefined) parts.push(...descriptionOf(commentOf(constructor), page, name));
  const members = shownMembers(entry, page);
  if (members.length > 0) parts.push(table(members, page, name));
  if (page.related.length > 0)
    parts.push(`See also ${page.related.map((one) => `[${one}](#${page.anchors.get(one)})`).join(", ")}.`);
  for (const member of members.filter(hasDetails)) parts.push(...(await detailsOf(member, page, name)));
  return joinParts(parts);
}

/** The declaration of a class or interface without constructor and members, if it is more than the name of an interface. */
function headOf({ nodes, word, name }, constructor) {
  if (word === undefined || constructor !== undefined) return "";
  const text = nodes[0].getText();
  const head = oneLine(text.slice(0, text.indexOf("{"))).trim();
  return head === `interface ${name}` ? "" : `\`${head}\`.`;
}

/** Headings are followed by their text without an empty line. */
function joinParts(parts) {
  return parts.join("\n\n").replaceAll(/^(#+ .*)\n\n/gm, "$1\n");
}

/** The members that the page describes here, and not at a base type. */
export function shownMembers({ name, members, word }, { anchors, hidden, selected }) {
  if (hidden.has(name)) return [];
  const only = selected[name];
  return members
    .filter(({ owner }) => owner === name || (!anchors.has(owner) && !hidden.has(owner)))
    .filter((member) => only === undefined || only.includes(member.name))
    .filter((member) => word !== "class" || member.name !== "name" || !isError(member));
}

/** Whether a member belongs to an error: each has its `name`. */
function isError({ node }) {
  return node.parent.getText().includes("Error extends ");
}

async function signatureOf({ nodes, word, type }, constructor) {
  if (word === undefined) {
    const texts = type === undefined ? nodes.map((node) => node.getText()) : [aliasText(nodes[0], type)];
    return texts.includes(undefined) ? undefined : code(texts.map(published).join("\n"));
  }
  if (constructor === undefined) return undefined;
  const text = nodes[0].getText();
  return code(`${published(text.slice(0, text.indexOf("{")))} {${published(constructor.getText())}}`);
}

/** An alias of the values of a constant is shown with these; another one that names a constant isn't shown. */
function aliasText(node, type) {
  const text = node.getText();
  if (!text.includes("typeof ")) return text;
  const values = type();
  return /^("\w+"( \| )?)+$/.test(values) ? `${text.slice(0, text.indexOf("="))} = ${values}` : undefined;
}

function published(text) {
  return text
    .replace(/^export /, "")
    .replace(/^declare /, "")
    .replace(/^abstract /, "")
    .replaceAll(/import\("[^"]+"\)\./g, "");
}

async function code(text) {
  const formatted = await format(text, { parser: "typescript", printWidth: 100, objectWrap: "collapse" });
  return `\`\`\`ts\n${formatted}\`\`\``;
}

function descriptionOf({ text, params, returns, throws, examples }, page, self) {
  const say = (words) => prose(words, page, self);
  const parts = text === "" ? [] : [say(text)];
  const list = [
    ...params.map((param) => `- \`${param.name}\`: ${say(param.text)}`),
    ...(returns === undefined ? [] : [`- Result: ${say(returns)}`]),
    ...throws.map((error) => `- ${say(throwsText(error))}`),
  ];
  if (list.length > 0) parts.push(list.join("\n"));
  for (const example of examples) parts.push(`\`\`\`ts example\n${example.trim()}\n\`\`\``);
  return parts;
}

function table(members, page, self) {
  const rows = members.map((member) => {
    const { comment, isOptional } = member;
    const text = hasDetails(member)
      ? `${cell(firstSentence(comment.text), page, self)} [More](#${page.anchors.get(`${self}.${plain(member.name)}`)})`
      : cell(inlineText(comment), page, self);
    const name = `${member.name}${isOptional ? "?" : ""}${shortParameters(member)}`;
    return `| \`${name.replaceAll("|", "\\|")}\` | ${typeCell(member)} | ${text.trim()} |`;
  });
  return ["| member | type | meaning |", "|-|-|-|", ...rows].join("\n");
}

function cell(text, page, self) {
  return prose(text, page, self).replaceAll("|", "\\|");
}

/** The parameters of a method with their types; only their names if that is too long. */
function shortParameters({ node }) {
  const { parameters } = node;
  if (parameters === undefined || isGetter(node)) return "";
  const full = parametersText(node);
  if (full.length <= longestParameters) return full;
  const names = parameters.map((one) => {
    const dots = one.dotDotDotToken === undefined ? "" : "...";
    return `${dots}${one.name.getText()}${one.questionToken === undefined ? "" : "?"}`;
  });
  return `(${names.join(", ")})`;
}

function parametersText({ parameters = [], typeParameters = [] }) {
  const types = typeParameters.map((one) => one.getText()).join(", ");
  return oneLine(`${types === "" ? "" : `<${types}>`}(${parameters.map((one) => one.getText()).join(", ")})`);
}

function isGetter(node) {
  return /^(abstract )?get /.test(node.getText());
}

function typeText({ node, isOptional }) {
  const text = oneLine(node.type?.getText() ?? node.initializer?.getText() ?? "unknown");
  return isOptional ? text.replace(/ \| undefined$/, "") : text;
}

/** A type without comments and line breaks. */
function oneLine(text) {
  return published(text.replaceAll(/\/\*[\s\S]*?\*\//g, "")).replaceAll(/\s+/g, " ");
}

function typeCell(member) {
  const text = typeText(member);
  return text.length > longestType ? "see below" : `\`${text.replaceAll("|", "\\|")}\``;
}

/** The description with result and errors in one line. */
function inlineText({ text, returns, throws }) {
  const parts = [text, ...(returns === undefined ? [] : [`Result: ${returns}`]), ...throws.map(throwsText)];
  return parts
    .map((part) => joined(part).replaceAll(/\n+(- )?/g, " "))
    .map((part) => (part === "" || part.endsWith(".") ? part : `${part}.`))
    .join(" ");
}

function throwsText(error) {
  return `Throws ${error.replace(/^\{(\w+)\}/, "{@link $1}:")}`;
}

/** Whether a member has a section of its own. */
function hasDetails(member) {
  const { params, examples } = member.comment;
  if (params.length + examples.length > 0 || typeText(member).length > longestType) return true;
  return (
    inlineText(member.comment).length > longestText || parametersText(member.node).length > longestParameters
  );
}

async function detailsOf(member, page, self) {
  const texts = member.nodes.map((node) => published(node.getText()).replace(/^abstract /, ""));
  return [
    `#### ${self}.${plain(member.name)}`,
    await memberCode(texts.join("\n")),
    ...descriptionOf(member.comment, page, self),
  ];
}

/** Formats members of an interface. */
async function memberCode(text) {
  const formatted = await format(`interface X {\n${text.replaceAll(/\/\*[\s\S]*?\*\//g, "")}\n}`, {
    parser: "typescript",
    printWidth: 102,
    objectWrap: "collapse",
  });
  const lines = formatted.trimEnd().split("\n").slice(1, -1);
  return `\`\`\`ts\n${lines.map((line) => line.replace(/^ {2}/, "")).join("\n")}\n\`\`\``;
}

function plain(name) {
  return name.replace(/^\[Symbol\.(\w+)\]$/, "$1");
}

/** The anchor of a heading, as GitHub forms it. */
export function anchor(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** Text of a comment with its links; sections of the specification are left out. */
function prose(text, page, self) {
  return joined(text)
    .replaceAll(/ ?\(spec: [^)]*\)/g, "")
    .replaceAll(/\{@link ([\w.]+)\}/g, (_, name) => link(name, page, self))
    .replaceAll(/`?\bdocs\/([\w-]+\.md)`?/g, "[$1]($1)");
}

function link(name, { anchors, aliases }, self) {
  const [type, member] = name.split(".");
  const owner = aliases.get(type) ?? type;
  const candidates = member === undefined ? [owner, `${self}.${owner}`] : [`${owner}.${member}`, owner];
  const target = candidates.find((one) => anchors.has(one));
  if (target === undefined && !anchors.has(self)) throw new Error(`{@link ${name}}: not on the page`);
  const shown = member === undefined ? name : `${owner}.${member}`;
  return target === undefined ? `\`${shown}\`` : `[\`${shown}\`](#${anchors.get(target)})`;
}

/** The heading of an entry. Functions have their word, because a type may have the same name in upper case. */
function headingOf({ name, nodes }) {
  return nodes[0].kind === SyntaxKind.FunctionDeclaration ? `Function ${name}` : name;
}

/** The headings of an entry, by the names that links have. */
export function headingsOf(entry, page) {
  const details = shownMembers(entry, page)
    .filter(hasDetails)
    .map(({ name }) => `${entry.name}.${plain(name)}`);
  return [[entry.name, headingOf(entry)], ...details.map((name) => [name, name])];
}
