import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Decision, ResourceAction } from "../api/access.ts";
import { reportBug } from "./bugs.ts";
import { reviews, serverReviews } from "./session.ts";

/** Interval of repeated reviews. With the time for which answers are reused, a revoked right is noticed within three seconds. */
const intervalMs = 2000;

/**
 * Returns whether the user may do something; undefined until it is known. It is reviewed again every few seconds.
 *
 * @param isOnServer whether the action is on the server itself, also while a workspace is shown.
 */
export function useAccess(action: ResourceAction, isOnServer = false): ReadonlySignal<Decision | undefined> {
  const source = isOnServer ? serverReviews : reviews;
  const decision = useSignal<Decision | undefined>(undefined);
  const key = JSON.stringify(action);
  useEffect(() => {
    let isOpen = true;
    const ask = () => {
      if (document.hidden) return;
      source.value
        .may(action)
        .then((answer) => {
          const { value: before } = decision;
          if (isOpen && (before?.allowed !== answer.allowed || before.reason !== answer.reason)) {
            decision.value = answer;
          }
        })
        .catch(reportBug);
    };
    decision.value = undefined;
    ask();
    const timer = setInterval(ask, intervalMs);
    return () => {
      isOpen = false;
      clearInterval(timer);
    };
  }, [key, source.value]);
  return decision;
}
