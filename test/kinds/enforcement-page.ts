import { builtInKinds } from "../../src/kinds/all.ts";
import type { Kind, KindEffect } from "../../src/schema/kind.ts";

/** The page that says what the server makes of each kind; `docs/enforcement.md` is held against it. */
export function enforcementPage(): string {
  const stored = builtInKinds.filter((kind) => kind.verbs.includes("get") && kind.conversion === undefined);
  const without = stored.filter(({ effect }) => effect === undefined).map(linkOf);
  return `${introduction}

## Enforced

Requests are decided by these objects, from the next request on.

${table(stored, "enforced")}

## Acted on

The server, or one of its controllers, does something because of these objects.

${table(stored, "acts")}

## Stored and not enforced

These objects promise something that this server does not do. Whoever creates one is told so in a \`Warning\` header. The same
goes for the labels \`pod-security.<domain>/…\` of a namespace.

${table(stored, "unenforced")}

## Stored

The server checks, stores and serves these kinds and does nothing else by them. They are for other programs: the controllers
of a cluster, or your own.

${without.join(", ")}.
`;
}

const introduction = `# What is stored, what is enforced, what acts

A server without a cluster serves every kind of the API. Not every kind has somebody behind it. This page says for each kind
what this server does by its objects. It is made from the declarations of the kinds.`;

function table(kinds: readonly Kind[], member: keyof KindEffect): string {
  const rows = kinds
    .filter(({ effect }) => effect?.[member] !== undefined)
    .map((kind) => `| ${linkOf(kind)} | ${kind.effect![member]} |`);
  return ["| kind | what it does |", "| --- | --- |", ...rows].join("\n");
}

function linkOf({ name, group, version }: Kind): string {
  const of = group.base === "" ? version : `${group.base}/${version}`;
  return `${name} (${of})`;
}
