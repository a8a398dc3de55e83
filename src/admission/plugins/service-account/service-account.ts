import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { mirrorAnnotation } from "../../../kinds/core/pod/annotation-rules.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { isOf } from "../../admitted-types.ts";
import type { AdmissionPlugin } from "../../admission-chain.ts";
import { forbidden } from "../../forbidden.ts";
import { podOf } from "../../pod-spec.ts";
import { defaultAccount, type AccountReader } from "./account-reader.ts";
import {
  forbiddenEphemeralSecret,
  forbiddenOfMirror,
  forbiddenSecret,
  limitsSecrets,
} from "./secret-references.ts";
import { mountsToken, mountToken } from "./token-volume.ts";
import { declarationOf } from "../../../schema/kind.ts";

/** The account that the mutating phase has read; the validating phase uses it again. */
class AccountState {
  account: ServiceAccount | undefined;
}

/**
 * ServiceAccount: a new pod runs as an existing service account, by default `default`, and gets its token and its image pull
 * secrets. If an annotation of the account restricts secrets, pods and ephemeral containers may use only those that the account
 * lists. Mirror pods have no account and no secrets (spec: conventions 4.13, rulings).
 *
 * @param randomInt returns a random integer of at least 0 and less than its argument.
 */
export function serviceAccount(
  accounts: AccountReader,
  vocabulary: Vocabulary,
  randomInt: (below: number) => number,
): AdmissionPlugin {
  const mirror = mirrorAnnotation({ vocabulary });
  const accountOf = (request: AdmissionRequest): MaybePromise<ServiceAccount> => {
    const { target } = request;
    const pod = podOf(request);
    const name = pod.spec.serviceAccountName ?? "";
    if (name === "") {
      const podName = `${target.namespace}/${pod.metadata.name}`;
      throw forbidden(target, `no service account specified for pod ${podName}`);
    }
    const state = request.effects.state(AccountState);
    if (state.account?.metadata.name === name) return state.account;
    return andThen(accounts.find(target.namespace, name), (account) => {
      if (account === undefined) {
        const missing = `serviceaccount ${JSON.stringify(name)} not found`;
        throw forbidden(target, `error looking up service account ${target.namespace}/${name}: ${missing}`);
      }
      return (state.account = account);
    });
  };
  const isMirror = ({ object }: AdmissionRequest): boolean =>
    object?.metadata.annotations?.[mirror] !== undefined;
  const check = (request: AdmissionRequest): MaybePromise<void> => {
    if (isMirror(request)) return rejectIf(request, forbiddenOfMirror(podOf(request)));
    return andThen(accountOf(request), (account) => {
      if (!limitsSecrets(account, vocabulary)) return;
      rejectIf(request, forbiddenSecret(account, podOf(request).spec));
    });
  };
  const checkEphemeral = (request: AdmissionRequest): MaybePromise<void> =>
    andThen(accountOf(request), (account) => {
      if (!limitsSecrets(account, vocabulary)) return;
      rejectIf(request, forbiddenEphemeralSecret(account, podOf(request).spec));
    });

  return {
    name: "ServiceAccount",
    concerns: (operation, type) =>
      operation === "CREATE"
        ? isOf(type, Pod)
        : operation === "UPDATE" &&
          type.subresource === "ephemeralcontainers" &&
          declarationOf(type.resource.stored.kind) === Pod,
    mutate(request) {
      if (request.operation !== "CREATE") return;
      if (isMirror(request)) return check(request);
      const { spec } = podOf(request);
      if ((spec.serviceAccountName ?? "") === "") {
        spec.serviceAccountName = spec.serviceAccount = defaultAccount;
      }
      return andThen(accountOf(request), (account) => {
        if (mountsToken(account, spec)) mountToken(spec, vocabulary, randomInt);
        fillPullSecrets(spec, account);
        return check(request);
      });
    },
    validate: (request) => (request.operation === "CREATE" ? check(request) : checkEphemeral(request)),
  };
}

function fillPullSecrets(
  spec: ReturnType<typeof podOf>["spec"],
  { imagePullSecrets = [] }: ServiceAccount,
): void {
  if ((spec.imagePullSecrets ?? []).length > 0 || imagePullSecrets.length === 0) return;
  spec.imagePullSecrets = imagePullSecrets.map((reference) => ({ ...reference }));
}

function rejectIf({ target }: AdmissionRequest, why: string | undefined): void {
  if (why !== undefined) throw forbidden(target, why);
}
