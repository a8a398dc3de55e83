import {
  certificateRequestFault,
  requestedCertificate,
  type RequestedCertificate,
} from "../../base/certificate-request.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { unlessRaced } from "../../resources/races.ts";
import type { ControllerContext, QueueDependencies, RunningController } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";

type Request = CertificateSigningRequest;
/** A decision about a request, or that it failed. */
export type RequestCondition = NonNullable<NonNullable<Request["status"]>["conditions"]>[number];

/** Dependencies of {@link reconcileRequests} and {@link writeStatus}. */
export type RequestDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "informer">;

/** The condition of a type that holds; undefined where there is none. */
export function conditionOf(
  request: Request,
  type: "Approved" | "Denied" | "Failed",
): RequestCondition | undefined {
  return request.status?.conditions?.find((one) => one.type === type && one.status === "True");
}

/** The certificate that was issued (PEM); undefined where none was. */
export function issuedCertificate(request: Request): string | undefined {
  const { certificate = "" } = request.status ?? {};
  return certificate === "" ? undefined : decoded(certificate);
}

/**
 * What is wrong with the PKCS#10 request of an object; undefined where it is right. Objects that an older release stored can be
 * wrong, though nobody could create them now.
 */
export function requestFault(request: Request): string | undefined {
  return certificateRequestFault(pemOf(request));
}

/**
 * What a request asks for.
 *
 * @throws {Error} it can't be read; never where {@link requestFault} finds nothing wrong.
 */
export function askedBy(request: Request): RequestedCertificate {
  return requestedCertificate(pemOf(request));
}

const pemOf = ({ spec }: Request): string => decoded(spec.request ?? "");

const decoded = (base64: string) => Buffer.from(base64, "base64").toString("latin1");

/**
 * Reconciles each certificate request when it is made and whenever it changes, one at a time. Where the kind isn't served,
 * nothing is done.
 *
 * @param reconcile gives after how many milliseconds to look at it again, if nothing changes before; undefined: not at all.
 *   Throwing means that it is to be tried again.
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
      const againMs = request === undefined ? undefined : await reconcile(request);
      if (againMs !== undefined) queue.addLater(name, againMs);
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
 * Writes the status of a request through a subresource, unless it was changed meanwhile: then it is reconciled again.
 */
export async function writeStatus(
  { client }: RequestDependencies,
  request: Request,
  subresource: "approval" | "status",
  status: NonNullable<Request["status"]>,
): Promise<void> {
  const object = { ...request, status: { ...request.status, ...status } };
  await unlessRaced(() =>
    client.update(object as unknown as Parameters<typeof client.update>[0], subresource),
  );
}

/** The conditions of a request and one more, which holds. */
export function withCondition(
  request: Request,
  type: "Approved" | "Failed",
  reason: string,
  message: string,
): { conditions: RequestCondition[] } {
  const condition = { type, status: "True", reason, message } as RequestCondition;
  return { conditions: [...(request.status?.conditions ?? []), condition] };
}
