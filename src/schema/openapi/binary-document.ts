import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/*
 * An OpenAPI 2.0 document in protobuf: the message `openapi.v2.Document` of `OpenAPIv2.proto` (google/gnostic), which older
 * versions of kubectl request. The tables contain the members of the documents of this server and of extension servers; any other
 * member throws.
 */

/** Encodes the document without paths and definitions. */
export function documentHead(head: object): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, documentMessage, head as JsonObject);
  return writer.finish();
}

/** Field numbers of paths and definitions; both messages consist of name-value pairs. */
const mapNumbers = { paths: 8, definitions: 9 } as const;

/**
 * Encodes the field header before the pairs of paths or definitions.
 *
 * @param bytes total size of the pairs.
 */
export function mapHead(map: keyof typeof mapNumbers, bytes: number): Uint8Array {
  return new BinaryWriter().tag(mapNumbers[map], WireType.LengthDelimited).uint32(bytes).finish();
}

/** Encodes a path with its operations. */
export function pathPair(name: string, item: unknown): Buffer {
  return encodePair(2, pathMessage, name, item);
}

/** Encodes a definition. */
export function definitionPair(name: string, definition: unknown): Buffer {
  return encodePair(1, schemaMessage, name, definition);
}

function encodePair(number: number, type: Message, name: string, value: unknown): Buffer {
  const writer = new BinaryWriter();
  writeNested(writer, number, () =>
    writeNamed(writer, name, () => writeMessage(writer, type, value as JsonObject)),
  );
  return Buffer.from(writer.finish());
}

type JsonObject = Readonly<Record<string, unknown>>;
type FieldWriter = (writer: BinaryWriter, value: unknown) => void;

/** How a message is written: a field writer for each member of the JSON form. */
interface Message {
  readonly members: Readonly<Record<string, FieldWriter>>;
  /** Field number of the list of extensions (members with prefix `x-`). */
  readonly extensions: number | undefined;
}

function writeMessage(writer: BinaryWriter, { members, extensions }: Message, value: JsonObject): void {
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (extensions !== undefined && name.startsWith("x-")) {
      writeNested(writer, extensions, () => writeNamed(writer, name, () => writeAny(writer, member)));
      continue;
    }
    const write = members[name];
    if (write === undefined)
      throw new Error(`the protobuf document has no field for ${JSON.stringify(name)}`);
    write(writer, member);
  }
}

