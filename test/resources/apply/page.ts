import type { Options, Row, Step } from "./steps.ts";

/** Returns the page `docs/apply.md`, which shows each row as an example. */
export function pageOf(tables: Readonly<Record<string, readonly Row[]>>): string {
  const sections = Object.entries(tables).map(
    ([title, rows]) => `## ${capital(title)}\n\n${rows.map(exampleOf).join("\n\n")}`,
  );
  return `${introduction}\n\n${sections.join("\n\n")}\n`;
}

const introduction = `# Server-side apply, by example

How server-side apply works: which fields a manager owns, and what each write does to them.
An apply is a PATCH with the content type \`application/apply-patch+yaml\`. Its body is the part of the object that the client
wants, and the parameter \`fieldManager\` names the manager. The server merges the part into the live object, or creates the
object, and records in \`metadata.managedFields\` which manager owns which fields. The tests run every example below: the
writes, the object after them, and the owners of its fields.

The examples use an example kind. \`labels\` is a map, \`option\` and \`limits\` are structs, \`whole\`, \`selector\` and \`args\` are an
atomic map, struct and list; \`tags\`, \`words\` and \`ids\` are sets; \`ports\` is a list with the keys \`port\` and \`protocol\`
(default \`TCP\`), and \`steps\` one with the key \`name\`. In the version \`v1beta1\` the field \`image\` is called \`picture\`.
Fields that a manager owns through other writes than applies are listed as \`… updates\`, followed by the subresource and the
version if these are not the main resource and \`v1\`. Names are those of the
[platform vocabulary](vocabularies.md).`;

function exampleOf({ rule, steps, thing, owners }: Row): string {
  const owned = Object.entries(owners).map(([owner, fields]) => `  ${owner}: ${fields.join(" ")}`);
  const object = thing === undefined ? "object: none" : `object: ${JSON.stringify(thing)}`;
  const unowned = thing === undefined || owned.length > 0 ? [] : ["  no field has an owner"];
  const lines = [...steps.map(lineOf), object, ...owned, ...unowned];
  return `**${capital(rule.replace(/^(C-[\d.]+-\d+ )+/, ""))}.**\n\n\`\`\`text\n${lines.join("\n")}\n\`\`\``;
}

function lineOf(step: Step): string {
  if (step.verb === "redeclare") {
    const changed = Object.entries(step.topology).map(([field, how]) => `${field} ${how}`);
    return changed.length === 0 ? "declared as before" : `declaration changed: ${changed.join(", ")}`;
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
