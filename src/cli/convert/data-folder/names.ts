import { isObject, setMember, type JsonObject, type JsonValue } from "../../../base/json/value.ts";
import { builtInKinds } from "../../../kinds/all.ts";
import { groupName } from "../../../schema/kind.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";

/** Fields whose content belongs to the user, by field name: their texts are never names of the API. */
const freeText: ReadonlySet<string> = new Set([
  "annotations",
  "args",
  "binaryData",
  "command",
  "data",
  "message",
  "stringData",
  "value",
]);

/** Fields that name a namespace. */
const namespaceFields: ReadonlySet<string> = new Set(["namespace", "namespaces"]);

/** A service account, or the group of those of a namespace. */
const serviceAccountText = /^(system:serviceaccounts?:)([^:]+)(|:[^:]*)$/;

/** Translates the names of the API in stored objects from one vocabulary to another. */
export class NameTranslation {
  /** Texts that are translated as a whole, in any field. */
  private readonly texts: ReadonlyMap<string, string>;
  private readonly namespaces: ReadonlyMap<string, string>;
  private readonly prefixes: readonly (readonly [string, string])[];

  constructor(
    private readonly source: Vocabulary,
    private readonly target: Vocabulary,
  ) {
    this.texts = new Map([...groupTexts(source, target), ...componentTexts(source, target)]);
    this.namespaces = new Map(
      (["systemNamespace", "publicNamespace", "nodeLeaseNamespace"] as const).map((member) => [
        source[member],
        target[member],
      ]),
    );
    this.prefixes = [
      [source.aggregateToLabelPrefix, target.aggregateToLabelPrefix],
      [source.autoUpdateAnnotation, target.autoUpdateAnnotation],
      [source.schemaExtensionPrefix, target.schemaExtensionPrefix],
    ];
  }

  /** Returns an object with translated names. */
  object(object: JsonObject): JsonObject {
    return this.members(object, false);
  }

  /** Returns the name of a namespace. */
  namespace(name: string): string {
    return this.namespaces.get(name) ?? name;
  }

  /** Returns the name of an object: of a component's role or user, otherwise unchanged. */
  name(name: string): string {
    return this.texts.get(name) ?? name;
  }

  /** Returns the field paths of texts that still have a name of the source vocabulary, such as a domain inside of an expression. */
  remaining(object: JsonObject): string[] {
    const paths: string[] = [];
    const visit = (value: JsonValue, path: string): void => {
      if (typeof value === "string") {
        if (this.isOfSource(value)) paths.push(path);
      } else if (Array.isArray(value)) value.forEach((item, index) => visit(item, `${path}[${index}]`));
      else if (isObject(value)) {
        for (const [key, member] of Object.entries(value))
          visit(member, path === "" ? key : `${path}.${key}`);
      }
    };
    visit(object, "");
    return paths;
  }

  private isOfSource(text: string): boolean {
    const { domain, groupSuffix } = this.source;
    return [domain, groupSuffix].some(
      (one) => text === one || text.includes(`${one}/`) || text.endsWith(`.${one}`),
    );
  }

  private members(object: JsonObject, isFree: boolean): JsonObject {
    const result: JsonObject = {};
    for (const [key, value] of Object.entries(object)) {
      const isField = !isFree && freeText.has(key);
      setMember(result, this.key(key), this.value(value, key, isFree || isField));
    }
    return result;
  }

  private value(value: JsonValue, field: string, isFree: boolean): JsonValue {
    if (Array.isArray(value)) return value.map((item) => this.value(item, field, isFree));
    if (isObject(value)) return this.members(value, isFree);
    if (typeof value !== "string" || isFree) return value;
    return namespaceFields.has(field) ? this.namespace(value) : this.text(value);
  }

  /** Translates a key: a qualified name such as a label's, also in the field sets of managed fields (`f:NAME`, `v:VALUE`). */
  private key(key: string): string {
    if (key.startsWith("f:")) return `f:${this.text(key.slice(2))}`;
    // Values are JSON; names have no characters to escape.
    if (key.startsWith('v:"') && key.endsWith('"')) return `v:"${this.text(key.slice(3, -1))}"`;
    return this.text(key);
  }

  private text(text: string): string {
    const whole = this.texts.get(text);
    if (whole !== undefined) return whole;
    const [, kind, namespace, rest] = serviceAccountText.exec(text) ?? [];
    if (namespace !== undefined) return `${kind}${this.namespace(namespace)}${rest}`;
    for (const [from, to] of this.prefixes) if (text.startsWith(from)) return to + text.slice(from.length);
    const slash = text.indexOf("/");
    if (slash === -1) return text;
    const domain = this.domain(text.slice(0, slash));
    return domain === undefined ? text : domain + text.slice(slash);
  }

  /** Returns the domain of a qualified name in the target vocabulary; undefined if it is not one of the source. */
  private domain(domain: string): string | undefined {
    const { domain: own } = this.source;
    if (domain === own) return this.target.domain;
    return domain.endsWith(`.${own}`) ? domain.slice(0, -own.length) + this.target.domain : undefined;
  }
}

/** Returns the built-in groups and their versions by name, with the names in the target. */
function* groupTexts(source: Vocabulary, target: Vocabulary): Generator<readonly [string, string]> {
  for (const { group, version } of builtInKinds) {
    if (!group.suffixed) continue;
    const [from, to] = [groupName(group, source), groupName(group, target)];
    yield [from, to];
    yield [`${from}/${version}`, `${to}/${version}`];
  }
}

/** Returns the users and roles of components, with and without the prefix of system users. */
function* componentTexts(source: Vocabulary, target: Vocabulary): Generator<readonly [string, string]> {
  for (const [member, from] of Object.entries(source.components)) {
    const to = target.components[member as keyof Vocabulary["components"]];
    yield [`${source.systemPrefix}${from}`, `${target.systemPrefix}${to}`];
  }
}
