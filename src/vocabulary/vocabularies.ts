import { kubernetes } from "./kubernetes.ts";
import { platform } from "./platform.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Every vocabulary. */
export const vocabularies: readonly Vocabulary[] = [platform, kubernetes];

/** What ends the names of the server's own groups, in each vocabulary; for static types. */
export type GroupSuffix = "platform.io" | "k8s.io";

/** Returns the vocabulary of a name. */
export function vocabularyNamed(name: Vocabulary["name"]): Vocabulary {
  return vocabularies.find((one) => one.name === name)!;
}
