import { decodeJson } from "../../base/json/decode.ts";
import type { JsonObject } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import type { WorkspacePreviewResult } from "../../kinds/tenancy/workspace-preview.ts";
import type { Operation } from "../../kinds/transactions/transaction.ts";
import type { OperationOutcome } from "../../resources/branches/preview-changes.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import { keyOf } from "../../resources/registry/registry.ts";
import { revisionOf } from "../../storage/entry.ts";
import type { Revision } from "../../storage/store.ts";
import type { ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import type { OperationAnswer } from "../transactions/operation-exchange.ts";
import { namedBy, operationRequest, type OperationRequest } from "../transactions/operation-request.ts";
import { runOperation } from "../transactions/run-operation.ts";

/** Kinds with which other objects can be created only when controllers have reacted to them. */
const preparingKinds: ReadonlySet<string> = new Set([CustomResourceDefinition.name, Namespace.name]);

/** The results of the operations of a preview. */
export interface PreviewedOperations {
  readonly results: readonly WorkspacePreviewResult[];
  /** The outcomes of those that changed something, by key. */
  readonly outcomes: ReadonlyMap<string, OperationOutcome>;
}

/** How the operations of a preview are run. */
interface PreviewRun {
  /** The service of the branch. */
  readonly service: HttpService;
  readonly request: ResourceContext;
  /** The revision before the first operation. */
  readonly start: Revision;
  /** Namespace of objects that name none. */
  readonly namespace: string;
  /** Resolves when the controllers have reacted to what was written. */
  settle(): Promise<unknown>;
  /** Resolves when the next step may be done. */
  pause(): Promise<void>;
}

/** Runs the operations of a preview one after the other, each as a request of its own; those after a failed one too. */
export async function runPreviewed(
  run: PreviewRun,
  operations: readonly Operation[],
): Promise<PreviewedOperations> {
  const results: WorkspacePreviewResult[] = [];
  const outcomes = new Map<string, OperationOutcome>();
  let isUnprepared = false;
  for (const operation of operations) {
    await run.pause();
    const { kind } = namedBy(operation);
    const preparesOthers = preparingKinds.has(kind);
    if (isUnprepared && !preparesOthers) await run.settle();
    isUnprepared = preparesOthers;
    let text = `${operation.verb} ${kind}`.trimEnd();
    try {
      const own = await operationRequest(operation, run.service.engine.registry, run.namespace);
      ({ text } = own);
      const answer = await runOperation({ ...run.service, compresses: false }, run.request, own);
      note(outcomes, operation, own, answer, run.start);
      const { code, warnings } = answer;
      results.push({ operation: text, code, ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) });
    } catch (thrown) {
      const error = storeFailure(thrown);
      if (!(error instanceof StatusError)) throw error;
      results.push({ operation: text, code: error.code, message: error.message });
    }
  }
  return { results, outcomes };
}

function note(
  outcomes: Map<string, OperationOutcome>,
  { verb }: Operation,
  { resource, namespace }: OperationRequest,
  answer: OperationAnswer,
  start: Revision,
): void {
  const { metadata, details } = decodeJson(Buffer.from(answer.body)).value as JsonObject & {
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
    readonly details?: { readonly name?: string };
  };
  const key = keyOf(resource, namespace, metadata?.name ?? details?.name ?? "");
  if (verb === "delete") {
    outcomes.set(key, { verb: "delete" });
    return;
  }
  const revision = revisionOf(Number(metadata?.resourceVersion ?? 0));
  // The object is as it was.
  if (revision > start) outcomes.set(key, { verb: "write", revision });
}
