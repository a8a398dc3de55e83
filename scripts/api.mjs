// Writes api/plinth.api.d.ts: every declaration that a program can reach from an entry of the package, in one file, so that
// a change of the interface is seen in review. `npm run api` after a build.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { typeText } from "./build/type-text.mjs";

const types = "dist/types";
/** Built-in kinds are shown by their fields, not by the declarations that those are derived from. */
const kindsFile = `${types}/kinds/all.d.ts`;

/** The whole text. @returns {Promise<string>} */
export async function apiText() {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const entries = Object.entries(exports)
    .filter(([, entry]) => typeof entry !== "string")
    .map(([name, entry]) => [name, path.posix.normalize(entry.import.types)]);
  const reached = new Reached();
  const heads = entries.map(([name, file]) => {
    const names = file === kindsFile ? [] : exportedNames(file);
    for (const one of names) reached.add(file, one);
    const shown = file === kindsFile ? "see the end of this file" : names.toSorted().join(", ");
    return wrapped(`// plinth${name.slice(1)}: ${shown}`);
  });
  const { builtInKinds } = await import(pathToFileURL(path.resolve("dist/kinds.js")).href);
  const head = "// Made by `npm run api` from the types of the package's entries; not to be edited.";
  return [head, heads.join("\n"), ...reached.texts(), kindsText(builtInKinds)].join("\n\n") + "\n";
}

/** The statements that were reached, by file. */
class Reached {
  files = new Map();

  add(file, name) {
    if (file.startsWith(`${types}/kinds/`) && file !== `${types}/kinds/declare-group.d.ts` && !isSmall(file))
      return;
    const { statements, imports } = (this.files.get(file) ?? this.open(file)).module;
    const { taken } = this.files.get(file);
    if (taken.has(name)) return;
    const matches = statements.filter((one) => one.name === name);
    if (matches.length === 0) {
      const from = imports.get(name);
      if (from !== undefined) this.add(from.file, from.name);
      return;
    }
    taken.add(name);
    for (const { text } of matches) this.follow(file, text);
  }

  open(file) {
    const opened = { module: readModule(file), taken: new Set() };
    this.files.set(file, opened);
    return opened;
  }

  /** Adds what a statement names. */
  follow(file, text) {
    const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, target, name] of code.matchAll(/import\("([^"]+)"\)\.(\w+)/g))
      this.add(resolved(file, target), name);
    for (const [name] of code.matchAll(/\b[A-Za-z_]\w*\b/g)) this.add(file, name);
  }

  texts() {
    return [...this.files]
      .filter(([, { taken }]) => taken.size > 0)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([file, { module, taken }]) => {
        const texts = module.statements
          .filter(({ name }) => taken.has(name))
          .map(({ text }) => cleaned(text));
        return [`// ---- ${path.posix.relative(types, file).replace(".d.ts", "")}`, ...texts].join("\n\n");
      });
  }
}

/** Files of `kinds/` that aren't declarations of kinds. */
function isSmall(file) {
  return /\/kinds\/(typed-objects|columns)\.d\.ts$/.test(file);
}

function exportedNames(file) {
  const { statements, exported } = readModule(file);
  return [
    ...statements.filter(({ text }) => /^(\/\*\*[\s\S]*?\*\/\s*)?export /.test(text)).map(({ name }) => name),
    ...exported,
  ];
}

/** A file's top-level statements with the names that they declare, and what it imports or exports from others. */
function readModule(file) {
  const statements = [];
  const imports = new Map();
  const exported = [];
  for (const text of statementsOf(readFileSync(file, "utf8"))) {
    const code = text.replace(/^(\/\*[\s\S]*?\*\/\s*)+/, "");
    const from = /^(import|export)(?: type)? (?:\* as (\w+)|\{([^}]*)\})(?: from "([^"]+)")?/.exec(code);
    if (from === null) {
      const name =
        /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|namespace) (\w+)/.exec(
          code,
        )?.[1];
      if (name !== undefined) statements.push({ name, text });
      continue;
    }
    const [, word, , list = "", target] = from;
    if (target === undefined) continue;
    for (const one of list
      .split(",")
      .map((each) => each.trim().replace(/^type /, ""))
      .filter(Boolean)) {
      const [name, as = name] = one.split(" as ");
      if (target.startsWith(".")) imports.set(as, { file: resolved(file, target), name });
      if (word === "export") exported.push(as);
    }
  }
  return { statements, imports, exported };
}

