import type { CST, Composer, Document, Node, Pair, ParsedNode, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { decodeJson, type DecodeLimits, defaultMaxDepth } from "../json/decode.ts";
import { DuplicateMembers, type ValuePosition } from "../json/duplicate-members.ts";
import type { JsonDocument } from "../json/exact.ts";
import { SyntaxFault, faultAt } from "../json/syntax-fault.ts";
import { type JsonObject, type JsonValue, deepClone, isObject, setMember } from "../json/value.ts";
import { createYielder, type YieldIfDue } from "../turns/yielding.ts";
import { decodeSimpleYaml } from "./simple-yaml.ts";
import { checkedTokens, checkLines, tooLarge } from "./yaml-limits.ts";
import type { LenientLexer } from "./yaml-lexer.ts";
import { type BlockToken, countTokens, largeContent, partsOf } from "./yaml-parts.ts";
import { checkEscapes, ScalarFault, resolvePlain, resolveTagged } from "./yaml-scalars.ts";
import { decodeYamlText } from "./yaml-text.ts";

/** Maximum number of tokens that are composed without a yield: in a flow collection, or in a value with an anchor or a tag. */
const maxUndividedTokens = 80_000;
/** Texts from this size on are decoded one at a time: the syntax tree of a text needs up to 100 times its memory. */
const largeCharacters = 256 * 1024;
/** Number of tokens between two checks whether to yield. */
const tokensPerYieldCheck = 500;
/** Maximum number of documents (all but one are empty), directives and end marks. */
const maxParts = 1000;
/** Maximum number of values that all aliases and merge keys of a text expand to. */
const maxAliasedValues = 50_000;
/** Maximum number of characters in the strings that aliases expand to. */
const maxAliasedCharacters = 4 * 1024 * 1024;

/**
 * Decodes a YAML body (spec: conventions 4.7, apply): one document of YAML 1.1, as the reference does, with the guarantees of
 * `decodeJson`. A JSON body is decoded as JSON. Names that aren't strings (`true`, `8080`) become strings; anchors, aliases and
 * merge keys are supported within limits; timestamps are strings. The first text that isn't simple loads the parser.
 * @throws SyntaxFault for malformed YAML, several documents, values without a JSON form, and exceeded limits.
 */
export async function decodeYaml(
  bytes: Uint8Array,
  limits: DecodeLimits = { maxDepth: defaultMaxDepth },
): Promise<JsonDocument> {
  if (bytes[0] === 0x7b) {
    try {
      return decodeJson(bytes, limits);
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error; // it may be YAML in flow style
    }
  }
  const text = decodeYamlText(bytes);
  checkLines(text);
  const simple = decodeSimpleYaml(text, limits.maxDepth);
  if (simple !== undefined) return { value: simple, duplicates: [] };
  const yaml = await import("./yaml-library.ts");
  const { LenientLexer } = await import("./yaml-lexer.ts");
  const read = (): Promise<JsonDocument> =>
    new YamlReader(yaml, new LenientLexer(), text, limits.maxDepth).read();
  return text.length < largeCharacters ? read() : afterOthers(read);
}

/** Resolves when the large texts before this one are decoded. */
let largeTexts: Promise<unknown> = Promise.resolve();

/** Decodes a large text after the ones before it. */
function afterOthers(read: () => Promise<JsonDocument>): Promise<JsonDocument> {
  const result = largeTexts.then(read);
  largeTexts = Promise.allSettled([result]);
  return result;
}

/** An error of the composer that the reference doesn't report: in `'x'#c` a comment follows. */
const commentWithoutSpace = "Comments must be separated from other tokens by white space characters";

/** Position of an error in the composer: an offset, a range, or a token. */
type ErrorPosition = number | readonly [number, number] | { readonly offset: number };

/** The value of an anchor, with its size for the alias limits. */
interface Anchored {
  readonly value: JsonValue;
  readonly values: number;
  readonly characters: number;
}

const root: ValuePosition = { parent: undefined, step: "" };

class YamlReader {
  private readonly anchors = new Map<string, Anchored>();
  private readonly duplicates = new DuplicateMembers();
  private aliasedValues = 0;
  private aliasedCharacters = 0;
  /** Values and characters converted so far. The difference before and after a node is the node's size. */
  private values = 0;
  private characters = 0;
  private parts = 0;
  private readonly yieldIfDue: YieldIfDue = createYielder();
  /** The content of the document if it is composed in parts. */
  private large: BlockToken | undefined;

  constructor(
    private readonly yaml: typeof import("./yaml-library.ts"),
    private readonly lexer: LenientLexer,
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  /** Parses the text. Yields to the event loop while it parses a long text. */
  async read(): Promise<JsonDocument> {
    const document = await this.parse();
    await this.yieldIfDue();
    let value: JsonValue = null;
    if (this.large !== undefined) value = await this.convertLarge(this.large, this.text.length, root, 0);
    else if (document !== undefined) value = this.convert(document.contents, root, 0);
    return { value, duplicates: this.duplicates.list() };
  }

  /** Returns the only document with content. With the failsafe schema every scalar is a string; `convertScalar` resolves types. */
  private async parse(): Promise<Document.Parsed<ParsedNode> | undefined> {
    const composer = this.newComposer();
    let content: Document.Parsed<ParsedNode> | undefined;
    const take = (documents: Iterable<Document.Parsed<ParsedNode>>): void => {
      for (const document of documents) content = this.onlyOne(content, document);
    };
    const parser = new this.yaml.Parser();
    let hasDirectives = false;
    const compose = (tokens: Iterable<CST.Token>): void => {
      for (const token of this.withoutFaults(tokens)) {
        hasDirectives ||= token.type === "directive";
        take(composer.next(token.type === "document" ? this.withoutLarge(token, hasDirectives) : token));
      }
    };
    let count = 0;
    // Each lexical token is checked before the parser gets it.
    for (const token of checkedTokens(this.lexer.lex(this.text), this.text, this.maxDepth)) {
      compose(parser.next(token));
      if (++count % tokensPerYieldCheck === 0) await this.yieldIfDue();
    }
    const rest = [...parser.end()];
    await this.yieldIfDue();
    compose(rest);
    take(composer.end());
    return content;
  }

  private newComposer(): Composer {
    const options = {
      schema: "failsafe",
      uniqueKeys: false,
      prettyErrors: false,
      resolveKnownTags: false,
    } as const;
    const composer = new this.yaml.Composer(options);
    this.stopAtFaults(composer);
    return composer;
  }

  /** Returns a document without its content if that is composed in parts, which {@link convertLarge} does. */
  private withoutLarge(document: CST.Document, hasDirectives: boolean): CST.Document {
    const content = hasDirectives ? undefined : largeContent(document, this.text.length);
    if (content === undefined) {
      this.checkUndivided(document.value);
      return document;
    }
    this.large ??= content;
    return { ...document, value: { ...content, items: [] } };
  }

  private checkUndivided(token: CST.Token | null | undefined): void {
    if (countTokens(token, maxUndividedTokens) >= maxUndividedTokens)
      throw tooLarge(this.text, token!.offset);
  }

  /** @throws {SyntaxFault} for a second document with content. */
  private onlyOne(
    previous: Document.Parsed<ParsedNode> | undefined,
    document: Document.Parsed<ParsedNode>,
  ): Document.Parsed<ParsedNode> {
    if (previous === undefined || isBlank(previous)) return document;
    if (isBlank(document)) return previous;
    throw faultAt(
      this.text,
      document.contents?.range[0] ?? 0,
      "one YAML document is expected, found a second",
    );
  }

  private *withoutFaults(tokens: Iterable<CST.Token>): Iterable<CST.Token> {
    for (const token of tokens) {
      if (token.type === "error") throw faultAt(this.text, token.offset, lowerFirst(token.message));
      const isPart = token.type === "document" || token.type === "directive" || token.type === "doc-end";
      if (isPart && ++this.parts > maxParts) throw tooLarge(this.text, token.offset);
      yield token;
    }
  }

  /**
   * Makes the composer throw at the first error. By default it collects all errors with stack traces, which takes seconds for a
   * text with a million invalid escapes. The handler isn't public API; a test with such a text fails if its name changes. The
   * composer also calls it with the error that it throws, so it throws the same error again.
   */
  private stopAtFaults(composer: Composer): void {
    let fault: SyntaxFault | undefined;
    const onError = (at: ErrorPosition, _code: string, message: string, warning?: boolean): void => {
      if (warning === true || message === commentWithoutSpace) return;
      const offset = typeof at === "number" ? at : "offset" in at ? at.offset : at[0];
      throw (fault ??= faultAt(this.text, offset, lowerFirst(message)));
    };
    Object.assign(composer, { onError });
  }

  private convert(node: Node | null, position: ValuePosition, depth: number): JsonValue {
    if (node === null) return null;
    if (this.yaml.isAlias(node)) return this.expand(node.source, node);
    const values = this.values++;
    const characters = this.characters;
    const value = this.convertContent(node, position, depth);
    const anchor = (node as { anchor?: string }).anchor;
    if (anchor !== undefined && anchor !== "") {
      const size = { values: this.values - values, characters: this.characters - characters };
      this.anchors.set(anchor, { value, ...size });
    }
    return value;
  }

  private convertContent(node: Node, position: ValuePosition, depth: number): JsonValue {
    if (this.yaml.isScalar(node)) return this.convertScalar(node);
    if (depth >= this.maxDepth)
      throw this.fault(node, `arrays and objects are nested deeper than ${this.maxDepth}`);
    if (this.yaml.isMap(node)) return this.convertMap(node, position, depth);
    if (!this.yaml.isSeq(node)) throw this.fault(node, "a value is expected here");
    return node.items.map((item, index) =>
      this.convert(item as Node | null, { parent: position, step: index }, depth + 1),
    );
  }

  private convertMap(map: YAMLMap, position: ValuePosition, depth: number): JsonObject {
    const object: JsonObject = {};
    const merges: JsonValue[] = [];
    this.addPairs(object, merges, map, position, depth);
    this.addMerged(object, merges, map);
    return object;
  }

  /** Adds the members of a mapping to an object, and the values of its merge keys to `merges`. */
  private addPairs(
    object: JsonObject,
    merges: JsonValue[],
    map: YAMLMap,
    position: ValuePosition,
    depth: number,
  ): void {
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      if (isMergeKey(pair.key)) {
        merges.push(this.convert(pair.value, position, depth));
        continue;
      }
      const name = this.memberName(object, pair.key, map, position);
      setMember(object, name, this.convert(pair.value, { parent: position, step: name }, depth + 1));
    }
  }

  /** Adds members that an object doesn't have from the values of its merge keys. */
  private addMerged(object: JsonObject, merges: readonly JsonValue[], map: Node): void {
    for (const source of merges.flat()) {
      if (!isObject(source)) throw this.fault(map, "<< merges only mappings");
      for (const [name, value] of Object.entries(source)) {
        if (!Object.hasOwn(object, name)) setMember(object, name, value);
      }
    }
  }

  /** Returns the name of a member; records it if the object has the member already. */
  private memberName(object: JsonObject, key: Node | null, map: Node, position: ValuePosition): string {
    const name = this.name(key, map);
    if (Object.hasOwn(object, name)) this.duplicates.add(position, name);
    return name;
  }

  /**
   * Composes and converts a block collection in parts, and yields to the event loop between them. Anchors have the same meaning as in
   * {@link convert}, because parts are converted in order.
   *
   * @param end offset of the end of the collection in the text.
   */
  private convertLarge(
    token: BlockToken,
    end: number,
    position: ValuePosition,
    depth: number,
  ): Promise<JsonValue> {
    if (depth >= this.maxDepth)
      throw faultAt(this.text, token.offset, `arrays and objects are nested deeper than ${this.maxDepth}`);
    this.values++;
    return token.type === "block-map"
      ? this.convertLargeMap(token, end, position, depth)
      : this.convertLargeSequence(token, end, position, depth);
  }

  private async convertLargeMap(
    token: BlockToken,
    end: number,
    position: ValuePosition,
    depth: number,
  ): Promise<JsonObject> {
    const object: JsonObject = {};
    const merges: JsonValue[] = [];
    let map: YAMLMap | undefined;
    for (const { collection, large } of partsOf(token, end)) {
      map = (await this.compose(collection)) as YAMLMap;
      if (large === undefined) {
        this.addPairs(object, merges, map, position, depth);
        continue;
      }
      const [{ key }] = map.items as [Pair<Node>];
      if (isMergeKey(key)) {
        merges.push(await this.convertLarge(large.value, large.end, position, depth));
        continue;
      }
      const name = this.memberName(object, key, map, position);
      const place = { parent: position, step: name };
      setMember(object, name, await this.convertLarge(large.value, large.end, place, depth + 1));
    }
    if (map !== undefined) this.addMerged(object, merges, map);
    return object;
  }

  private async convertLargeSequence(
    token: BlockToken,
    end: number,
    position: ValuePosition,
    depth: number,
  ): Promise<JsonValue[]> {
    const items: JsonValue[] = [];
    for (const { collection, large } of partsOf(token, end)) {
      const sequence = (await this.compose(collection)) as YAMLSeq<Node | null>;
      const nextPosition = (): ValuePosition => ({ parent: position, step: items.length });
      if (large === undefined)
        for (const item of sequence.items) items.push(this.convert(item, nextPosition(), depth + 1));
      else items.push(await this.convertLarge(large.value, large.end, nextPosition(), depth + 1));
    }
    return items;
  }

  /** Composes a block collection as a document of its own; yields to the event loop if it is due. */
  private async compose(collection: BlockToken): Promise<Node | null> {
    await this.yieldIfDue();
    this.checkUndivided(collection);
    const composer = this.newComposer();
    const token: CST.Document = { type: "document", offset: collection.offset, start: [], value: collection };
    const [document] = [...composer.next(token), ...composer.end()];
    return document!.contents;
  }

  private name(key: Node | null, map: Node): string {
    const value = this.yaml.isScalar(key) || this.yaml.isAlias(key) ? this.convert(key, root, 0) : undefined;
    if (value === undefined || value === null || typeof value === "object") {
      throw this.fault(key ?? map, "the name of a member must be a string, a number or a boolean");
    }
    return String(value);
  }

  private convertScalar(node: Scalar): JsonValue {
    const source = String(node.value ?? "");
    this.characters += source.length;
    try {
      if (node.type === "QUOTE_DOUBLE") checkEscapes(this.text.slice(node.range?.[0], node.range?.[1]));
      if (node.tag !== undefined) return resolveTagged(node.tag, source);
      return node.type === undefined || node.type === "PLAIN" ? resolvePlain(source) : source;
    } catch (error) {
      if (error instanceof ScalarFault) throw this.fault(node, error.message);
      throw error;
    }
  }

  /** Returns a copy of the anchor's value, so that the result has no shared parts. */
  private expand(anchor: string, node: Node): JsonValue {
    const anchored = this.anchors.get(anchor);
    if (anchored === undefined) throw this.fault(node, `alias *${anchor} has no anchor &${anchor} before it`);
    this.values += anchored.values;
    this.characters += anchored.characters;
    this.aliasedValues += anchored.values;
    this.aliasedCharacters += anchored.characters;
    if (this.aliasedValues > maxAliasedValues || this.aliasedCharacters > maxAliasedCharacters) {
      throw this.fault(node, "aliases expand to too many values");
    }
    return deepClone(anchored.value);
  }

  private fault(node: Node, problem: string): SyntaxFault {
    return faultAt(this.text, node.range?.[0] ?? 0, problem);
  }
}

function isMergeKey(key: Node | null): boolean {
  const scalar = key as Scalar | null;
  return scalar?.value === "<<" && scalar.type === "PLAIN" && scalar.tag === undefined;
}

function isBlank(document: Document.Parsed<ParsedNode>): boolean {
  const contents = document.contents as ParsedNode | null;
  return contents === null || ("source" in contents && contents.source === "" && contents.tag === undefined);
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