function writeNested(writer: BinaryWriter, number: number, write: () => void): void {
  writer.tag(number, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

function writeNamed(writer: BinaryWriter, name: string, write: () => void): void {
  writer.tag(1, WireType.LengthDelimited).string(name);
  writeNested(writer, 2, write);
}

/** Writes a value of any type as YAML; JSON is valid YAML. */
function writeAny(writer: BinaryWriter, value: unknown): void {
  writer.tag(2, WireType.LengthDelimited).string(`${encodeJson(value as JsonValue)}\n`);
}

function text(number: number): FieldWriter {
  return (writer, value) => {
    writer.tag(number, WireType.LengthDelimited).string(value as string);
  };
}

function texts(number: number): FieldWriter {
  const one = text(number);
  return (writer, value) => (value as string[]).forEach((item) => one(writer, item));
}

function flag(number: number): FieldWriter {
  return (writer, value) => {
    writer.tag(number, WireType.Varint).bool(value as boolean);
  };
}

function double(number: number): FieldWriter {
  return (writer, value) => {
    writer.tag(number, WireType.Bit64).double(Number(value));
  };
}

function integer(number: number): FieldWriter {
  return (writer, value) => {
    writer.tag(number, WireType.Varint).int64(value as number | bigint);
  };
}

function any(number: number): FieldWriter {
  return (writer, value) => writeNested(writer, number, () => writeAny(writer, value));
}

/** Writes a field inside of wrapper messages: `wrapped([22, 1], …)` is field 1 of the message in field 22. */
function wrapped(numbers: readonly number[], write: FieldWriter): FieldWriter {
  const [first, ...rest] = numbers;
  if (first === undefined) return write;
  const inner = wrapped(rest, write);
  return (writer, value) => writeNested(writer, first, () => inner(writer, value));
}

function message(type: Message): FieldWriter {
  return (writer, value) => writeMessage(writer, type, value as JsonObject);
}

/** Writes a schema, which may contain schemas. */
function schema(writer: BinaryWriter, value: unknown): void {
  writeMessage(writer, schemaMessage, value as JsonObject);
}

function each(write: FieldWriter): FieldWriter {
  return (writer, value) => (value as unknown[]).forEach((item) => write(writer, item));
}

/** Writes a map as a list of pairs. */
function pairs(number: number, write: FieldWriter): FieldWriter {
  return (writer, value) => {
    for (const [name, item] of Object.entries(value as JsonObject)) {
      writeNested(writer, number, () => writeNamed(writer, name, () => write(writer, item)));
    }
  };
}

/** Writes a schema as field 1, or a boolean as field 2. */
function schemaOrFlag(writer: BinaryWriter, value: unknown): void {
  if (typeof value === "boolean") flag(2)(writer, value);
  else writeNested(writer, 1, () => schema(writer, value));
}

const externalDocs: Message = { members: { description: text(1), url: text(2) }, extensions: 3 };

const schemaMessage: Message = {
  members: {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: any(5),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: flag(8),
    minimum: double(9),
    exclusiveMinimum: flag(10),
    maxLength: integer(11),
    minLength: integer(12),
    pattern: text(13),
    maxItems: integer(14),
    minItems: integer(15),
    uniqueItems: flag(16),
    maxProperties: integer(17),
    minProperties: integer(18),
    required: texts(19),
    enum: each(any(20)),
    additionalProperties: wrapped([21], schemaOrFlag),
    type: wrapped([22], text(1)),
    items: wrapped([23, 1], schema),
    allOf: each(wrapped([24], schema)),
    properties: wrapped([25], pairs(1, schema)),
    discriminator: text(26),
    readOnly: flag(27),
    externalDocs: wrapped([29], message(externalDocs)),
    example: any(30),
  },
  extensions: 31,
};

const bodyParameter = {
  members: {
    description: text(1),
    name: text(2),
    in: text(3),
    required: flag(4),
    schema: wrapped([5], schema),
  },
  extensions: 6,
};

/** Returns the members of a value that is no schema, which have consecutive numbers beginning with that of `type`. */
function primitiveMembers(first: number): Record<string, FieldWriter> {
  return {
    type: text(first),
    format: text(first + 1),
    items: wrapped([first + 2], (writer, value) => writeMessage(writer, primitiveItems, value as JsonObject)),
    collectionFormat: text(first + 3),
    default: any(first + 4),
    maximum: double(first + 5),
    exclusiveMaximum: flag(first + 6),
    minimum: double(first + 7),
    exclusiveMinimum: flag(first + 8),
    maxLength: integer(first + 9),
    minLength: integer(first + 10),
    pattern: text(first + 11),
    maxItems: integer(first + 12),
    minItems: integer(first + 13),
    uniqueItems: flag(first + 14),
    enum: each(any(first + 15)),
    multipleOf: double(first + 16),
  };
}

/** Array items that are no schema, which may contain such items. */
const primitiveItems: Message = { members: primitiveMembers(1), extensions: 18 };

/** Returns the message of a parameter outside of the body; some field numbers depend on its location. */
function plainParameter(typeNumber: 5 | 6): Message {
  const members = {
    required: flag(1),
    in: text(2),
    description: text(3),
    name: text(4),
    ...(typeNumber === 6 ? { allowEmptyValue: flag(5) } : {}),
    ...primitiveMembers(typeNumber),
  };
  return { members, extensions: typeNumber + 17 };
}

const pathParameter = plainParameter(5);
const queryParameter = plainParameter(6);

/** The fields of parameters outside of the body, by location. */
const plainParameters: ReadonlyMap<string, FieldWriter> = new Map([
  ["header", wrapped([1], message(pathParameter))],
  ["formData", wrapped([2], message(queryParameter))],
  ["query", wrapped([3], message(queryParameter))],
  ["path", wrapped([4], message(pathParameter))],
]);

/** Writes a parameter, wrapped by its location. */
const parameter: FieldWriter = (writer, value) => {
  const location = (value as { in: string }).in;
  if (location === "body") return wrapped([1, 1], message(bodyParameter))(writer, value);
  const plain = plainParameters.get(location);
  if (plain === undefined)
    throw new Error(`the protobuf document has no parameter in ${JSON.stringify(location)}`);
  wrapped([1, 2], plain)(writer, value);
};

const headerMessage: Message = {
  members: { ...primitiveMembers(1), description: text(18) },
  extensions: 19,
};

const responseMessage = {
  members: {
    description: text(1),
    schema: wrapped([2, 1], schema),
    headers: wrapped([3], pairs(1, message(headerMessage))),
    examples: wrapped([4], pairs(1, writeAny)),
  },
  extensions: 5,
};

/** The alternatives of which a request needs one. */
const security = pairs(1, texts(1));

const operationMessage = {
  members: {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    externalDocs: wrapped([4], message(externalDocs)),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: each(wrapped([8], parameter)),
    responses: wrapped([9], pairs(1, wrapped([1], message(responseMessage)))),
    schemes: texts(10),
    deprecated: flag(11),
    security: each(wrapped([12], security)),
  },
  extensions: 13,
};

const pathMessage = {
  members: {
    get: wrapped([2], message(operationMessage)),
    put: wrapped([3], message(operationMessage)),
    post: wrapped([4], message(operationMessage)),
    delete: wrapped([5], message(operationMessage)),
    options: wrapped([6], message(operationMessage)),
    head: wrapped([7], message(operationMessage)),
    patch: wrapped([8], message(operationMessage)),
    parameters: each(wrapped([9], parameter)),
  },
  extensions: 10,
};

const infoMessage = { members: { title: text(1), version: text(2) }, extensions: 7 };

const apiKeyMessage = {
  members: { type: text(1), name: text(2), in: text(3), description: text(4) },
  extensions: 5,
};

const documentMessage = {
  members: {
    swagger: text(1),
    info: wrapped([2], message(infoMessage)),
    security: each(wrapped([12], security)),
    securityDefinitions: wrapped([13], pairs(1, wrapped([2], message(apiKeyMessage)))),
  },
  extensions: 16,
};
