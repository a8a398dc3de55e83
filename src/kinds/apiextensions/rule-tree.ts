import type { SchemaNode, ValidationRule } from "../../schema/custom/schema-node.ts";
import { compile, type Compiled, type Environment } from "../../cel/compile.ts";
import { CustomTypes, type CustomType } from "../../cel/types/custom-types.ts";
import { referenceLanguage, type Language } from "../../cel/libraries.ts";
import { bool, optionalOf, string, type CelType } from "../../cel/types/types.ts";

/** The variables of rules: the value, and its old value on an update. */
export const self = "self";
export const oldSelf = "oldSelf";

/** The rules of a schema node and below; nodes without rules are omitted. */
export interface RuleNode {
  readonly schema: SchemaNode;
  readonly rules: readonly Rule[];
  /** The CEL type of the values; undefined if the schema doesn't give them one. */
  readonly type: CustomType | undefined;
  /** Whether a rule of this node or below may use `oldSelf`. */
  readonly compares: boolean;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

/** Returns what an expression may use. */
export type LanguageFor = (expression: string) => Language;

/** Returns the rules of an object's schema; undefined if it has none. */
export function rulesOf(
  root: SchemaNode,
  languageFor: LanguageFor = () => referenceLanguage,
): RuleNode | undefined {
  return nodeOf(root, "selfType", { types: new CustomTypes(root), languageFor });
}

/** What the nodes of a schema share. */
interface Schema {
  readonly types: CustomTypes;
  readonly languageFor: LanguageFor;
}

/** One expression of a schema (`x-…-validations`). */
export class Rule {
  private cached: Compiled | undefined;
  private cachedMessage: Compiled | undefined;
  readonly expression: string;
  /** Empty if the definition has none. */
  readonly message: string;

  constructor(
    readonly declared: ValidationRule,
    /** Returns the variables and the type of the result. */
    readonly environment: () => Environment,
    private readonly languageFor: LanguageFor,
  ) {
    const { rule, message = "" } = declared;
    this.expression = rule.trim();
    this.message = message.trim();
  }

  /** Whether the rule applies to values without an old one, so that the old value is optional. */
  get hasOptionalOld(): boolean {
    return this.declared.optionalOldSelf === true;
  }

  /** The compiled expression of the message; undefined if the rule has none. */
  get compiledMessage(): Compiled | undefined {
    const { messageExpression = "" } = this.declared;
    if (messageExpression === "") return undefined;
    return (this.cachedMessage ??= compile(messageExpression, {
      ...this.environment(),
      result: string,
      language: this.languageFor(messageExpression),
    }));
  }

  /** The compiled expression; compiled on first use. */
  get compiled(): Compiled {
    return (this.cached ??= compile(this.expression, {
      ...this.environment(),
      language: this.languageFor(this.expression),
    }));
  }

  /** The name of the rule in faults: its message or expression. */
  get shown(): string {
    return this.message === "" ? this.expression : this.message;
  }
}

/** @param name name of the node's type; unique per node. */
function nodeOf(schema: SchemaNode, name: string, shared: Schema): RuleNode | undefined {
  const { validations } = schema;
  const properties = new Map<string, RuleNode>();
  for (const [property, below] of schema.properties) {
    const node = nodeOf(below, `${name}.${property}`, shared);
    if (node !== undefined) properties.set(property, node);
  }
  const additional = schema.additional && nodeOf(schema.additional, `${name}.@elem`, shared);
  const items = schema.items && nodeOf(schema.items, `${name}.@idx`, shared);
  const nonEmpty = validations.filter(({ rule }) => rule.trim() !== "");
  const below = [...properties.values(), ...[additional, items].filter((node) => node !== undefined)];
  if (nonEmpty.length === 0 && below.length === 0) return undefined;
  const type = nonEmpty.length === 0 ? undefined : shared.types.of(schema, name);
  const environment = environmentOf(type, type?.type);
  const optionalEnvironment = environmentOf(type, type && optionalOf(type.type));
  return {
    schema,
    type,
    rules: nonEmpty.map((rule) => {
      const own = rule.optionalOldSelf === true ? optionalEnvironment : environment;
      return new Rule(rule, own, shared.languageFor);
    }),
    compares: nonEmpty.some(({ rule }) => rule.includes(oldSelf)) || below.some((node) => node.compares),
    properties,
    additional,
    items,
  };
}

/**
 * Returns the environment of a node's rules. Without a type it has no variables, so no rule compiles.
 *
 * @param oldType type of the old value.
 */
function environmentOf(type: CustomType | undefined, oldType: CelType | undefined): () => Environment {
  let environment: Environment | undefined;
  return () =>
    (environment ??= {
      variables:
        type === undefined || oldType === undefined
          ? new Map()
          : new Map([
              [self, type.type],
              [oldSelf, oldType],
            ]),
      result: bool,
    });
}
