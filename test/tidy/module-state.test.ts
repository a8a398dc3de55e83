import { parse, type Expression, type Node, type Pattern, type Program } from "acorn";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/**
 * State that belongs to a module would be shared by all servers of a process. What is allowed, as `file: name`, and why
 * no server can tell from it that there are others.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "derived from a declaration, which never changes": [
    "src/cel/libraries.ts: languages",
    "src/fields/apply/shape.ts: structs",
    "src/http/stages/request-facts.ts: warningCache",
    "src/http/documents/openapi/parameters.ts: forms",
    "src/resources/ownership/field-ownership.ts: ignoredInParts",
    "src/resources/ownership/field-ownership.ts: zeros",
    "src/schema/bytes-shape.ts: shapes",
    "src/schema/check.ts: checkedFieldsByType",
    "src/schema/check.ts: hasRulesByType",
    "src/schema/defaults.ts: hasDefaultsByType",
    "src/schema/defaults.ts: plans",
    "src/schema/gates.ts: gatesByType",
    "src/schema/gates.ts: disabledGatesByServer",
    "src/schema/field-positions.ts: positionsByType",
    "src/schema/protobuf/decode-message.ts: cache",
    "src/schema/protobuf/encode-message.ts: plans",
    "src/schema/protobuf/numbered.ts: cache",
    "src/schema/protobuf/transcode-plan.ts: structPlans",
    "src/schema/kind-in-vocabulary.ts: kindsByPrefix",
    "src/schema/kind-in-release.ts: byRelease",
    "src/resources/registry/registry.ts: namesByVocabulary",
    "src/server/features/features.ts: featuresByRelease",
  ],
  "derived from a value that one server made and nobody changes, and goes with it": [
    "src/authorization/rbac/default-roles/default-policy.ts: cachedPolicies",
    "src/authorization/rbac/long-lists.ts: sets",
    "src/authorization/rbac/long-lists.ts: urlSets",
    "src/fields/apply/owned-fields.ts: unchangedFor",
    "src/http/audit/event.ts: userTexts",
    "src/http/transport/listener.ts: connections",
    "src/http/verbs/watch-frames.ts: framesByBatch",
    "src/http/answers/respond.ts: members",
    "src/kinds/core/pod/columns.ts: summaries",
    "src/resources/engine/conversion.ts: engines",
    "src/custom-resources/conversion/converting-store.ts: shared",
    "src/custom-resources/definitions/compressed-definition.ts: compressedByEntry",
    "src/resources/followers/informer.ts: decodedEntries",
    "src/controllers/garbage-collection/ownership.ts: markedEntries",
    "src/controllers/flow/flow-configuration.ts: storedEntries",
    "src/authentication/service-accounts/keys.ts: verificationKeys",
    "src/authentication/service-accounts/discovery-documents.ts: webKeys",
    "src/resources/reads/merged-source.ts: slices",
    "src/resources/reads/grant-changes.ts: sharedPages",
    "src/resources/reads/shared-changes.ts: newest",
    "src/resources/reads/visible-changes.ts: shared",
    "src/resources/reads/watch.ts: shared",
    "src/server/features/enabled-features.ts: gatesOf",
  ],
  "modules that are loaded when the first server needs them": ["src/base/cbor/codec.ts: codec"],
  "a pattern whose place of the next match is set before each use, which nothing interrupts": [
    "src/base/time/duration.ts: part",
    "src/base/json/exact.ts: numberToken",
    "src/base/selectors/label-selector-parser.ts: tokenForm",
    "src/kinds/apiextensions/field-path.ts: segment",
  ],
  "a bounded table of the default objects that a server made, without uids, times and keys": [
    "src/server/start/prepared-objects.ts: prepared",
  ],
  "a bounded table of what texts mean, which they mean to every server": [
    "src/base/certificates/parsed-certificate.ts: recent",
    "src/cel/functions/regular-expressions.ts: compiled",
    "src/cel/values/times.ts: formats",
  ],
  "the encoded form of a manifest, which every server gets": [
    "src/server/validation/sent-objects.ts: sentForms",
  ],
  "a bounded table of the schemas of definitions by their bytes, which mean the same to every server": [
    "src/kinds/apiextensions/schema-rules.ts: validSchemas",
    "src/custom-resources/definitions/shared-schema.ts: anySchema",
    "src/custom-resources/definitions/shared-schema.ts: parsedSchemas",
    "src/custom-resources/definitions/shared-schema.ts: recent",
  ],
  "an object without content, which has nothing that could change": ["src/http/request/facts.ts: noQuery"],
  "a buffer for the next message, whose content is not read": [
    "src/schema/protobuf/encode-message.ts: scratch",
    "src/schema/protobuf/transcode-scalars.ts: spare",
  ],
  "what this machine trusts, which is the same for every server of the process": [
    "src/remote/remote-client.ts: trusted",
  ],
  "the turns of the event loop, which all servers of the process share": [
    "src/base/yaml/yaml.ts: largeTexts",
    "src/resources/followers/follower.ts: backgroundLoads",
    "src/base/turns/yielding.ts: waitingByLoop",
  ],
  "the process may open a folder once only; who opens it again shares that": [
    "src/storage/lmdb/environment.ts: openFolders",
  ],
};

test("modules hold no state but what is listed", { timeout: 60_000 }, () => {
  const modules = sources.map((file) => ({ file, program: programOf(read(file)) }));
  const classes = new Set(modules.flatMap(({ program }) => mutableClasses(program)));
  const found = modules.flatMap(({ file, program }) =>
    stateIn(program, classes).map((name) => `${file}: ${name}`),
  );
  expect(found.toSorted()).toEqual(Object.values(allowed).flat().toSorted());
});

const cases: readonly [string, readonly string[]][] = [
  ["let last = 0;", ["last"]],
  ["export let last: string | undefined;", ["last"]],
  ["const known = new WeakMap<object, string>();", ["known"]],
  ["const names = new Map(); export function add(name: string) { names.set(name, 1); }", ["names"]],
  ["const names: string[] = []; export const add = (name: string) => names.push(name);", ["names"]],
  ["const last = { at: 0 }; export function note(at: number) { last.at = at; }", ["last"]],
  ["const counts: number[] = [0]; export function count() { counts[0]++; }", ["counts"]],
  ["class Names { static known = 0; add() { Names.known++; } }", ["Names"]],
  ["class Writer { bytes = 0; write() { this.bytes++; } } const shared = new Writer();", ["shared"]],
  ["const one = new Set(['a']); one.add('b'); export const has = (name: string) => one.has(name);", []],
  ["class Form { constructor(readonly pattern: RegExp) {} } const label = new Form(/a/);", []],
  ["export function f() { const all = new Map(); all.set(1, 2); return all; }", []],
  ["const all = [1]; export function f() { const all = [2]; all.push(3); return all; }", []],
];

test.each(cases)("what is state of a module: %s", (text, names) => {
  const program = programOf(text);
  expect(stateIn(program, new Set(mutableClasses(program)))).toEqual(names);
});

/** The methods that change what they are called on. */
const changing = new Set(
  "set add delete clear push pop shift unshift splice sort reverse fill copyWithin".split(" "),
);

