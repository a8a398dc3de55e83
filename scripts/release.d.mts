/** Returns why a version can't be released; empty if it can. */
export function releaseFaults(state: {
  readonly version: string;
  readonly changelog: string;
  readonly status: string;
  readonly tags: readonly string[];
}): string[];
