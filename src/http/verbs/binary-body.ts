import type { JsonDocument } from "../../base/json/exact.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { DeleteOptionsBody } from "../../kinds/meta/delete-options.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { structInRelease } from "../../schema/kind-in-release.ts";
import { decodeMessage } from "../../schema/protobuf/decode-message.ts";
import { hasProtobufEncoding } from "../../schema/protobuf/numbered.ts";
import { openEnvelope } from "../../schema/protobuf/envelope.ts";
import { ProtobufFault } from "../../schema/protobuf/protobuf-fault.ts";

/**
 * Decodes a binary body, by the type that its envelope names, to its JSON form.
 *
 * @throws {StatusError} BadRequest if it can't be decoded or the type doesn't exist.
 */
export function decodeBinary(bytes: Uint8Array, registry: Registry): JsonDocument {
  try {
    const { apiVersion, kind, message } = openEnvelope(bytes);
    const type =
      kind === "DeleteOptions"
        ? structInRelease(DeleteOptionsBody, registry.release)
        : registry.bodyKind(apiVersion, kind)?.type;
    if (type === undefined) {
      throw new ProtobufFault(
        `there is no kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    }
    if (!hasProtobufEncoding(type))
      throw new StatusError(
        "UnsupportedMediaType",
        `${kind} has no binary form; send it as application/json`,
      );
    const value = { ...decodeMessage(type, message), apiVersion, kind } as JsonValue;
    return { value, duplicates: [] };
  } catch (error) {
    if (!(error instanceof ProtobufFault)) throw error;
    throw new StatusError("BadRequest", `the body can't be read: ${error.message}`);
  }
}
