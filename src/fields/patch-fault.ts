/** A failed patch. HTTP answers 400 for a malformed patch and 422 for one that can't be applied to the object. */
export class PatchFault extends Error {
  override name = "PatchFault";
  constructor(
    message: string,
    /** Whether the patch is malformed, for any object. */
    readonly malformed: boolean,
  ) {
    super(message);
  }
}

/** A `test` operation of a JSON patch found another value. */
export class FailedTest extends PatchFault {
  override name = "FailedTest";
  constructor(message: string) {
    super(message, false);
  }
}

/** Returns the error for a malformed patch. */
export function malformedPatch(message: string): PatchFault {
  return new PatchFault(message, true);
}

/** Returns the error for a patch that can't be applied to the object. */
export function inapplicablePatch(message: string): PatchFault {
  return new PatchFault(message, false);
}
