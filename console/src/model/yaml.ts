/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Texts that YAML 1.1 or 1.2 would read as another type. */
const otherTypes =
  /^(?:~|null|true|false|yes|no|on|off|y|n|[-+]?[0-9.][0-9a-fA-F_.:xo+-]*|[-+]?\.?e[-+]?[0-9]+|[-+]?\.(?:inf|nan)|<<|=|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*)$/i;
/** Texts that need no quotation marks: they begin with a letter or one of `/_.`, and contain no sign with a meaning of its own. */
const plain = /^[A-Za-z/_.][A-Za-z0-9/_.,@+=~()-]*(?:[ :][A-Za-z0-9/_.,@+=~()-]+)*$/;

/** Writes a JSON value as YAML in block style. */
export function writeYaml(value: Json): string {
  if (!isBlock(value)) return `${scalar(value, "")}\n`;
  return lines(value, "").join("\n") + "\n";
}

type Block = readonly Json[] | { readonly [key: string]: Json };

/** Whether a value has lines of its own. */
function isBlock(value: Json | undefined): value is Block {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}

function lines(value: Block, indentation: string): string[] {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item) => {
      if (!isBlock(item)) return [`${indentation}- ${scalar(item, `${indentation}  `)}`];
      const [first = "", ...rest] = lines(item, `${indentation}  `);
      return [`${indentation}- ${first.slice(indentation.length + 2)}`, ...rest];
    });
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const name = `${indentation}${text(key)}:`;
    if (!isBlock(item)) return [`${name} ${scalar(item, `${indentation}  `)}`];
    return [name, ...lines(item, Array.isArray(item) ? indentation : `${indentation}  `)];
  });
}

function scalar(value: Json, indentation: string): string {
  if (typeof value === "string") return value.includes("\n") ? blockText(value, indentation) : text(value);
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "[]" : "{}";
  return String(value);
}

function text(value: string): string {
  return plain.test(value) && !otherTypes.test(value) ? value : JSON.stringify(value);
}

/** A text of several lines as a literal block, if such a block can contain it. */
function blockText(value: string, indentation: string): string {
  if (
    !/^[\t\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/.test(value) ||
    /^[ \n]/.test(value) ||
    / +$/m.test(value)
  ) {
    return JSON.stringify(value);
  }
  const end = value.endsWith("\n\n") ? "+" : value.endsWith("\n") ? "" : "-";
  const content = value.endsWith("\n") ? value.slice(0, -1) : value;
  const body = content.split("\n").map((line) => (line === "" ? "" : indentation + line));
  return `|${end}\n${body.join("\n")}`;
}
