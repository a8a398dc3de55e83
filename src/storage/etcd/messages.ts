/**
 * The messages of etcd's v3 API that this engine uses, in protobuf. Fields that it doesn't need are neither encoded nor decoded.
 * Field numbers are those of etcd.
 */
import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { bytesField, eachField, type Encode, finished, nested } from "../protobuf-fields.ts";

function int64(reader: BinaryReader): number {
  return Number(reader.int64());
}

function numberField(writer: BinaryWriter, field: number, value: number | undefined): void {
  if (value !== undefined) writer.tag(field, WireType.Varint).int64(value);
}

function flagField(writer: BinaryWriter, field: number, value: boolean | undefined): void {
  if (value === true) writer.tag(field, WireType.Varint).bool(true);
}

export interface KeyValue {
  key: Uint8Array;
  modRevision: number;
  /** 1 after the create, incremented by each update. */
  version: number;
  value: Uint8Array;
}

const nothing = new Uint8Array(0);

function decodeKeyValue(bytes: Uint8Array): KeyValue {
  const message: KeyValue = { key: nothing, modRevision: 0, version: 0, value: nothing };
  eachField(bytes, (field, reader, wire) => {
    if (field === 1) message.key = reader.bytes();
    else if (field === 3) message.modRevision = int64(reader);
    else if (field === 4) message.version = int64(reader);
    else if (field === 5) message.value = reader.bytes();
    else reader.skip(wire, field);
  });
  return message;
}

function decodeHeaderRevision(bytes: Uint8Array): number {
  let revision = 0;
  eachField(bytes, (field, reader, wire) => {
    if (field === 3) revision = int64(reader);
    else reader.skip(wire, field);
  });
  return revision;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  /** Undefined for a single key. */
  readonly rangeEnd?: Uint8Array | undefined;
  readonly limit?: number | undefined;
  readonly revision?: number | undefined;
  readonly countOnly?: boolean | undefined;
}

const encodeRangeInto: Encode<RangeRequest> = (message, writer) => {
  bytesField(writer, 1, message.key);
  bytesField(writer, 2, message.rangeEnd);
  numberField(writer, 3, message.limit);
  numberField(writer, 4, message.revision);
  flagField(writer, 9, message.countOnly);
};

export function encodeRangeRequest(message: RangeRequest): Buffer {
  return finished(message, encodeRangeInto);
}

export interface RangeResponse {
  kvs: KeyValue[];
  more: boolean;
  count: number;
}

export function decodeRangeResponse(bytes: Uint8Array): RangeResponse {
  const message: RangeResponse = { kvs: [], more: false, count: 0 };
  eachField(bytes, (field, reader, wire) => {
    if (field === 2) message.kvs.push(decodeKeyValue(reader.bytes()));
    else if (field === 3) message.more = reader.bool();
    else if (field === 4) message.count = int64(reader);
    else reader.skip(wire, field);
  });
  return message;
}

export type RequestOp =
  | { readonly range: RangeRequest }
  | { readonly put: { readonly key: Uint8Array; readonly value: Uint8Array } }
  /** Returns the deleted value. */
  | { readonly remove: { readonly key: Uint8Array } };

const encodeOpInto: Encode<RequestOp> = (op, writer) => {
  if ("range" in op) nested(writer, 1, op.range, encodeRangeInto);
  else if ("put" in op) {
    nested(writer, 2, op.put, ({ key, value }) => {
      bytesField(writer, 1, key);
      bytesField(writer, 2, value);
    });
  } else {
    nested(writer, 3, op.remove, ({ key }) => {
      bytesField(writer, 1, key);
      flagField(writer, 3, true);
    });
  }
};

/** True if the key's modification revision is this one; 0 if the key doesn't exist. */
export interface TxnExpectation {
  readonly key: Uint8Array;
  readonly modRevision: number;
}

export interface TxnRequest {
  readonly expect?: TxnExpectation | undefined;
  /** Further conditions, which must also be true. */
  readonly conditions?: readonly TxnExpectation[] | undefined;
  readonly success: readonly RequestOp[];
  readonly failure?: readonly RequestOp[] | undefined;
}

const compareMod = 2;

const encodeExpectationInto: Encode<TxnExpectation> = ({ key, modRevision }, writer) => {
  writer.tag(2, WireType.Varint).int32(compareMod);
  bytesField(writer, 3, key);
  numberField(writer, 6, modRevision);
};

