import { instantiate, sameType, Substitution } from "./assignability.ts";
import type { CelFunction, FunctionTable } from "./function-table.ts";
import { qualifiedName } from "./parser.ts";
import type { Signature } from "./signature.ts";
import {
  ExpressionError,
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type LiteralValue,
  type Select,
} from "./syntax.ts";
import {
  bool,
  bytes,
  double,
  dyn,
  int,
  listOf,
  mapOf,
  namedTypes,
  nullType,
  string,
  typeOf,
  typeText,
  uint,
  type CelType,
} from "./types.ts";

/** The declarations for checking an expression. */
export interface Scope {
  /** Types of variables by name; names may have dots. */
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: FunctionTable;
  /** Whether list items, map keys and map values in literals must have the same type. */
  readonly uniformLiterals: boolean;
}

/** Result of checking an expression. */
export interface Checked {
  /** Type of the expression. */
  readonly type: CelType;
  /** Variables of the scope that the expression uses. */
  readonly variables: ReadonlySet<string>;
}

/**
 * Checks the types of an expression and sets the types in its nodes.
 *
 * @throws {ExpressionError} for an undeclared name or a type error.
 */
export function check(expression: Expression, scope: Scope): Checked {
  const checker = new Checker(scope);
  checker.typeOf(expression);
  checker.resolve();
  return { type: expression.type!, variables: checker.named };
}

class Checker {
  private readonly substitution = new Substitution();
  /** Variables of the enclosing loops, innermost last. */
  private readonly loops: { readonly name: string; readonly type: CelType }[] = [];
  private readonly typed: Expression[] = [];
  /** Variables that the expression uses. */
  readonly named = new Set<string>();

  constructor(private readonly scope: Scope) {}

  /** Resolves the types of all nodes. */
  resolve(): void {
    for (const expression of this.typed) expression.type = this.substitution.resolve(expression.type!);
  }

  typeOf(expression: Expression): CelType {
    const type = this.find(expression);
    expression.type = type;
    this.typed.push(expression);
    return type;
  }

  private find(expression: Expression): CelType {
    switch (expression.node) {
      case "literal":
        return literalType(expression.value);
      case "identifier":
        return this.identifier(expression);
      case "select":
        return this.select(expression);
      case "call":
        return this.call(expression);
      case "list":
        return listOf(this.joinItemTypes(expression.items, "list"), expression.items.length);
      case "map": {
        const key = this.joinItemTypes(
          expression.entries.map((entry) => entry.key),
          "map key",
        );
        const value = this.joinItemTypes(
          expression.entries.map((entry) => entry.value),
          "map value",
        );
        return mapOf(key, value, expression.entries.length);
      }
      case "object":
        throw undeclared(expression.name, expression.at);
      case "logical":
        for (const operand of expression.operands) this.expectBool(operand);
        return bool;
      case "conditional": {
        this.expectBool(expression.condition);
        const whenTrue = this.typeOf(expression.whenTrue);
        const whenFalse = this.typeOf(expression.whenFalse);
        const joined = this.substitution.join(whenTrue, whenFalse);
        if (joined === undefined) throw this.mismatch("_?_:_", [bool, whenTrue, whenFalse], expression.at);
        return joined;
      }
      case "comprehension":
        return this.comprehension(expression);
    }
  }

  private identifier(expression: Identifier): CelType {
    const found = this.typeNamed(expression.name, expression);
    if (found === undefined) throw undeclared(expression.name, expression.at);
    return found;
  }

  /** Returns the type of a variable or type name. */
  private typeNamed(name: string, identifier: Identifier): CelType | undefined {
    const global = name.startsWith(".") ? name.slice(1) : name;
    // As in Kubernetes, a leading dot doesn't skip loop variables.
    const loop = this.loops.findLast((one) => one.name === global);
    if (loop !== undefined) return loop.type;
    const variable = this.scope.variables.get(global);
    if (variable !== undefined) {
      this.named.add(global);
      return variable;
    }
    const type = namedTypes.get(global);
    if (type === undefined) return undefined;
    identifier.names = type;
    return typeOf(type);
  }

  private select(expression: Select): CelType {
    const qualified = this.qualified(expression);
    if (qualified !== undefined) return qualified;
    const operand = this.substitution.follow(this.typeOf(expression.operand));
    const found = this.fieldType(operand, expression);
    return expression.test ? bool : found;
  }

  /** Returns the type of a qualified name that is declared as one variable. */
  private qualified(expression: Select): CelType | undefined {
    if (expression.test) return undefined;
    const name = qualifiedName(expression);
    if (name === undefined) return undefined;
    const first = name.slice(0, name.indexOf(".", 1));
    if (this.loops.some((one) => one.name === first)) return undefined;
    const identifier: Identifier = { node: "identifier", name, at: expression.at };
    const type = this.typeNamed(name, identifier);
    if (type === undefined) return undefined;
    identifier.type = type;
    expression.qualified = identifier;
    return type;
  }

