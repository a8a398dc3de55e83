import type { Vocabulary } from "../../src/vocabulary/vocabulary.ts";

export interface Vocabularies {
  readonly platform: Vocabulary;
  readonly kubernetes: Vocabulary;
  readonly groups: readonly string[];
}

export function kubernetesForm(text: string, vocabularies: Vocabularies): string | undefined;
