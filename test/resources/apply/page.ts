import type { Options, Row, Step } from "./steps.ts";

/** The rows as a page for people; `docs/apply.md` is held against it. */
export function pageOf(tables: Readonly<Record<string, readonly Row[]>>): string {
  const sections = Object.entries(tables).map(
    ([title, rows]) => `## ${capital(title)}\n\n${rows.map(exampleOf).join("\n\n")}`,
  );
  return `${introduction}\n\n${sections.join("\n\n")}\n`;
}

const introduction = `# Server-side apply, by example

Who applies says what it wants of an object: a PATCH with the content type \`application/apply-patch+yaml\`, whose body is part of
the object, and the name of who applies as \`fieldManager\`. The server merges it into what stands, or creates it, and keeps in
\`metadata.managedFields\` who owns which fields. Every example below is run by the tests: the writes, what stands after them, and
who owns what of it.

The examples are of a made-up kind. \`labels\` is a map, \`option\` and \`limits\` are structs, \`whole\`, \`selector\` and \`args\` are a
map, a struct and a list that are owned as one; \`tags\`, \`words\` and \`ids\` are sets; \`ports\` is a list by \`port\` and \`protocol\`,
which is \`TCP\` where it isn't given, and \`steps\` one by \`name\`. In the version \`v1beta1\` the \`image\` is called \`picture\`.
Fields that somebody owns by other writes than applies stand under \`… updates\`; behind that stand the subresource and the
version, where they aren't the object itself and \`v1\`.`;

function exampleOf({ rule, steps, thing, owners }: Row): string {
  const owned = Object.entries(owners).map(([owner, fields]) => `  ${owner}: ${fields.join(" ")}`);
  const stands = thing === undefined ? "nothing stands" : `stands ${JSON.stringify(thing)}`;
  const nobody = thing === undefined || owned.length > 0 ? [] : ["  nobody owns anything of it"];
  const lines = [...steps.map(lineOf), stands, ...owned, ...nobody];
  return `**${capital(rule.replace(/^(C-[\d.]+-\d+ )+/, ""))}.**\n\n\`\`\`text\n${lines.join("\n")}\n\`\`\``;
}

function lineOf(step: Step): string {
  if (step.verb === "redeclare") {
    const changed = Object.entries(step.topology).map(([field, how]) => `${field} ${how}`);
    return changed.length === 0 ? "declared as at first" : `declared anew: ${changed.join(", ")}`;
  }
  const { manager, options } = step;
  const body = shortened(JSON.stringify(step.body));
  return `${manager}: ${verbs[step.verb]}${circumstances(options)} ${body}${outcomeOf(options)}`;
}

const verbs = {
  apply: "apply",
  create: "create",
  update: "replace",
  json: "patch (JSON)",
  merge: "patch (merge)",
  strategic: "patch (strategic merge)",
} as const;

function circumstances({ version, through, force, dryRun, strict, metadata }: Options): string {
  const said = [
    version === undefined ? "" : `in ${version}`,
    through === undefined ? "" : `to ${through}`,
    force === true ? "by force" : "",
    dryRun === true ? "as a dry run" : "",
    strict === true ? "strictly" : "",
    metadata === undefined ? "" : `with metadata ${shortened(JSON.stringify(metadata))}`,
  ];
  return said
    .filter((one) => one !== "")
    .map((one) => ` ${one}`)
    .join("");
}

function outcomeOf({ refused, changesNothing }: Options): string {
  if (refused !== undefined) return ` → ${refused[0]}`;
  return changesNothing === true ? " → changes nothing" : "";
}

function shortened(text: string): string {
  return text.length > 160 ? `${text.slice(0, 120)}…` : text;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
