import { kubernetes } from "./kubernetes.ts";
import { platform } from "./platform.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Every vocabulary. */
export const vocabularies: readonly Vocabulary[] = [platform, kubernetes];
