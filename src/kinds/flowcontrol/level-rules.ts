import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";

interface Queuing {
  readonly queues?: number | undefined;
  readonly handSize?: number | undefined;
  readonly queueLengthLimit?: number | undefined;
}

interface LimitResponse {
  readonly type: string;
  readonly queuing?: Queuing | undefined;
}

interface Level {
  readonly type: string;
  readonly limited?: unknown;
  readonly exempt?: unknown;
}

const levelTypes = ["Exempt", "Limited"];
const responseTypes = ["Queue", "Reject"];
const maxQueues = 10_000_000;
/** Number of hash bits that shuffle sharding can use. */
const maxHashBits = 60;

/** Whether an empty type is reported as missing, and members of another type are refused for every type. */
const isStrict = applies(since("1.37"));

/** Only the level `exempt` has the type Exempt. */
export function checkLevel(
  { type, limited, exempt }: Level,
  name: string,
  report: FieldReport,
  context: KindContext,
): void {
  const later = isStrict(context);
  if ((name === "exempt") !== (type === "Exempt")) {
    report.at("type").invalid(type, "type must be 'Exempt' if and only if name is 'exempt'");
  }
  if (type === "" && later) report.at("type").required();
  else if (!levelTypes.includes(type)) report.at("type").notSupported(type, levelTypes);
  if ((type === "Exempt" || (type !== "Limited" && later)) && limited !== undefined) {
    report.at("limited").forbidden("must be nil if the type is not Limited");
  }
  if (type === "Limited" && limited === undefined) {
    report.at("limited").required("must not be empty when type is Limited");
  }
  if (type === "Limited" && exempt !== undefined) {
    report.at("exempt").forbidden("must be nil if the type is Limited");
  }
}

/** Requires queues exactly if the type is Queue. */
export function checkLimitResponse(
  { type, queuing }: LimitResponse,
  report: FieldReport,
  context: KindContext,
): void {
  const later = isStrict(context);
  if (type === "" && later) report.at("type").required();
  else if (!responseTypes.includes(type)) report.at("type").notSupported(type, responseTypes);
  if ((type === "Reject" || (type !== "Queue" && later)) && queuing !== undefined) {
    report.at("queuing").forbidden("must be nil if limited.limitResponse.type is not Queue");
  }
  if (type === "Queue" && queuing === undefined) {
    report.at("queuing").required("must not be empty if limited.limitResponse.type is Queue");
  }
}

/** Checks that the hand size is at most the number of queues, and that the hash has enough bits for it. */
export function checkQueuing(queuing: Queuing, report: FieldReport): void {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  if (queueLengthLimit <= 0) report.at("queueLengthLimit").invalid(queueLengthLimit, "must be positive");
  if (queues <= 0) report.at("queues").invalid(queues, "must be positive");
  else if (queues > maxQueues) report.at("queues").invalid(queues, `must not be greater than ${maxQueues}`);
  const hand = report.at("handSize");
  if (handSize <= 0) return hand.invalid(handSize, "must be positive");
  if (handSize > queues) return hand.invalid(handSize, `should not be greater than queues (${queues})`);
  if (Math.ceil(Math.log2(queues) * handSize) > maxHashBits) {
    hand.invalid(
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`,
    );
  }
}