function programOf(text: string): Program {
  const { code } = transformSync(text, { loader: "ts", target: "esnext" });
  return parse(code, { ecmaVersion: "latest", sourceType: "module" });
}

/** The names of the classes whose objects change after they were made. */
function mutableClasses(program: Program): string[] {
  const found: string[] = [];
  walk(program, (node) => {
    if (node.type === "ClassDeclaration" && changesItself(node)) found.push(nameOf(node) ?? "");
    return true;
  });
  return found;
}

/** The names of a module's variables that may change after the module was loaded. */
function stateIn(program: Program, classes: ReadonlySet<string>): string[] {
  const declared = topLevel(program);
  const changed = new Set<string>();
  visitFunctions(program, (node, hidden) => {
    const name = changedBy(node);
    if (name !== undefined && declared.has(name) && !hidden.has(name)) changed.add(name);
  });
  const found: string[] = [];
  for (const [name, { kind, init }] of declared) {
    const made = init?.type === "NewExpression" ? nameOf(init.callee) : undefined;
    const isMutable = made !== undefined && (made.startsWith("Weak") || classes.has(made));
    if (kind === "let" || kind === "var" || changed.has(name) || isMutable) found.push(name);
  }
  return found;
}

interface Declared {
  readonly kind: "let" | "var" | "const" | "class" | "using" | "await using";
  readonly init: Expression | null | undefined;
}

