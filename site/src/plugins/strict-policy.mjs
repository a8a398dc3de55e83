// Makes the built pages pass the Content-Security-Policy "default-src 'self'": no scripts and styles inside of pages.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'";
const folder = "_astro";
const classPrefix = "s-";

/**
 * Extracts scripts, styles and pictures from the pages and stylesheets of a folder, and adds the policy to the pages.
 * @param {import("parse5").DefaultTreeAdapterTypes.Document[]} trees the pages
 * @param {string} output the folder
 * @param {string} base
 */
export async function applyStrictPolicy(trees, output, base) {
  const files = new ExtractedFiles(base);
  for (const tree of trees) extract(tree, files);
  await adaptStylesheets(path.join(output, folder), files);
  files.write(output);
  for (const tree of trees) addToHead(tree, files.stylesheet);
}

/** The files that are made of parts of pages. Their names contain a digest of their content. */
class ExtractedFiles {
  #texts = new Map();
  #classes = new Map();

  /** @param {string} base */
  constructor(base) {
    this.base = base;
  }

  /** Returns the address of a file with a text. */
  addressOf(text, extension) {
    const name = `${createHash("sha256").update(text).digest("hex").slice(0, 12)}.${extension}`;
    this.#texts.set(name, text);
    return `${this.base}${folder}/${name}`;
  }

  /** Returns a class with the declarations of a `style` attribute. */
  classOf(declarations) {
    const known = this.#classes.get(declarations);
    if (known !== undefined) return known;
    const name = `${classPrefix}${createHash("sha256").update(declarations).digest("hex").slice(0, 8)}`;
    this.#classes.set(declarations, name);
    return name;
  }

  get stylesheet() {
    const rules = [...this.#classes].map(([declarations, name]) => `.${name}{${declarations}}`);
    return this.addressOf(`${rules.toSorted().join("\n")}\n`, "css");
  }

  write(output) {
    void this.stylesheet;
    mkdirSync(path.join(output, folder), { recursive: true });
    for (const [name, text] of this.#texts) writeFileSync(path.join(output, folder, name), text);
  }
}

/** @param {ExtractedFiles} files */
function extract(node, files) {
  if (node.tagName === "script") extractScript(node, files);
  if (node.tagName === "style") extractStylesheet(node, files);
  const style = attributeOf(node, "style");
  if (style !== undefined) {
    node.attrs = node.attrs.filter(({ name }) => name !== "style");
    setAttribute(node, "class", `${attributeOf(node, "class") ?? ""} ${files.classOf(style)}`.trim());
  }
  for (const child of [...(node.childNodes ?? []), ...(node.content?.childNodes ?? [])])
    extract(child, files);
}

function extractScript(node, files) {
  const type = attributeOf(node, "type") ?? "module";
  const text = textOf(node);
  if (attributeOf(node, "src") !== undefined || !/^(module|text\/javascript)$/.test(type)) return;
  setAttribute(node, "src", files.addressOf(text, "js"));
  node.childNodes = [];
}

function extractStylesheet(node, files) {
  const href = files.addressOf(textOf(node), "css");
  node.tagName = "link";
  node.nodeName = "link";
  node.attrs = [
    { name: "rel", value: "stylesheet" },
    { name: "href", value: href },
  ];
  node.childNodes = [];
}

function addToHead(tree, stylesheet) {
  const head = tree.childNodes
    .find(({ tagName }) => tagName === "html")
    .childNodes.find(({ tagName }) => tagName === "head");
  const element = (tagName, attributes) => ({
    nodeName: tagName,
    tagName,
    attrs: Object.entries(attributes).map(([name, value]) => ({ name, value })),
    namespaceURI: head.namespaceURI,
    childNodes: [],
    parentNode: head,
  });
  // After the declaration of the encoding, which must be near the beginning.
  head.childNodes.splice(1, 0, element("meta", { "http-equiv": "Content-Security-Policy", content: policy }));
  head.childNodes.push(element("link", { rel: "stylesheet", href: stylesheet }));
}

/** Adapts the stylesheets: pictures inside of them (`data:` addresses) become files, and selectors match classes of `style` attributes. */
async function adaptStylesheets(styles, files) {
  for (const name of readdirSync(styles).filter((file) => file.endsWith(".css"))) {
    let text = readFileSync(path.join(styles, name), "utf8");
    for (const [reference, ...addresses] of text.matchAll(
      /url\((?:"(data:[^"]*)"|'(data:[^']*)'|(data:[^)]*))\)/g,
    )) {
      const response = await fetch(addresses.find((address) => address !== undefined));
      const type = response.headers.get("content-type");
      if (!type.startsWith("image/svg+xml")) throw new Error(`${name}: a picture of the type ${type}`);
      text = text.replaceAll(reference, `url("${files.addressOf(await response.text(), "svg")}")`);
    }
    // The colors of code.
    text = text.replaceAll("[style^='--']:not([class])", `[class^='${classPrefix}']`);
    if (text.includes("[style"))
      throw new Error(`${name}: a selector of style attributes, which are extracted`);
    writeFileSync(path.join(styles, name), text);
  }
}

const attributeOf = (node, name) => node.attrs?.find((attribute) => attribute.name === name)?.value;

function setAttribute(node, name, value) {
  node.attrs = [...node.attrs.filter((attribute) => attribute.name !== name), { name, value }];
}

const textOf = (node) => node.childNodes.map(({ value }) => value ?? "").join("");
