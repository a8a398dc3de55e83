/** A patch that can't be used. HTTP answers 400 for a malformed one, 422 for one that doesn't fit the object. */
export class PatchFault extends Error {
  override name = "PatchFault";
  constructor(
    message: string,
    /** Whether the patch is wrong in itself, whatever it is applied to. */
    readonly malformed: boolean,
  ) {
    super(message);
  }
}

/** A patch that is wrong in itself. */
export function malformedPatch(message: string): PatchFault {
  return new PatchFault(message, true);
}

/** A patch that can't be applied to this object. */
export function inapplicablePatch(message: string): PatchFault {
  return new PatchFault(message, false);
}
