import { isExempt } from "../matching/exempt.ts";
import type { SkippedRequest } from "../admission-chain.ts";

/** Objects of admission that are configured in files. They are replaced as a whole, so readers can compare the array. */
export class StaticObjects<T> {
  constructor(private objects: T) {}

  get current(): T {
    return this.objects;
  }

  replace(objects: T): void {
    this.objects = objects;
  }
}

/**
 * Whether a request is only subject to objects in files: a write of configurations of admission, which those in the store never
 * receive.
 */
export function isForFilesOnly({ target }: SkippedRequest): boolean {
  return isExempt(target);
}
