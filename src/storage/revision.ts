declare const revisionBrand: unique symbol;
/** A position on the revision line: a positive integer below 2^53. */
export type Revision = number & { readonly [revisionBrand]: true };
