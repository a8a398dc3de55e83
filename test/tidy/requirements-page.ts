import { filesBelow, read } from "./source-files.ts";
import { namesRequirements, requirementTitles } from "./requirement-titles.ts";

/** What the sections are about. */
const sections: Readonly<Record<string, string>> = {
  "A-1": "Purpose of the access resources",
  "A-2.1": "Fields that all access resources share",
  "A-2.2": "Access reviews: questions and answers",
  "A-2.3": "Identity of the caller",
  "A-2.4": "Roles and bindings",
  "A-3": "States of access resources",
  "A-4": "Endpoints of access resources",
  "A-4.1": "Paths of reviews",
  "A-4.2": "Paths of roles and bindings",
  "A-5": "Permissions for reviews, and grants of bindings",
  "A-6": "Watching roles and bindings",
  "A-7": "Errors of reviews",
  "A-8": "Limits of lists",
  "A-9": "Versions of the access groups",
  "C-1": "Purpose of the service",
  "C-2.1": "Resource types, kinds and collections",
  "C-2.2": "Metadata of objects and lists",
  "C-2.3": "Watch events",
  "C-2.4": "Tables",
  "C-2.5": "Managed fields",
  "C-2.6": "Certificate requests and the built-in signers",
  "C-2.7": "Bootstrap tokens and cluster-info",
  "C-2.8": "TokenReview",
  "C-2.9": "Webhook and admission configuration",
  "C-2.10": "ImageReview",
  "C-2.11": "Events",
  "C-2.12": "The binary envelope",
  "C-3": "States",
  "C-3.1": "Deletion",
  "C-3.2": "States of a certificate request",
  "C-4": "Endpoints",
  "C-4.1": "Paths",
  "C-4.2": "Verbs",
  "C-4.3": "Query parameters",
  "C-4.4": "Lists in chunks",
  "C-4.5": "Resource versions of reads",
  "C-4.6": "Watches",
  "C-4.7": "Encodings",
  "C-4.8": "Field validation",
  "C-4.9": "Dry run",
  "C-4.10": "Server-side apply",
  "C-4.11": "Health",
  "C-4.12": "Permissions for certificate requests",
  "C-4.13": "Admission",
  "C-5": "Authentication in general",
  "C-5.1": "Client certificates",
  "C-5.2": "Static tokens",
  "C-5.3": "Bearer tokens",
  "C-5.4": "Bootstrap tokens as credentials",
  "C-5.5": "Tokens of service accounts",
  "C-5.6": "OpenID Connect",
  "C-5.7": "The token webhook",
  "C-5.8": "Authenticating proxies",
  "C-5.9": "Anonymous requests",
  "C-6": "Kinds of watch events",
  "C-7": "Errors",
  "C-8": "Limits",
  "C-9.1": "Levels of versions",
  "C-9.2": "Deprecation",
  "C-9.3": "Removed versions",
};

/** One title that names a requirement, without ids. */
interface Shown {
  readonly words: string;
  readonly file: string;
}

/** The page that says what the requirement ids in the titles of tests mean; `docs/requirements.md` is held against it. */
export function requirementsPage(): string {
  const shown = shownRequirements();
  const bySection = new Map<string, string[]>();
  for (const id of [...shown.keys()].toSorted(compareIds)) {
    const section = sectionOf(id);
    bySection.set(section, [...(bySection.get(section) ?? []), id]);
  }
  const parts = [...bySection].map(([section, ids]) => {
    const title = sections[section];
    if (title === undefined) throw new Error(`section ${section} has no title`);
    const rows = ids.flatMap((id) => shown.get(id)!.map((one, index) => rowOf(index === 0 ? id : "", one)));
    return `## ${section} ${title}\n\n| id | shown by | in |\n| --- | --- | --- |\n${rows.join("\n")}`;
  });
  return `${introduction}\n\n${parts.join("\n\n")}\n`;
}

const introduction = `# Requirements, and the tests that show them

Which tests show each requirement of the specification, and where they are. The titles of tests name requirements by an id: \`A\` stands
for access reviews and roles, \`C\` for the conventions that all resources share; then come the section and a number. Where an id is in a
table of cases, the text has the values of its row. The page is made from the tests: \`npm run requirements\` updates it.`;

/** Titles by the requirements that they name. */
function shownRequirements(): Map<string, Shown[]> {
  const found = new Map<string, Shown[]>();
  // Parsing takes a while, and most files name no requirement.
  const files = filesBelow("test").filter((one) => one.endsWith(".ts") && namesRequirements(read(one)));
  for (const file of files) {
    for (const { ids, words } of requirementTitles(file)) {
      if (ids.length > 0 && words === "") throw new Error(`${file}: nothing says what ${ids[0]} requires`);
      for (const id of new Set(ids)) {
        const shown = found.get(id) ?? [];
        if (!shown.some((one) => one.words === words && one.file === file)) shown.push({ words, file });
        found.set(id, shown);
      }
    }
  }
  return found;
}

function sectionOf(id: string): string {
  return id.slice(0, id.lastIndexOf("-"));
}

function compareIds(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at === -1) return a.length - b.length;
  return a[at]! < (b[at] ?? 0) ? -1 : 1;
}

/** Document, section and number of an id as numbers, so that 4.10 comes after 4.9. */
function numbersOf(id: string): number[] {
  const [document = "", section = "", number = ""] = id.split("-");
  const [major = "0", minor = "0"] = section.split(".");
  return [document.codePointAt(0)!, Number(major), Number(minor), Number(number)];
}

function rowOf(id: string, { words, file }: Shown): string {
  const escaped = words
    .replaceAll("|", String.raw`\|`)
    .replaceAll("<", "&lt;")
    .replaceAll("*", String.raw`\*`);
  return `| ${id} | ${escaped} | \`${file}\` |`;
}
