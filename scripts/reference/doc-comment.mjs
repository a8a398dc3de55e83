// Doc comments of the published types as parts of a page.

/**
 * Splits a doc comment into its description and tags.
 *
 * @param {string} source the comment with its marks.
 */
export function parseComment(source) {
  const lines = source
    .replace(/^\/\*\*+/, "")
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  const [text = "", ...tags] = lines.join("\n").split(/^\s*@|(?<=[.;]) @(?=param|returns|throws)/m);
  const parsed = tags.map((tag) => {
    const [, name, body] = /^(\w+)\s*([\s\S]*)$/.exec(tag);
    return { name, body: body.trimEnd() };
  });
  const all = (name) => parsed.filter((tag) => tag.name === name).map(({ body }) => body);
  return {
    text: text.trim(),
    params: [...all("param"), ...all("typeParam")].map(splitParam),
    returns: all("returns")[0],
    throws: all("throws"),
    examples: all("example"),
    isInternal: parsed.some(({ name }) => name === "internal"),
  };
}

function splitParam(body) {
  const [, name, text] = /^(\w+)\s+(?:- )?([\s\S]*)$/.exec(body);
  return { name, text };
}

/** The comment of a declaration without one. */
export const noComment = parseComment("/** */");

/** Returns the first sentence of a description. */
export function firstSentence(text) {
  const [paragraph = ""] = joined(text).split("\n\n");
  return /^[\s\S]*?\.(?= [A-Z`{]|$)/.exec(paragraph)?.[0] ?? paragraph;
}

/** Joins the lines of each paragraph; lists keep one line for each item. */
export function joined(text) {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*(?!- )/g, " ").replaceAll(/ ?\n\s*- /g, "\n- "))
    .join("\n\n")
    .trim();
}
