import { vocabularies } from "./vocabularies.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Whether a domain (an API group's name, or the prefix of a label key) belongs to a vocabulary. */
function isOf({ groupSuffix, domain: own }: Vocabulary, domain: string): boolean {
  return [groupSuffix, own].some((suffix) => domain === suffix || domain.endsWith(`.${suffix}`));
}

/** Returns the vocabulary of a group name; undefined if the name is in no vocabulary. */
export function vocabularyNaming(group: string): Vocabulary | undefined {
  return vocabularies.find((one) => isOf(one, group));
}

/**
 * Returns a hint for a message about an unknown API group: how to start a server with the vocabulary that has it, or an empty text.
 */
export function groupHint(group: string, vocabulary: Vocabulary | undefined): string {
  return vocabulary === undefined ? "" : hint(group, vocabulary, (other) => isOf(other, group));
}

/** Like {@link groupHint}, for an unknown media type. */
export function mediaTypeHint(type: string, vocabulary: Vocabulary): string {
  return hint(type, vocabulary, ({ protobufMediaType }) => {
    return type.startsWith(protobufMediaType.slice(0, protobufMediaType.lastIndexOf(".") + 1));
  });
}

/**
 * Returns a warning for kubectl, which knows the names of one vocabulary only, if a server has another one; otherwise undefined.
 *
 * @param userAgent header of the request
 */
export function clientWarning(userAgent: string, vocabulary: Vocabulary): string | undefined {
  const client = userAgent.split("/", 1)[0]!;
  const other = vocabularies.find(({ clientSideApply }) => clientSideApply?.manager === client);
  if (other === undefined || other.name === vocabulary.name) return undefined;
  return (
    `this server has the ${vocabulary.name} vocabulary, and ${client} needs names of the ${other.name} vocabulary: ` +
    `start it with --vocabulary=${other.name}`
  );
}

function hint(name: string, vocabulary: Vocabulary, has: (other: Vocabulary) => boolean): string {
  const other = vocabularies.find((one) => one.name !== vocabulary.name && has(one));
  if (other === undefined || has(vocabulary)) return "";
  return (
    `; ${JSON.stringify(name)} is a name of the ${other.name} vocabulary, and this server has the ${vocabulary.name} ` +
    `vocabulary: start it with --vocabulary=${other.name} for clients that use such names`
  );
}