function resolved(file, target) {
  const declarations = path.posix.join(path.posix.dirname(file), target.replace(/(\.d)?\.ts$/, "") + ".d.ts");
  if (!existsSync(declarations)) throw new Error(`${file}: no declarations for ${target}`);
  return declarations;
}

/** The compiler begins each statement, or the comment before it, in the first column and indents all else. */
function statementsOf(text) {
  const statements = [];
  let now = [];
  let inComment = false;
  for (const line of text.split("\n")) {
    now.push(line);
    if (line.startsWith("/*")) inComment = true;
    const commentEnds = inComment && line.trimEnd().endsWith("*/");
    if (inComment) {
      if (commentEnds) inComment = false;
      continue;
    }
    // A member of a union can end in the first column; the alias ends with a semicolon.
    const isInAlias = !line.endsWith(";") && now.some((one) => /^(?:export )?(?:declare )?type /.test(one));
    if (/^(?! )\S.*[;}]$|^\}.*$/.test(line) && !line.endsWith("{") && !isInAlias) {
      statements.push(now.join("\n").trim());
      now = [];
    }
  }
  return statements;
}

/** Without what callers can't use. */
function cleaned(text) {
  return text.replaceAll(/^ +(static )?(private|#).*;\n/gm, "").replaceAll(/import\("[^"]+"\)\./g, "");
}

function wrapped(line) {
  return line.replaceAll(
    /(.{1,110})(?:, |$)/g,
    (part, words, at) => `${at === 0 ? "" : "//   "}${words}${part.endsWith(", ") ? ",\n" : ""}`,
  );
}

/** The fields of all kinds, each struct once. */
function kindsText(kinds) {
  const structs = new Map();
  const blocks = kinds.map(({ group, version, name, resource, scope, verbs, subresources, type }) => {
    const home = `${group.base}${group.suffixed ? ".*" : ""}/${version}`;
    const below = Object.keys(subresources)
      .map((one) => ` /${one}`)
      .join("");
    return `// ${home} ${name}: ${scope} ${resource}${below} [${verbs.toSorted().join(" ")}]\n${structText(type, structs)}`;
  });
  // Those of the kinds were made on the way.
  const shared = [...structs.values()].filter((text) => text !== "").toSorted();
  return ["// ---- kinds: fields by their JSON names, required ones without `?`", ...blocks, ...shared].join(
    "\n\n",
  );
}

function structText({ name, fields }, structs) {
  const names = { scalar: (scalar) => scalar, struct: (struct) => structName(struct, structs) };
  const lines = Object.entries(fields).map(([field, { type, facts }]) => {
    const mark = facts.required ? "" : "?";
    return `  ${/^\w+$/.test(field) ? field : JSON.stringify(field)}${mark}: ${typeText(type, names)};`;
  });
  return `interface ${name} {\n${lines.join("\n")}\n}`;
}

/** Prints a struct once, and returns its name. */
function structName(type, structs) {
  const { group, version } = type.groupVersion;
  const key = `${group.base}/${version} ${type.name}`;
  if (!structs.has(key)) {
    structs.set(key, "");
    structs.set(key, `// ${group.base || "core"}/${version}\n${structText(type, structs)}`);
  }
  return type.name;
}

if (process.argv[1] === path.resolve("scripts/api.mjs"))
  writeFileSync("api/plinth.api.d.ts", await apiText());