export function encodeTxnRequest(message: TxnRequest): Buffer {
  return finished(message, ({ expect, conditions = [], success, failure = [] }, writer) => {
    for (const expectation of [expect, ...conditions]) {
      if (expectation !== undefined) nested(writer, 1, expectation, encodeExpectationInto);
    }
    for (const op of success) nested(writer, 2, op, encodeOpInto);
    for (const op of failure) nested(writer, 3, op, encodeOpInto);
  });
}

export interface TxnResponse {
  revision: number;
  succeeded: boolean;
  /** One result per operation: the values of a range or the deleted values. */
  results: RangeResponse[];
}

export function decodeTxnResponse(bytes: Uint8Array): TxnResponse {
  const message: TxnResponse = { revision: 0, succeeded: false, results: [] };
  eachField(bytes, (field, reader, wire) => {
    if (field === 1) message.revision = decodeHeaderRevision(reader.bytes());
    else if (field === 2) message.succeeded = reader.bool();
    else if (field === 3) message.results.push(decodeResponseOp(reader.bytes()));
    else reader.skip(wire, field);
  });
  return message;
}

function decodeResponseOp(bytes: Uint8Array): RangeResponse {
  let result: RangeResponse = { kvs: [], more: false, count: 0 };
  eachField(bytes, (field, reader, wire) => {
    if (field === 1) result = decodeRangeResponse(reader.bytes());
    else if (field === 3) result.kvs = decodeDeleted(reader.bytes());
    else reader.skip(wire, field);
  });
  return result;
}

function decodeDeleted(bytes: Uint8Array): KeyValue[] {
  const deleted: KeyValue[] = [];
  eachField(bytes, (field, reader, wire) => {
    if (field === 3) deleted.push(decodeKeyValue(reader.bytes()));
    else reader.skip(wire, field);
  });
  return deleted;
}

export function encodeCompactionRequest(revision: number): Buffer {
  return finished(revision, (value, writer) => numberField(writer, 1, value));
}

const noSpace = 1;

/** Whether the response contains an alarm for lack of space. */
export function decodeSpaceAlarm(bytes: Uint8Array): boolean {
  let isFull = false;
  eachField(bytes, (field, reader, wire) => {
    if (field !== 2) return reader.skip(wire, field);
    eachField(reader.bytes(), (inner, alarm, innerWire) => {
      if (inner === 2) isFull ||= alarm.int32() === noSpace;
      else alarm.skip(innerWire, inner);
    });
  });
  return isFull;
}

/** Encodes a request for all events from `startRevision` on, with previous values. */
export interface WatchCreateRequest {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly startRevision: number;
}

export function encodeWatchCreateRequest(message: WatchCreateRequest): Buffer {
  return finished(message, (_, writer) => {
    nested(writer, 1, message, ({ key, rangeEnd, startRevision }) => {
      bytesField(writer, 1, key);
      bytesField(writer, 2, rangeEnd);
      numberField(writer, 3, startRevision);
      flagField(writer, 6, true);
    });
  });
}

export interface WatchEvent {
  deleted: boolean;
  kv: KeyValue;
  previous: KeyValue | undefined;
}

export interface WatchResponse {
  created: boolean;
  canceled: boolean;
  /** Greater than 0 if the watch was rejected because it starts before this revision. */
  compactRevision: number;
  cancelReason: string;
  events: WatchEvent[];
}

export function decodeWatchResponse(bytes: Uint8Array): WatchResponse {
  const message: WatchResponse = {
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: "",
    events: [],
  };
  eachField(bytes, (field, reader, wire) => {
    if (field === 3) message.created = reader.bool();
    else if (field === 4) message.canceled = reader.bool();
    else if (field === 5) message.compactRevision = int64(reader);
    else if (field === 6) message.cancelReason = reader.string();
    else if (field === 11) message.events.push(decodeWatchEvent(reader.bytes()));
    else reader.skip(wire, field);
  });
  return message;
}

function decodeWatchEvent(bytes: Uint8Array): WatchEvent {
  let deleted = false;
  let kv: KeyValue | undefined;
  let previous: KeyValue | undefined;
  eachField(bytes, (field, reader, wire) => {
    if (field === 1) deleted = reader.int32() === 1;
    else if (field === 2) kv = decodeKeyValue(reader.bytes());
    else if (field === 3) previous = decodeKeyValue(reader.bytes());
    else reader.skip(wire, field);
  });
  return { deleted, kv: kv ?? decodeKeyValue(nothing), previous };
}
