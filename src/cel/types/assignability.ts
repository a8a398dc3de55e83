import { dyn, listOf, mapOf, optionalOf, typeOf, type CelType } from "./types.ts";

/** The bindings of type parameters (of functions and empty lists) while one expression is checked. */
export class Substitution {
  private readonly bindings = new Map<string, CelType>();
  /** Undo log: changed bindings with their previous types. */
  private readonly changes: (readonly [name: string, previous: CelType | undefined])[] = [];
  private parameterCount = 0;

  /** Returns a new unbound parameter. */
  newParameter(): CelType {
    return { is: "parameter", name: `_${this.parameterCount++}` };
  }

  /**
   * Whether values of the actual types are assignable to the declared types, pair by pair. Binds parameters if they are; otherwise
   * bindings are unchanged.
   */
  assigns(declared: readonly CelType[], actual: readonly CelType[]): boolean {
    const start = this.changes.length;
    if (declared.every((one, index) => this.assign(one, actual[index]!))) return true;
    for (let index = this.changes.length - 1; index >= start; index--) {
      const [name, previous] = this.changes[index]!;
      if (previous === undefined) this.bindings.delete(name);
      else this.bindings.set(name, previous);
    }
    this.changes.length = start;
    return false;
  }

  private set(name: string, type: CelType): void {
    this.changes.push([name, this.bindings.get(name)]);
    this.bindings.set(name, type);
  }

  /** Replaces bound parameters in a type; unbound ones become `dyn`. */
  resolve(type: CelType): CelType {
    switch (type.is) {
      case "parameter": {
        const bound = this.follow(type);
        return bound.is === "parameter" ? dyn : this.resolve(bound);
      }
      case "list":
        return listOf(this.resolve(type.element), type.maxSize);
      case "map":
        return mapOf(this.resolve(type.key), this.resolve(type.value), type.maxSize);
      case "type":
        return typeOf(this.resolve(type.of));
      case "optional":
        return optionalOf(this.resolve(type.of));
      default:
        return type;
    }
  }

  /** Whether two types are equal; types with unbound parameters are not. */
  isSame(a: CelType, b: CelType): boolean {
    return !this.hasParameter(a) && !this.hasParameter(b) && sameType(this.resolve(a), this.resolve(b));
  }

  private hasParameter(type: CelType): boolean {
    const target = this.follow(type);
    switch (target.is) {
      case "parameter":
        return true;
      case "list":
        return this.hasParameter(target.element);
      case "optional":
        return this.hasParameter(target.of);
      case "map":
        return this.hasParameter(target.key) || this.hasParameter(target.value);
      default:
        return false;
    }
  }

  /** Returns the more general of two types if one is assignable to the other; otherwise undefined. */
  join(first: CelType, second: CelType): CelType | undefined {
    if (first === second) return first;
    if (this.assigns([first], [second])) return this.isMoreGeneral(second, first) ? second : first;
    if (this.assigns([second], [first])) return second;
    return undefined;
  }

  /** Returns the type to which a parameter is bound; an unbound parameter and other types are returned unchanged. */
  follow(type: CelType): CelType {
    let current = type;
    while (current.is === "parameter") {
      const next = this.bindings.get(current.name);
      if (next === undefined) return current;
      current = next;
    }
    return current;
  }

  private assign(declared: CelType, actual: CelType): boolean {
    const to = this.follow(declared);
    const from = this.follow(actual);
    if (to.is === "parameter" || from.is === "parameter") return this.bind(to, from);
    if (to.is === "dyn" || from.is === "dyn") {
      this.loosen(declared, to);
      return true;
    }
    if (to.is === "null" && from.is === "optional") return true;
    if (from.is === "null") return to.is === "null" || isNullable(to);
    switch (to.is) {
      case "list":
        return from.is === "list" && this.assign(to.element, from.element);
      case "map":
        return from.is === "map" && this.assign(to.key, from.key) && this.assign(to.value, from.value);
      case "optional":
        return from.is === "optional" && this.assign(to.of, from.of);
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
    // Of two parameters, the second one is bound to the first one.
    const [parameter, other] = from.is === "parameter" ? [from, to] : [to, from];
    if (parameter.is !== "parameter") return false;
    if (this.refersTo(other, parameter.name)) return false;
    this.set(parameter.name, other);
    return true;
  }

  /** Binds a parameter to `dyn` if it was bound to another type and gets a dynamic value. */
  private loosen(declared: CelType, to: CelType): void {
    if (declared.is === "parameter" && to.is !== "dyn") this.set(declared.name, dyn);
  }

  private refersTo(type: CelType, name: string): boolean {
    const target = this.follow(type);
    switch (target.is) {
      case "parameter":
        return target.name === name;
      case "list":
        return this.refersTo(target.element, name);
      case "optional":
        return this.refersTo(target.of, name);
      case "map":
        return this.refersTo(target.key, name) || this.refersTo(target.value, name);
      default:
        return false;
    }
  }

  private isMoreGeneral(first: CelType, second: CelType): boolean {
    const [one, other] = [this.follow(first), this.follow(second)];
    if (one.is === "dyn") return other.is !== "dyn";
    if (one.is === "list" && other.is === "list") return this.isMoreGeneral(one.element, other.element);
    if (one.is === "optional" && other.is === "optional") return this.isMoreGeneral(one.of, other.of);
    if (one.is === "map" && other.is === "map") {
      return this.isMoreGeneral(one.key, other.key) || this.isMoreGeneral(one.value, other.value);
    }
    return other.is === "null" && one.is !== "null";
  }
}

function isNullable({ is }: CelType): boolean {
  return is === "object" || is === "opaque" || is === "optional" || is === "timestamp" || is === "duration";
}

/** Replaces the parameters of a type by new ones, so that two calls of a function don't share them. */
export function instantiate(type: CelType, names: Map<string, CelType>, substitution: Substitution): CelType {
  switch (type.is) {
    case "parameter": {
      let parameter = names.get(type.name);
      if (parameter === undefined) names.set(type.name, (parameter = substitution.newParameter()));
      return parameter;
    }
    case "list":
      return listOf(instantiate(type.element, names, substitution), type.maxSize);
    case "map":
      return mapOf(
        instantiate(type.key, names, substitution),
        instantiate(type.value, names, substitution),
        type.maxSize,
      );
    case "type":
      return typeOf(instantiate(type.of, names, substitution));
    case "optional":
      return optionalOf(instantiate(type.of, names, substitution));
    default:
      return type;
  }
}

/** Whether two resolved types are equal, ignoring sizes. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a.is === "list") return b.is === "list" && sameType(a.element, b.element);
  if (a.is === "map") return b.is === "map" && sameType(a.key, b.key) && sameType(a.value, b.value);
  if (a.is === "optional") return b.is === "optional" && sameType(a.of, b.of);
  if (a.is === "type") return b.is === "type" && sameType(a.of, b.of);
  if (a.is === "object" || a.is === "opaque" || a.is === "parameter") {
    return a.is === b.is && a.name === b.name;
  }
  return a.is === b.is;
}
