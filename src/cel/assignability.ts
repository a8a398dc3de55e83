import { dyn, listOf, mapOf, typeOf, type CelType } from "./types.ts";

/** What has been found out about the parameters of the functions and empty lists in one expression. */
export class Substitution {
  private readonly bound = new Map<string, CelType>();
  /** The bindings that were made or replaced, with what was there before, so that an attempt can be undone. */
  private readonly changes: (readonly [name: string, before: CelType | undefined])[] = [];
  private made = 0;

  /** A parameter that nothing is known of yet. */
  fresh(): CelType {
    return { is: "parameter", name: `_${this.made++}` };
  }

  /**
   * Whether values of these types can be given where those are declared, pair by pair. What this says about parameters is kept
   * if they can, and forgotten if not.
   */
  assigns(declared: readonly CelType[], given: readonly CelType[]): boolean {
    const start = this.changes.length;
    if (declared.every((one, index) => this.assign(one, given[index]!))) return true;
    for (let at = this.changes.length - 1; at >= start; at--) {
      const [name, before] = this.changes[at]!;
      if (before === undefined) this.bound.delete(name);
      else this.bound.set(name, before);
    }
    this.changes.length = start;
    return false;
  }

  private set(name: string, type: CelType): void {
    this.changes.push([name, this.bound.get(name)]);
    this.bound.set(name, type);
  }

  /** The type with everything that is known put in; what stays unknown is dynamic. */
  resolved(type: CelType): CelType {
    switch (type.is) {
      case "parameter": {
        const found = this.followed(type);
        return found.is === "parameter" ? dyn : this.resolved(found);
      }
      case "list":
        return listOf(this.resolved(type.element), type.maxSize);
      case "map":
        return mapOf(this.resolved(type.key), this.resolved(type.value), type.maxSize);
      case "type":
        return typeOf(this.resolved(type.of));
      default:
        return type;
    }
  }

  /** The more general of two types of which values of the second can be given for the first; undefined for none. */
  joined(first: CelType, second: CelType): CelType | undefined {
    if (first === second) return first;
    if (this.assigns([first], [second])) return this.isMoreGeneral(second, first) ? second : first;
    if (this.assigns([second], [first])) return second;
    return undefined;
  }

  /** Follows a parameter to what it stands for. */
  followed(type: CelType): CelType {
    let found = type;
    while (found.is === "parameter") {
      const next = this.bound.get(found.name);
      if (next === undefined) return found;
      found = next;
    }
    return found;
  }

  private assign(declared: CelType, given: CelType): boolean {
    const to = this.followed(declared);
    const from = this.followed(given);
    if (to.is === "parameter" || from.is === "parameter") return this.bind(to, from);
    if (to.is === "dyn" || from.is === "dyn") {
      this.loosen(declared, to);
      return true;
    }
    if (from.is === "null") return to.is === "null" || takesNull(to);
    switch (to.is) {
      case "list":
        return from.is === "list" && this.assign(to.element, from.element);
      case "map":
        return from.is === "map" && this.assign(to.key, from.key) && this.assign(to.value, from.value);
      case "type":
        return from.is === "type";
      case "object":
      case "opaque":
        return from.is === to.is && from.name === to.name;
      default:
        return from.is === to.is;
    }
  }

  private bind(to: CelType, from: CelType): boolean {
    if (to.is === "parameter" && from.is === "parameter" && to.name === from.name) return true;
    // Of two parameters the second follows the first, as that of many in a row stays the first of all.
    const [parameter, other] = from.is === "parameter" ? [from, to] : [to, from];
    if (parameter.is !== "parameter") return false;
    if (this.refersTo(other, parameter.name)) return false;
    this.set(parameter.name, other);
    return true;
  }

  /** A parameter that stood for a type and is given something dynamic stands for anything from now on. */
  private loosen(declared: CelType, to: CelType): void {
    if (declared.is === "parameter" && to.is !== "dyn") this.set(declared.name, dyn);
  }

  private refersTo(type: CelType, name: string): boolean {
    const found = this.followed(type);
    switch (found.is) {
      case "parameter":
        return found.name === name;
      case "list":
        return this.refersTo(found.element, name);
      case "map":
        return this.refersTo(found.key, name) || this.refersTo(found.value, name);
      default:
        return false;
    }
  }

  private isMoreGeneral(first: CelType, second: CelType): boolean {
    const [one, other] = [this.followed(first), this.followed(second)];
    if (one.is === "dyn") return other.is !== "dyn";
    if (one.is === "list" && other.is === "list") return this.isMoreGeneral(one.element, other.element);
    if (one.is === "map" && other.is === "map") {
      return this.isMoreGeneral(one.key, other.key) || this.isMoreGeneral(one.value, other.value);
    }
    return other.is === "null" && one.is !== "null";
  }
}

function takesNull({ is }: CelType): boolean {
  return is === "object" || is === "opaque" || is === "timestamp" || is === "duration";
}

/** A type with its parameters renamed, so that two calls of one function don't share them. */
export function instantiated(
  type: CelType,
  names: Map<string, CelType>,
  substitution: Substitution,
): CelType {
  switch (type.is) {
    case "parameter": {
      let found = names.get(type.name);
      if (found === undefined) names.set(type.name, (found = substitution.fresh()));
      return found;
    }
    case "list":
      return listOf(instantiated(type.element, names, substitution), type.maxSize);
    case "map":
      return mapOf(
        instantiated(type.key, names, substitution),
        instantiated(type.value, names, substitution),
        type.maxSize,
      );
    case "type":
      return typeOf(instantiated(type.of, names, substitution));
    default:
      return type;
  }
}

/** Whether two resolved types are the same; sizes don't count. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a.is === "list") return b.is === "list" && sameType(a.element, b.element);
  if (a.is === "map") return b.is === "map" && sameType(a.key, b.key) && sameType(a.value, b.value);
  if (a.is === "type") return b.is === "type" && sameType(a.of, b.of);
  if (a.is === "object" || a.is === "opaque" || a.is === "parameter") {
    return a.is === b.is && a.name === b.name;
  }
  return a.is === b.is;
}
