import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { listAt, nameOf, objectAt, textOf, type ManifestObject } from "./documents.ts";
import type { Finding, ValidationSource } from "./problem.ts";

/** A rule in CEL in the schema of a definition. */
interface SchemaRule {
  readonly expression: string;
  readonly message: string;
  /** Path of the rule in the definition. */
  readonly path: string;
}

/** Finds the rules of definitions in CEL that rejected objects. */
export class RuleSources {
  private readonly definitions = new Map<string, ManifestObject>();

  constructor(
    context: readonly ManifestObject[],
    private readonly vocabulary: Pick<Vocabulary, "schemaExtensionPrefix">,
  ) {
    for (const object of context) {
      if (object.value["kind"] !== "CustomResourceDefinition") continue;
      const spec = objectAt(object.value, "spec");
      this.definitions.set(`${textOf(spec?.["group"])} ${textOf(objectAt(spec, "names")?.["kind"])}`, object);
    }
  }

  /** The definition of a kind; undefined if it isn't among the manifests. */
  definitionOf(group: string, kind: string): ManifestObject | undefined {
    return this.definitions.get(`${group} ${kind}`);
  }

  /** Adds the rule that made a problem of a custom object, if it is a rule in CEL. */
  async withSource(finding: Finding, object: JsonObject): Promise<Finding> {
    const { apiVersion, group, kind } = nameOf(object);
    const definition = this.definitionOf(group, kind);
    if (finding.rule !== "schema" || definition === undefined) return finding;
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const rule = this.rulesOn(definition.value, version, finding.field).find(
      ({ expression, message }) =>
        finding.message.includes(`failed rule: ${expression}`) ||
        (message !== "" && finding.message.endsWith(message)),
    );
    if (rule === undefined) return finding;
    const source: ValidationSource = {
      text: rule.expression,
      location: await definition.locate?.(rule.path),
    };
    return { ...finding, rule: "cel", source };
  }

  /** The rules of the schemas from the root to a field, innermost first. */
  private rulesOn(definition: JsonObject, version: string, field: string): SchemaRule[] {
    const index = listAt(definition, "spec", "versions").findIndex(
      (one) => isObject(one) && one["name"] === version,
    );
    const rules: SchemaRule[] = [];
    let schema = objectAt(listAt(definition, "spec", "versions")[index], "schema", "openAPIV3Schema");
    let path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const key = `${this.vocabulary.schemaExtensionPrefix}validations`;
    for (const step of [undefined, ...stepsOf(field)]) {
      if (step !== undefined) ({ schema, path } = below(schema, path, step));
      if (schema === undefined) break;
      for (const [at, rule] of listAt(schema, key).entries())
        rules.push({ ...ruleOf(rule), path: `${path}.${key}[${at}].rule` });
    }
    return rules.toReversed();
  }
}

function ruleOf(rule: JsonValue): Pick<SchemaRule, "expression" | "message"> {
  const { rule: expression, message } = isObject(rule) ? rule : {};
  return { expression: textOf(expression), message: textOf(message).trim() };
}

/** The steps of a path: names, keys in brackets and indexes. */
function stepsOf(field: string): string[] {
  return field.split(/[.[\]]/).filter((step) => step !== "");
}

function below(
  schema: JsonObject | undefined,
  path: string,
  step: string,
): { schema: JsonObject | undefined; path: string } {
  const property = objectAt(schema, "properties", step);
  if (property !== undefined) return { schema: property, path: `${path}.properties.${step}` };
  const items = objectAt(schema, "items");
  if (items !== undefined && /^\d+$/.test(step)) return { schema: items, path: `${path}.items` };
  return {
    schema: objectAt(schema, "additionalProperties"),
    path: `${path}.additionalProperties`,
  };
}
