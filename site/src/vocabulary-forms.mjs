// Renders examples of the platform vocabulary in the names of Kubernetes. Uses no module, so that a test of the main suite can import it.

/**
 * The names of the API in two vocabularies, as `src/vocabulary/` has them, and the names of the API groups without a suffix.
 * @typedef {{
 *   platform: import("../../src/vocabulary/vocabulary.ts").Vocabulary,
 *   kubernetes: import("../../src/vocabulary/vocabulary.ts").Vocabulary,
 *   groups: readonly string[],
 * }} Vocabularies
 */

/** Members of a vocabulary whose texts are names by themselves. Others are ordinary words, such as `platform`, or parts of names. */
const names = [
  "aggregateToLabelPrefix",
  "autoUpdateAnnotation",
  "protobufMediaType",
  "schemaExtensionPrefix",
  "systemNamespace",
  "publicNamespace",
  "nodeLeaseNamespace",
  "rootAuthorityConfigMap",
  "serviceAccountIssuer",
  "legacyTokenIssuer",
  "flowHeaderPrefix",
];
/** Groups of files, of annotations and of extension servers, whose kinds aren't in the API; the segments before the suffix. */
const otherGroups = [
  "abac.authorization",
  "admission.config",
  "apiserver.config",
  "audit",
  "imagepolicy",
  "meta",
  "metrics",
  "webhook.admission",
];
/** Groups whose names are also domains of labels and taints, as in `node.kubernetes.io/not-ready`. */
const domainGroups = new Set(["node", "resource"]);
const serve = /^(plinth serve|npm start(?: --)?)(?= |$)/m;
const embedded = /(?<![.\w])createServer\((?:(\))|\{([ \n]))/;

/**
 * Returns the form of a block of a page for readers with the names of Kubernetes; undefined if there is no other form: the block has no
 * name that differs, or it is about one vocabulary.
 * @param {string} text
 * @param {Vocabularies} vocabularies
 */
export function kubernetesForm(text, { platform, kubernetes, groups }) {
  const isAboutOne =
    /vocabulary|--kubernetes/.test(text) ||
    [kubernetes.groupSuffix, kubernetes.domain, kubernetes.systemNamespace].some((name) =>
      text.includes(name),
    );
  if (isAboutOne) return undefined;
  let form = text;
  for (const name of names) form = replaceNames(form, platform[name], kubernetes[name]);
  for (const [member, component] of Object.entries(platform.components)) {
    const other = kubernetes.systemPrefix + kubernetes.components[member];
    form = replaceNames(form, platform.systemPrefix + component, other);
  }
  form = replaceDomains(form, platform, kubernetes, [...groups, ...otherGroups]);
  form = form
    .replace(serve, (command) => {
      const start = command === "npm start" ? "npm start --" : command;
      return `${start} --vocabulary=${kubernetes.name}`;
    })
    .replace(embedded, (_, empty, gap) => {
      const option = `vocabulary: "${kubernetes.name}"`;
      if (empty !== undefined) return `createServer({ ${option} })`;
      return gap === " " ? `createServer({ ${option}, ` : `createServer({\n  ${option},\n`;
    });
  return form === text ? undefined : form;
}

/** Replaces a name where it isn't a part of a longer one. Columns after it stay aligned. */
function replaceNames(text, name, other) {
  const before = /^[\w.]/.test(name) ? String.raw`(?<![\w.-])` : "";
  const after = /\w$/.test(name) ? String.raw`(?![\w-])` : "";
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(`${before}${escaped}${after}( {2,})?`, "g"), (found, gap = "") =>
    padded(other, found.length, gap),
  );
}

/** Replaces the suffix of groups, and the domain of labels and annotations. */
function replaceDomains(text, { groupSuffix, domain }, kubernetes, groups) {
  if (groupSuffix !== domain) throw new Error("the suffix of groups and the domain of labels were one text");
  const suffix = groupSuffix.replaceAll(".", String.raw`\.`);
  const name = new RegExp(`((?:[\\w*-]+\\.)*)${suffix}(?![\\w-])(/v\\d|/)?( {2,})?`, "g");
  return text.replaceAll(name, (found, prefix, version = "", gap = "") => {
    const base = prefix.slice(0, -1);
    const isKey = version === "/" && domainGroups.has(base);
    const isGroup =
      version.length > 1 || (!isKey && groups.some((group) => base === group || base.endsWith(`.${group}`)));
    return padded(
      `${prefix}${isGroup ? kubernetes.groupSuffix : kubernetes.domain}${version}`,
      found.length,
      gap,
    );
  });
}

/** Returns a text with the gap behind it that keeps what follows in its column; at least two spaces if there was a gap. */
const padded = (text, length, gap) => (gap === "" ? text : text.padEnd(Math.max(length, text.length + 2)));
