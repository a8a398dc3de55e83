import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** The reader of the page of `/`, and their rights. */
export interface Visitor {
  readonly name: string;
  /** Whether the request had no credentials. */
  readonly isAnonymous: boolean;
  readonly mayDoEverything: boolean;
  /** The first rules that apply in all namespaces, one text each. */
  readonly rights: readonly string[];
  /** Number of further rules. */
  readonly furtherRights: number;
  /** Whether an authorizer can't list its rules. */
  readonly incomplete: boolean;
}

/** The facts of the server that the page of `/` shows. */
export interface WelcomeFacts {
  readonly vocabulary: Vocabulary;
  readonly hasConsole: boolean;
  /** Shown to those who may do everything; undefined if there is none. */
  readonly dataFolder: string | undefined;
}
