import { kubernetes } from "./kubernetes.ts";
import { platform } from "./platform.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Every vocabulary. */
const vocabularies: readonly Vocabulary[] = [platform, kubernetes];

/** Whether a domain (an API group's name, or the prefix of a label key) belongs to a vocabulary. */
function isOf({ groupSuffix, domain: own }: Vocabulary, domain: string): boolean {
  return [groupSuffix, own].some((suffix) => domain === suffix || domain.endsWith(`.${suffix}`));
}

/** The vocabulary of a group's name; undefined where it has no product's name. */
export function vocabularyNaming(group: string): Vocabulary | undefined {
  return vocabularies.find((one) => isOf(one, group));
}

/**
 * Ends a message about an API group that isn't served: where another vocabulary has it, how a server with those names is
 * started; else nothing.
 */
export function groupHint(group: string, vocabulary: Vocabulary | undefined): string {
  return vocabulary === undefined ? "" : hint(group, vocabulary, (other) => isOf(other, group));
}

/** As {@link groupHint}, for a media type that the server doesn't know. */
export function mediaTypeHint(type: string, vocabulary: Vocabulary): string {
  return hint(type, vocabulary, ({ protobufMediaType }) => {
    return type.startsWith(protobufMediaType.slice(0, protobufMediaType.lastIndexOf(".") + 1));
  });
}

function hint(name: string, vocabulary: Vocabulary, has: (other: Vocabulary) => boolean): string {
  const other = vocabularies.find((one) => one.name !== vocabulary.name && has(one));
  if (other === undefined || has(vocabulary)) return "";
  return (
    `; ${JSON.stringify(name)} is a name of the ${other.name} vocabulary, and this server has the ${vocabulary.name} ` +
    `vocabulary: start it with --vocabulary=${other.name} for clients that use such names`
  );
}
