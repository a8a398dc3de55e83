import { explanationText } from "../../authorization/reviews/explanation-text.ts";
import type { ExplanationStatus } from "../../authorization/reviews/explanation.ts";
import { actionOf, askInsight, subjectOf, type AuthAnswer, type AuthContext } from "./question.ts";

/** `plinth auth why USER VERB RESOURCE [NAME]`: posts an AccessExplanation. */
export async function why([user, ...words]: readonly string[], context: AuthContext): Promise<AuthAnswer> {
  const subject = subjectOf(user, context);
  const action = actionOf(words, context);
  const object = await askInsight(context, "AccessExplanation", "accessexplanations", {
    ...subject,
    ...action.spec,
  });
  const status = object["status"] as ExplanationStatus;
  return { object, text: explanationText(status, subject, action.text) + action.notes };
}
