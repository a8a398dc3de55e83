import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { RequestContext } from "./context.ts";

/**
 * Serves the requests for a path.
 *
 * @typeParam Service the service that runs the request; in a workspace that of its user.
 */
export type PathHandler<Service = unknown> = (
  request: RequestContext,
  service: Service,
) => Promise<void> | void;

/** Paths that are added and removed while the server runs. */
export interface ChangingPaths {
  find(path: string): PathHandler | undefined;
  /** All current paths. */
  readonly paths: readonly string[];
}

const documentMethods: readonly string[] = ["GET", "HEAD"];

/** Returns the methods of documents whose paths the reference serves with GET only. */
export function methodsOfStrictDocuments({ behavior }: Vocabulary): readonly string[] {
  return behavior.headOfResources ? documentMethods : ["GET"];
}

/** A {@link PathTable} to which handlers are added that don't use the service. */
export type AddedPaths = Pick<
  PathTable<unknown>,
  "add" | "addWithMethods" | "addWithSlash" | "addChanging" | "paths"
>;

/**
 * Handlers of non-resource paths.
 *
 * @typeParam Service see {@link PathHandler}.
 */
export class PathTable<Service> {
  private readonly exact = new Map<string, PathHandler<Service>>();
  /** The methods of paths that don't have those of documents. */
  private readonly methods = new Map<string, readonly string[]>();
  private readonly below: { readonly prefix: string; readonly handler: PathHandler<Service> }[] = [];

  private changing: ChangingPaths = { find: () => undefined, paths: [] };

  /** Sets the changing paths; permanent paths take precedence. */
  addChanging(paths: ChangingPaths): void {
    this.changing = paths;
  }

  /** Adds the handler of a path with its HTTP methods. */
  addWithMethods(path: string, methods: readonly string[], handler: PathHandler<Service>): void {
    this.exact.set(path, handler);
    this.methods.set(path, methods);
  }

  /** Whether a path has an HTTP method: GET and HEAD, unless it was added with others. */
  allows(path: string, method: string): boolean {
    return (this.methods.get(path) ?? documentMethods).includes(method);
  }

  /** Adds the handler of a path, or of all paths with this prefix if it ends with `/`. */
  add(path: string, handler: PathHandler<Service>): void {
    if (isBelow(path)) this.below.push({ prefix: path, handler });
    else this.exact.set(path, handler);
  }

  /** Adds the handler of a path with and without a trailing slash, as for discovery. */
  addWithSlash(path: string, handler: PathHandler<Service>, methods = documentMethods): void {
    this.addWithMethods(path, methods, handler);
    this.addWithMethods(`${path}/`, methods, handler);
  }

  /** Returns the handler of a path; undefined if there is none. The path isn't normalized, because authorization decides about exactly this text. */
  find(path: string): PathHandler<Service> | undefined {
    return (
      this.exact.get(path) ??
      this.below.find(({ prefix }) => path.startsWith(prefix))?.handler ??
      this.changing.find(path)
    );
  }

  /** All paths except prefixes, sorted. */
  get paths(): string[] {
    return [...this.exact.keys(), ...this.changing.paths].filter((path) => !isBelow(path)).toSorted();
  }
}

function isBelow(path: string): boolean {
  return path.length > 1 && path.endsWith("/");
}
