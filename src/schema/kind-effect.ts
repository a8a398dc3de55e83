/**
 * The effects of the objects of a kind, each a sentence without full stop. `docs/enforcement.md` is generated from them.
 */
export interface KindEffect {
  /** How the objects affect requests to the server. */
  readonly enforced?: string;
  /** What the server or its controllers do for the objects. */
  readonly acts?: string;
  /** What the objects specify but this server doesn't enforce; a create returns it as a warning. */
  readonly unenforced?: string;
}