  private fieldType(operand: CelType, { field, at }: Select): CelType {
    switch (operand.is) {
      case "dyn":
      case "parameter":
        return dyn;
      case "map":
        return operand.value;
      case "object": {
        const found = operand.fields.get(field);
        if (found === undefined) throw new ExpressionError(`undefined field '${field}'`, at);
        return found.type;
      }
      default:
        throw new ExpressionError(`type '${typeText(operand)}' does not support field selection`, at);
    }
  }

  private call(expression: Call): CelType {
    const { target, args, name, at } = expression;
    const prefix = target === undefined ? undefined : qualifiedName(target);
    if (prefix !== undefined && this.scope.functions.has(`${prefix}.${name}`)) {
      expression.functionName = `${prefix}.${name}`;
      return this.overload(expression, expression.functionName, args, false);
    }
    const global = target === undefined && name.startsWith(".") ? name.slice(1) : name;
    if (global !== name) expression.functionName = global;
    if (!this.scope.functions.has(global)) {
      // Errors of the arguments are reported first, because they come first in the text.
      if (target !== undefined) this.typeOf(target);
      throw undeclared(global, at);
    }
    return this.overload(
      expression,
      global,
      target === undefined ? args : [target, ...args],
      target !== undefined,
    );
  }

  /** Returns the type of the result of a call; `dyn` if the matching overloads have different types. */
  private overload(call: Call, name: string, args: readonly Expression[], onValue: boolean): CelType {
    const found = this.scope.functions.get(name)!;
    const argTypes = args.map((arg) => this.typeOf(arg));
    this.checkLiterals(found, args);
    const forms: Signature[] = [];
    let result: CelType | undefined;
    for (const form of found.signatures) {
      if (form.onValue !== onValue || form.takes.length !== argTypes.length) continue;
      const names = new Map<string, CelType>();
      const takes = form.takes.map((one) => instantiate(one, names, this.substitution));
      if (!this.substitution.assigns(takes, argTypes)) continue;
      forms.push(form);
      const gives = instantiate(form.gives, names, this.substitution);
      if (result === undefined) result = gives;
      else if (!sameType(this.substitution.resolve(result), this.substitution.resolve(gives))) result = dyn;
    }
    if (result === undefined) throw this.mismatch(name, argTypes, call.at);
    call.forms = forms;
    return result;
  }

  private checkLiterals({ literal }: CelFunction, args: readonly Expression[]): void {
    const arg = args[literal?.index ?? 0];
    if (literal === undefined || arg?.node !== "literal" || typeof arg.value !== "string") return;
    const fault = literal.check(arg.value);
    if (fault !== undefined) throw new ExpressionError(fault, arg.at);
  }

  private comprehension(expression: Comprehension): CelType {
    const { range, variable, condition, transform, macro } = expression;
    const over = this.substitution.follow(this.typeOf(range));
    const type = this.itemType(over, range);
    this.loops.push({ name: variable, type });
    if (condition !== undefined) this.expectBool(condition);
    const elementType = transform === undefined ? type : this.typeOf(transform);
    this.loops.pop();
    if (macro !== "map" && macro !== "filter") return bool;
    const maxSize = over.is === "list" || over.is === "map" ? over.maxSize : undefined;
    return listOf(elementType, maxSize);
  }

  private itemType(over: CelType, range: Expression): CelType {
    switch (over.is) {
      case "list":
        return over.element;
      case "map":
        return over.key;
      case "dyn":
      case "parameter":
        return dyn;
      default:
        throw new ExpressionError(
          `expression of type '${typeText(over)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
          range.at,
        );
    }
  }

  private expectBool(expression: Expression): void {
    const type = this.typeOf(expression);
    if (type === bool || this.substitution.assigns([bool], [type])) return;
    const found = typeText(this.substitution.resolve(type));
    throw new ExpressionError(`expected type 'bool' but found '${found}'`, expression.at);
  }

  /** Returns the common type of the items of a literal. */
  private joinItemTypes(items: readonly Expression[], description: string): CelType {
    let joined: CelType | undefined;
    for (const item of items) {
      const type = this.typeOf(item);
      if (joined === undefined) {
        joined = type;
        continue;
      }
      const both = this.substitution.join(joined, type);
      if (both === undefined && this.scope.uniformLiterals) {
        const [expected, found] = [joined, type].map((one) => typeText(this.substitution.resolve(one)));
        throw new ExpressionError(
          `expected type '${expected}' but found '${found}' (${description})`,
          item.at,
        );
      }
      joined = both ?? dyn;
    }
    return joined ?? this.substitution.newParameter();
  }

  private mismatch(name: string, argTypes: readonly CelType[], at: number): ExpressionError {
    const types = argTypes.map((one) => typeText(this.substitution.resolve(one))).join(", ");
    return new ExpressionError(`found no matching overload for '${name}' applied to '(${types})'`, at);
  }
}

function undeclared(name: string, at: number): ExpressionError {
  return new ExpressionError(`undeclared reference to '${name}'`, at);
}

function literalType(value: LiteralValue): CelType {
  switch (typeof value) {
    case "boolean":
      return bool;
    case "bigint":
      return int;
    case "number":
      return double;
    case "string":
      return string;
    default:
      if (value === null) return nullType;
      return value instanceof Uint8Array ? bytes : uint;
  }
}
