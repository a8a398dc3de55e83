import { instantiate, Substitution } from "../types/assignability.ts";
import type { CelFunction } from "../functions/function-table.ts";
import { objectLiteralType } from "../evaluation/object-literals.ts";
import type { Checked, Scope } from "./scope.ts";
import {
  entryTypes,
  laterTypes,
  literalType,
  noneOptional,
  sortable,
  undeclared,
  type ComprehensionTypes,
} from "./checker-types.ts";
import { checkFormat, checkLiteralTypes } from "../types/literal-types.ts";
import { reservedField } from "../types/field-names.ts";
import { qualifiedName } from "../syntax/grammar.ts";
import type { Signature } from "../types/signature.ts";
import {
  ExpressionError,
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type Literal,
  type MapLiteral,
  type OptionalMap,
  type Select,
} from "../syntax/syntax.ts";
import {
  bool,
  dyn,
  listOf,
  mapOf,
  namedTypes,
  optionalOf,
  typeOf,
  typeText,
  type CelType,
} from "../types/types.ts";

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
  /** Whether literals may mix types, as in arguments of `format`. */
  private mixing = false;
  /** Literals whose items may have any types: arguments of `format`. */
  private readonly exempt = new Set<Expression>();
  /** Variables that the expression uses. */
  readonly named = new Set<string>();

  constructor(private readonly scope: Scope) {}

  /** Resolves the types of all nodes. */
  resolve(): void {
    for (const expression of this.typed) expression.type = this.substitution.resolve(expression.type!);
    if (this.scope.features.strictLiterals !== true || !this.scope.uniformLiterals) return;
    for (const expression of this.typed) {
      if (expression.node === "call") checkFormat(expression);
      if (!this.exempt.has(expression)) checkLiteralTypes(expression);
    }
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
      case "list": {
        const { items, optional } = expression;
        return listOf(this.joinItemTypes(items, "list", optional), items.length);
      }
      case "map":
        return this.map(expression);
      case "object":
        return objectLiteralType(expression, this.scope, this.substitution, ({ value, optional }) =>
          optional ? this.valueType(value) : this.typeOf(value),
        );
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
      case "optional map":
        return this.optionalMap(expression);
    }
  }

  private map({ entries }: MapLiteral): CelType {
    const [keys, values] = [entries.map(({ key }) => key), entries.map(({ value }) => value)];
    const optional = new Set([...entries.keys()].filter((index) => entries[index]!.optional));
    const key = this.joinItemTypes(keys, "map key");
    return mapOf(key, this.joinItemTypes(values, "map value", optional), entries.length);
  }

  private identifier(expression: Identifier): CelType {
    const type = this.typeNamed(expression.name, expression);
    if (type === undefined) throw undeclared(expression.name, expression.at);
    return type;
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
    const type =
      namedTypes.get(global) ??
      (this.scope.features.optionalTypeName === true ? laterTypes.get(global) : undefined);
    if (type === undefined) return undefined;
    identifier.names = type;
    return typeOf(type);
  }

  private select(expression: Select): CelType {
    const qualified = this.qualified(expression);
    if (qualified !== undefined) return qualified;
    const type = this.selectedType(expression.operand, expression.field, expression.at, false);
    return expression.test ? bool : type;
  }

  /**
   * Returns the type of a field.
   *
   * @param optional whether the field may be absent; it may be too if the operand is optional.
   */
  private selectedType(operand: Expression, field: string, at: number, optional: boolean): CelType {
    const type = this.substitution.follow(this.typeOf(operand));
    const isOptional = type.is === "optional";
    const fieldType = this.fieldType(isOptional ? this.substitution.follow(type.of) : type, field, at);
    return isOptional || optional ? optionalOf(fieldType) : fieldType;
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

  private fieldType(operand: CelType, field: string, at: number): CelType {
    switch (operand.is) {
      case "dyn":
      case "parameter":
        return dyn;
      case "map":
        return operand.value;
      case "object": {
        const declared =
          operand.fields.get(field) ??
          (this.scope.features.reservedFieldNames === true ? reservedField(operand, field) : undefined);
        if (declared === undefined) throw new ExpressionError(`undefined field '${field}'`, at);
        return declared.type;
      }
      default:
        throw new ExpressionError(`type '${typeText(operand)}' does not support field selection`, at);
    }
  }

  private call(expression: Call): CelType {
    const { target, args, name, at } = expression;
    if (name === "_?._") {
      const [operand, field] = args as [Expression, Literal];
      this.typeOf(field);
      return this.selectedType(operand, field.value as string, at, true);
    }
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
    const definition = this.scope.functions.get(name)!;
    const first = this.typed.length;
    const argTypes = this.argumentTypes(definition, args);
    if (definition.mixesTypes === true) for (const one of this.typed.slice(first)) this.exempt.add(one);
    this.checkLiterals(definition, args);
    const forms: Signature[] = [];
    let result: CelType | undefined;
    for (const form of definition.signatures) {
      if (form.onValue !== onValue || form.takes.length !== argTypes.length) continue;
      const names = new Map<string, CelType>();
      const takes = form.takes.map((one) => instantiate(one, names, this.substitution));
      if (!this.substitution.assigns(takes, argTypes)) continue;
      forms.push(form);
      const gives = instantiate(form.gives, names, this.substitution);
      if (result === undefined) result = gives;
      else if (!this.substitution.isSame(result, gives)) result = dyn;
    }
    if (result === undefined) throw this.mismatch(name, argTypes, call.at);
    call.forms = forms;
    return result;
  }

  private argumentTypes({ mixesTypes = false }: CelFunction, args: readonly Expression[]): CelType[] {
    const before = this.mixing;
    this.mixing ||= mixesTypes;
    const types = args.map((arg) => this.typeOf(arg));
    this.mixing = before;
    return types;
  }

  private checkLiterals({ literal }: CelFunction, args: readonly Expression[]): void {
    const arg = args[literal?.index ?? 0];
    if (literal === undefined || arg?.node !== "literal" || typeof arg.value !== "string") return;
    const fault = literal.check(arg.value);
    if (fault !== undefined) throw new ExpressionError(fault, arg.at);
  }

  private comprehension(expression: Comprehension): CelType {
    const { range, variable, second, condition, transform } = expression;
    const over = this.substitution.follow(this.typeOf(range));
    const item = this.itemType(over, range);
    const [type, ...others] = second === undefined ? [item] : entryTypes(over);
    const variables = [
      { name: variable, type: type! },
      ...others.map((one) => ({ name: second!, type: one })),
    ];
    this.loops.push(...variables);
    if (condition !== undefined) this.expectBool(condition);
    const elementType = transform === undefined ? type! : this.typeOf(transform);
    this.loops.length -= variables.length;
    const maxSize = over.is === "list" || over.is === "map" ? over.maxSize : undefined;
    return this.resultType(expression, { over, key: type!, elementType, maxSize });
  }

  private resultType(
    { macro, at }: Comprehension,
    { over, key, elementType, maxSize }: ComprehensionTypes,
  ): CelType {
    switch (macro) {
      case "map":
      case "filter":
        return listOf(elementType, maxSize);
      case "transformMap":
        return mapOf(key, elementType, maxSize);
      case "transformMapEntry": {
        const result = mapOf(this.substitution.newParameter(), this.substitution.newParameter(), maxSize);
        if (this.substitution.assigns([result], [elementType])) return result;
        throw this.mismatch("cel.@mapInsert", [result, elementType], at);
      }
      case "sortBy": {
        const list = listOf(this.substitution.newParameter());
        const isSortable =
          this.substitution.assigns([list], [over]) &&
          sortable.some((one) => this.substitution.assigns([one], [elementType]));
        if (isSortable) return over;
        throw this.mismatch("@sortByAssociatedKeys", [over, listOf(elementType)], at);
      }
      default:
        return bool;
    }
  }

  private optionalMap({ target, variable, transform, flat, at }: OptionalMap): CelType {
    const value = this.substitution.newParameter();
    const type = this.typeOf(target);
    if (!this.substitution.assigns([optionalOf(value)], [type])) throw this.mismatch("hasValue", [type], at);
    this.loops.push({ name: variable, type: this.substitution.resolve(value) });
    const result = this.typeOf(transform);
    this.loops.pop();
    if (!flat) return optionalOf(result);
    const none = optionalOf(this.substitution.newParameter());
    const joined = this.substitution.join(result, none);
    if (joined === undefined) throw this.mismatch("_?_:_", [bool, result, none], at);
    return joined;
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
    const actual = typeText(this.substitution.resolve(type));
    throw new ExpressionError(`expected type 'bool' but found '${actual}'`, expression.at);
  }

  /** Returns the common type of the items of a literal. */
  private joinItemTypes(
    items: readonly Expression[],
    description: string,
    optional: ReadonlySet<number> = noneOptional,
  ): CelType {
    let joined: CelType | undefined;
    for (const [index, item] of items.entries()) {
      const type = optional.has(index) ? this.valueType(item) : this.typeOf(item);
      if (joined === undefined) {
        joined = type;
        continue;
      }
      const both = this.substitution.join(joined, type);
      if (both === undefined && this.scope.uniformLiterals && !this.mixing) {
        const [expected, actual] = [joined, type].map((one) => typeText(this.substitution.resolve(one)));
        throw new ExpressionError(
          `expected type '${expected}' but found '${actual}' (${description})`,
          item.at,
        );
      }
      joined = both ?? dyn;
    }
    return joined ?? this.substitution.newParameter();
  }

  /** Returns the type of the value of an optional item. */
  private valueType(item: Expression): CelType {
    const type = this.substitution.follow(this.typeOf(item));
    if (type.is === "optional") return type.of;
    if (type.is === "dyn") return type;
    const actual = typeText(this.substitution.resolve(type));
    throw new ExpressionError(`expected type 'optional_type(${actual})' but found '${actual}'`, item.at);
  }

  private mismatch(name: string, argTypes: readonly CelType[], at: number): ExpressionError {
    const types = argTypes.map((one) => typeText(this.substitution.resolve(one))).join(", ");
    return new ExpressionError(`found no matching overload for '${name}' applied to '(${types})'`, at);
  }
}
