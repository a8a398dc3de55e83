import {
  certificateRequestFault,
  requestedCertificate,
  type RequestedCertificate,
} from "../../base/certificates/certificate-request.ts";
import { pemOfBase64 } from "../../base/certificates/pem.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import type { ControllerContext, QueueDependencies, RunningController } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";

type Request = CertificateSigningRequest;
/** A condition of a request: Approved, Denied or Failed. */
export type RequestCondition = NonNullable<NonNullable<Request["status"]>["conditions"]>[number];

/** Dependencies of {@link reconcileRequests} and {@link writeStatus}. */
export type RequestDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "informer">;

/** Returns the condition of this type if its status is True. */
export function conditionOf(
  request: Request,
  type: "Approved" | "Denied" | "Failed",
): RequestCondition | undefined {
  return request.status?.conditions?.find((one) => one.type === type && one.status === "True");
}

/** Returns the issued certificate (PEM); undefined if there is none. */
export function issuedCertificate(request: Request): string | undefined {
  const { certificate = "" } = request.status ?? {};
  return certificate === "" ? undefined : pemOfBase64(certificate);
}

/**
 * Returns what is wrong with the PKCS#10 request of an object; undefined if it is valid. Objects that an older release
 * stored may be invalid.
 */
export function requestFault(request: Request): string | undefined {
  return certificateRequestFault(pemOf(request));
}

/**
 * Parses the PKCS#10 request.
 *
 * @throws {Error} it can't be parsed; never if {@link requestFault} returns undefined.
 */
export function parseRequest(request: Request): RequestedCertificate {
  return requestedCertificate(pemOf(request));
}

const pemOf = ({ spec }: Request): string => pemOfBase64(spec.request ?? "");

/**
 * Reconciles each certificate request when it is created and whenever it changes, one at a time. If the kind isn't
 * served, it does nothing.
 *
 * @param reconcile returns after how many milliseconds to reconcile the request again if it doesn't change before;
 *   undefined for never. If it throws, it is retried.
 */
export function reconcileRequests(
  context: RequestDependencies,
  controller: string,
  reconcile: (request: Request) => Promise<number | undefined>,
): RunningController {
  const { registry, clock } = context;
  if (!registry.serves(CertificateSigningRequest)) return { close: () => Promise.resolve() };
  const requests = context.informer(registry.require(CertificateSigningRequest));
  const queue = new WorkQueue(
    clock,
    async (name) => {
      const request = requests.get("", name) as Request | undefined;
      const delayMs = request === undefined ? undefined : await reconcile(request);
      if (delayMs !== undefined) queue.addLater(name, delayMs);
    },
    (name, error) => context.failed(controller, name, error),
    context.queueObserver?.(controller),
  );
  requests.listen((_key, object) => {
    if (object !== undefined) queue.add(object.metadata.name!);
  });
  return { close: () => queue.close() };
}

/**
 * Writes the status of a request through a subresource. If the request was changed meanwhile, nothing is written, and
 * it is reconciled again.
 */
export async function writeStatus(
  { client }: RequestDependencies,
  request: Request,
  subresource: "approval" | "status",
  status: NonNullable<Request["status"]>,
): Promise<void> {
  const object = { ...request, status: { ...request.status, ...status } };
  await unlessRaced(() => client.update(object, subresource));
}

/** Returns the conditions of a request with one more, whose status is True. */
export function withCondition(
  request: Request,
  type: "Approved" | "Failed",
  reason: string,
  message: string,
): { conditions: RequestCondition[] } {
  const condition = { type, status: "True", reason, message } as RequestCondition;
  return { conditions: [...(request.status?.conditions ?? []), condition] };
}