/** The variables and classes of a module. */
function topLevel(program: Program): ReadonlyMap<string, Declared> {
  const found = new Map<string, Declared>();
  for (const statement of program.body) {
    const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (inner?.type === "ClassDeclaration") found.set(inner.id.name, { kind: "class", init: undefined });
    if (inner?.type !== "VariableDeclaration") continue;
    for (const { id, init } of inner.declarations) {
      for (const name of namesIn(id)) found.set(name, { kind: inner.kind, init });
    }
  }
  return found;
}

/** The variable that a node changes: by assigning to its members, or by a method that changes what it is called on. */
function changedBy(node: Node): string | undefined {
  const { left, argument, operator, callee } = node as unknown as Partial<Record<string, Node>> & {
    operator?: unknown;
  };
  switch (node.type) {
    case "AssignmentExpression":
      return memberOf(left);
    case "UpdateExpression":
      return memberOf(argument);
    case "UnaryExpression":
      return operator === "delete" ? memberOf(argument) : undefined;
    case "CallExpression": {
      const method = (callee as Node & { property?: Node }).property;
      return changing.has(nameOf(method) ?? "") ? memberOf(callee) : undefined;
    }
    default:
      return undefined;
  }
}

/** The variable in which a member is, however deep. */
function memberOf(node: Node | undefined): string | undefined {
  let at = node;
  if (at?.type !== "MemberExpression") return undefined;
  while (at?.type === "MemberExpression") at = (at as Node & { object?: Node }).object;
  return nameOf(at);
}

/** Whether a class changes its own fields outside of its constructor. */
function changesItself(node: Node): boolean {
  let changes = false;
  walk(node, (one) => {
    if (one.type === "MethodDefinition" && (one as Node & { kind?: string }).kind === "constructor")
      return false;
    const { left, argument, callee } = one as unknown as Partial<Record<string, Node>>;
    const target =
      one.type === "AssignmentExpression" ? left : one.type === "UpdateExpression" ? argument : callee;
    const isMethod = one.type === "CallExpression";
    const method = isMethod ? nameOf((callee as Node & { property?: Node }).property) : undefined;
    if ((!isMethod || changing.has(method ?? "")) && startsAtThis(target)) changes = true;
    return true;
  });
  return changes;
}

function startsAtThis(node: Node | undefined): boolean {
  let at = node;
  if (at?.type !== "MemberExpression") return false;
  while (at?.type === "MemberExpression") at = (at as Node & { object?: Node }).object;
  return at?.type === "ThisExpression";
}

/** Visits what is in functions, with the names that are hidden there by their variables. */
function visitFunctions(program: Program, take: (node: Node, hidden: ReadonlySet<string>) => void): void {
  walk(program, (node) => {
    if (!node.type.includes("Function")) return true;
    const hidden = localNames(node);
    walk(node, (inner) => {
      take(inner, hidden);
      return true;
    });
    return false;
  });
}

/** The names of all parameters and variables in a function. */
function localNames(node: Node): ReadonlySet<string> {
  const names = new Set<string>();
  walk(node, (one) => {
    const { params, id } = one as Node & { params?: Pattern[]; id?: Pattern };
    for (const pattern of params ?? []) for (const name of namesIn(pattern)) names.add(name);
    if (one.type === "VariableDeclarator" && id) for (const name of namesIn(id)) names.add(name);
    return true;
  });
  return names;
}

function namesIn(pattern: Pattern): string[] {
  const names: string[] = [];
  walk(pattern, (node) => {
    if (node.type === "Identifier") names.push(nameOf(node)!);
    return true;
  });
  return names;
}

function nameOf(node: Node | undefined): string | undefined {
  const { name, id } = (node ?? {}) as { name?: string; id?: { name?: string } };
  return name ?? id?.name;
}

/** Calls `take` with a node and, where that says true, with those in it. */
function walk(value: unknown, take: (node: Node) => boolean): void {
  if (Array.isArray(value)) for (const one of value) walk(one, take);
  else if (typeof value === "object" && value !== null) {
    if ("type" in value && !take(value as Node)) return;
    for (const member of Object.values(value)) walk(member, take);
  }
}
