/** The declarations that a program can reach from an entry of the package, in one text; needs a build. */
export function apiText(): Promise<string>;
