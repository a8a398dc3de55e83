import { decodeJson } from "../../base/json/decode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { RelayedStatusError, StatusError } from "../../base/status-error.ts";
import { jsonOf } from "../../base/json/value.ts";
import type { Operation, Transaction, TransactionStatus } from "../../kinds/transactions/transaction.ts";
import { stagedRevision } from "../../resources/transactions/staged-store.ts";
import { inTransaction } from "../../resources/transactions/transaction.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import type { Revision } from "../../storage/store.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { accountOf, type ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { readPosted, sendPosted } from "./posted-object.ts";
import type { OperationAnswer } from "./operation-exchange.ts";
import { namedBy, operationRequest } from "./operation-request.ts";
import { runOperation } from "./run-operation.ts";

/**
 * POST of a Transaction: each operation is authorized, admitted and validated as if it were sent alone, and sees the ones before it. All
 * are committed at one revision, or none is. The audit event of the request has the operations, without their objects.
 *
 * @throws {StatusError} the error of the first operation that fails; its message and a cause name it.
 */
export async function serveTransaction(service: HttpService, request: ResourceContext): Promise<void> {
  const { engine } = service;
  const posted = await readPosted(service, request, (one) => withoutContents(one as unknown as Transaction));
  const { object, parameters, report } = posted;
  const { dryRun } = parameters;
  const transaction = object as unknown as Transaction;
  const operations = transaction.spec.operations ?? [];
  const committed = await inTransaction(engine, dryRun, (staged) =>
    runOperations({ ...service, engine: staged, compresses: false }, request, operations),
  );
  report.annotate(
    groupAnnotation(engine.vocabulary.groupSuffix, "operations", "transactions"),
    committed.value.map(({ text, answer }) => `${text}: ${answer.code}`).join("; "),
  );
  object["status"] = statusOf(committed.value, committed.revision) as unknown as JsonValue;
  delete object["spec"];
  return sendPosted(service, request, posted);
}

/** Maximum size of the objects in the answer to a transaction. */
const maxResultBytes = 4 * 1024 * 1024;

interface AnsweredOperation {
  readonly text: string;
  readonly answer: OperationAnswer;
}

/** Runs the operations one after the other; between two of them other requests can run. */
async function runOperations(
  service: HttpService,
  request: ResourceContext,
  operations: readonly Operation[],
): Promise<AnsweredOperation[]> {
  const answered: AnsweredOperation[] = [];
  let bytes = 0;
  for (const [index, operation] of operations.entries()) {
    let text = `${operation.verb} ${operation.kind ?? ""}`.trimEnd();
    try {
      const { registry } = service.engine;
      const own = await operationRequest(operation, registry);
      ({ text } = own);
      const answer = await runOperation(service, request, own);
      bytes += answer.body.length;
      // Every operation may answer with the same large object.
      if (bytes > maxResultBytes)
        throw new StatusError("RequestEntityTooLarge", `the results are larger than ${maxResultBytes} bytes`);
      if (request.exchange.expired) throw new StatusError("Timeout", "the transaction did not end in time");
      answered.push({ text, answer });
    } catch (error) {
      throw failureOf(error, index, text);
    }
    await service.turns.longStep(accountOf(request));
  }
  return answered;
}

/** Returns the error of the transaction: that of the operation, which its message and a cause name. */
function failureOf(thrown: unknown, index: number, text: string): unknown {
  const error = storeFailure(thrown);
  if (!(error instanceof StatusError)) return error;
  const message = `operation ${index + 1} (${text}): ${error.message}; nothing was written`;
  if (error instanceof RelayedStatusError) return new RelayedStatusError(message, error.relayed);
  const cause = {
    reason: "" as const,
    message: error.message,
    field: `spec.operations[${index}]`,
  };
  const { details = {} } = error;
  return new StatusError(
    error.reason,
    message,
    { ...details, causes: [cause, ...(details.causes ?? [])] },
    { cause: error.cause },
  );
}

function statusOf(answered: readonly AnsweredOperation[], revision: Revision | undefined): TransactionStatus {
  return {
    ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
    results: answered.map(({ answer: { code, body, warnings } }) => ({
      code,
      object: withRevision(decodeJson(Buffer.from(body)).value, revision),
      ...(warnings.length === 0 ? {} : { warnings }),
    })),
  } as TransactionStatus;
}

const staged = String(stagedRevision);

/** Returns a written object with the revision of the transaction in place of the staged one. */
function withRevision(value: JsonValue, revision: Revision | undefined): JsonValue {
  const { metadata } = value as JsonObject;
  if ((metadata as JsonObject | undefined)?.["resourceVersion"] !== staged) return value;
  const own = { ...(metadata as JsonObject) };
  if (revision === undefined) delete own["resourceVersion"];
  else own["resourceVersion"] = String(revision);
  return { ...(value as JsonObject), metadata: own };
}

/** The transaction without the objects and patches, which may be secret: an audit policy can't select them here by their resource. */
function withoutContents(transaction: Transaction): JsonObject {
  const operations = (transaction.spec as Partial<Transaction["spec"]> | undefined)?.operations ?? [];
  const named = operations.map(({ object, patch: _patch, ...operation }) => ({
    ...operation,
    ...namedBy({ object, ...operation }),
  }));
  return { ...jsonOf(transaction), spec: { operations: jsonOf(named) } } as JsonObject;
}
