import type { SchemaNode, ValidationRule } from "../../schema/custom/schema-node.ts";
import { compile, type Compiled, type Environment } from "../../cel/compile.ts";
import { CustomTypes, type CustomType } from "../../cel/custom-types.ts";
import { bool } from "../../cel/types.ts";

/** The variables of rules: the value that is checked, and what it was before the update. */
export const self = "self";
export const oldSelf = "oldSelf";

/** The rules at a node of a schema and below it; nodes without any are left out. */
export interface RuleNode {
  readonly schema: SchemaNode;
  readonly rules: readonly Rule[];
  /** What the values are to expressions; undefined where no expression can be written about them. */
  readonly type: CustomType | undefined;
  /** Whether a rule here or below may ask for the value of before. */
  readonly compares: boolean;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

/** The rules of the schema of whole objects; undefined where it has none. */
export function rulesOf(root: SchemaNode): RuleNode | undefined {
  return nodeOf(root, "selfType", new CustomTypes(root));
}

/** One expression of a schema (`x-…-validations`). */
export class Rule {
  private known: Compiled | undefined;
  readonly expression: string;
  /** Empty where the definition has none. */
  readonly message: string;

  constructor(
    { rule, message = "" }: ValidationRule,
    readonly environment: () => Environment,
  ) {
    this.expression = rule.trim();
    this.message = message.trim();
  }

  /** Compiled when it is first asked for. */
  get compiled(): Compiled {
    return (this.known ??= compile(this.expression, this.environment()));
  }

  /** How faults name the rule. */
  get shown(): string {
    return this.message === "" ? this.expression : this.message;
  }
}

/** @param name of the node's type; different for each node. */
function nodeOf(schema: SchemaNode, name: string, types: CustomTypes): RuleNode | undefined {
  const { validations } = schema;
  const properties = new Map<string, RuleNode>();
  for (const [property, below] of schema.properties) {
    const node = nodeOf(below, `${name}.${property}`, types);
    if (node !== undefined) properties.set(property, node);
  }
  const additional = schema.additional && nodeOf(schema.additional, `${name}.@elem`, types);
  const items = schema.items && nodeOf(schema.items, `${name}.@idx`, types);
  const given = validations.filter(({ rule }) => rule.trim() !== "");
  const below = [...properties.values(), ...[additional, items].filter((node) => node !== undefined)];
  if (given.length === 0 && below.length === 0) return undefined;
  const type = given.length === 0 ? undefined : types.of(schema, name);
  const environment = environmentOf(type);
  return {
    schema,
    type,
    rules: given.map((rule) => new Rule(rule, environment)),
    compares: given.some(({ rule }) => rule.includes(oldSelf)) || below.some((node) => node.compares),
    properties,
    additional,
    items,
  };
}

/** The environment of a node's rules; where its values have no type there are no variables, so no rule compiles. */
function environmentOf(found: CustomType | undefined): () => Environment {
  let environment: Environment | undefined;
  return () =>
    (environment ??= {
      variables:
        found === undefined
          ? new Map()
          : new Map([
              [self, found.type],
              [oldSelf, found.type],
            ]),
      result: bool,
    });
}
