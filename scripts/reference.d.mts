/** The page docs/library.md: the reference of the package, from the doc comments of its published types; needs a build. */
export function referenceText(): Promise<string>;
