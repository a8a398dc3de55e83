import type { RequestContext } from "./context.ts";

/** Answers one path. */
export type PathHandler = (request: RequestContext) => Promise<void> | void;

/** Paths that come and go while the server runs. */
export interface ChangingPaths {
  find(path: string): PathHandler | undefined;
  /** Every path at present. */
  readonly paths: readonly string[];
}

/** Handlers of paths outside the resources. */
export class PathTable {
  private readonly exact = new Map<string, PathHandler>();
  private readonly below: { readonly prefix: string; readonly handler: PathHandler }[] = [];

  private changing: ChangingPaths = { find: () => undefined, paths: [] };

  /** Paths that are asked for behind those that are there always. */
  addChanging(paths: ChangingPaths): void {
    this.changing = paths;
  }

  /** A path, or (ending in `/`) all paths below it. */
  add(path: string, handler: PathHandler): void {
    if (isBelow(path)) this.below.push({ prefix: path, handler });
    else this.exact.set(path, handler);
  }

  /** A path that may also be written with a slash at its end, as those of discovery. */
  addWithSlash(path: string, handler: PathHandler): void {
    this.exact.set(path, handler);
    this.exact.set(`${path}/`, handler);
  }

  /** What answers a path, letter for letter: authorization is asked about just this path. */
  find(path: string): PathHandler | undefined {
    return (
      this.exact.get(path) ??
      this.below.find(({ prefix }) => path.startsWith(prefix))?.handler ??
      this.changing.find(path)
    );
  }

  /** Every exact path, sorted. */
  get paths(): string[] {
    return [...this.exact.keys(), ...this.changing.paths].filter((path) => !isBelow(path)).toSorted();
  }
}

function isBelow(path: string): boolean {
  return path.length > 1 && path.endsWith("/");
}
