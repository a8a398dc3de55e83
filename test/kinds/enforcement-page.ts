import { builtInKinds } from "../../src/kinds/all.ts";
import type { Kind, KindEffect } from "../../src/schema/kind.ts";

/** Returns the page `docs/enforcement.md`: what the server does with the objects of each kind. */
export function enforcementPage(): string {
  const stored = builtInKinds.filter((kind) => kind.verbs.includes("get") && kind.conversion === undefined);
  const without = stored.filter(({ effect }) => effect === undefined).map(linkOf);
  return `${introduction}

## Enforced

The server decides requests by these objects, from the next request on.

${table(stored, "enforced")}

## Acted on

The server, or one of its controllers, does something because of these objects.

${table(stored, "acts")}

${unenforced(stored)}## Stored

The server validates, stores and serves these kinds and does nothing else with them. They are for other programs: the
controllers of a cluster, or your own.

${without.join(", ")}.
`;
}

const introduction = `# Which kinds are enforced, acted on, or only stored

Which kinds of objects have an effect on this server, and which it only stores. It serves every kind of the API without a cluster, but it doesn't implement the behavior of every kind. This page says
for each kind what the server does with its objects. It is generated from the declarations of the kinds.`;

/** Returns the section of kinds whose objects are not enforced; empty if there are none. */
function unenforced(kinds: readonly Kind[]): string {
  if (kinds.every(({ effect }) => effect?.unenforced === undefined)) return "";
  return `## Stored and not enforced

This server does not do what these objects ask for. The answer to a create says so in a \`Warning\` header.

${table(kinds, "unenforced")}

`;
}

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
