/** Maximum number of duplicate members that are listed. */
export const maxDuplicates = 100;
/** No further duplicates are listed after this number of characters. */
const maxCharacters = 64 * 1024;

/** The position of a value in a document. Parsers create it for each container, and this module fills `node`. */
export interface ValuePosition {
  /** Undefined for the root. */
  readonly parent: ValuePosition | undefined;
  /** Name of the member or index of the item in the parent. */
  readonly step: string | number;
  /** Equal positions have the same node. */
  node?: PositionNode;
}

/** A position at or below which there are duplicates. */
interface PositionNode {
  readonly children: Map<string | number, PositionNode>;
  isListed: boolean;
}

/**
 * Collects the paths of the duplicate members of a document, each once. A duplicate that is already listed costs a search by name, not
 * the length of its path: a text can have a long path and many duplicates.
 */
export class DuplicateMembers {
  private readonly root = newNode();
  private readonly paths = new Set<string>();
  private count = 0;
  private characters = 0;

  /** The paths in order of their first duplicates: `data.a`, `rules[0].verbs`. */
  list(): string[] {
    return [...this.paths];
  }

  /** Adds a duplicate member of the object at a position. */
  add(object: ValuePosition, name: string): void {
    if (this.count >= maxDuplicates || this.characters >= maxCharacters) return;
    const node = childOf(this.nodeOf(object), name);
    if (node.isListed) return;
    node.isListed = true;
    this.count++;
    const path = pathOf({ parent: object, step: name });
    this.characters += path.length;
    this.paths.add(path);
  }

  private nodeOf(position: ValuePosition): PositionNode {
    if (position.parent === undefined) return this.root;
    return (position.node ??= childOf(this.nodeOf(position.parent), position.step));
  }
}

function newNode(): PositionNode {
  return { children: new Map(), isListed: false };
}

function childOf(node: PositionNode, step: string | number): PositionNode {
  let child = node.children.get(step);
  if (child === undefined) node.children.set(step, (child = newNode()));
  return child;
}

function pathOf({ parent, step }: ValuePosition): string {
  if (parent === undefined) return "";
  const path = pathOf(parent);
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}
