import { effort } from "../../support/effort.ts";
import { auditGroups } from "./audit-rows.ts";
import { describeFlags } from "./describe-flags.ts";
import { files } from "./files.ts";

// In short both backends don't show the flags that they gather events by in the same way: the log alone does.
const isShown = (name: string) => effort(!name.startsWith("audit-webhook: "), true);

files.restore();
describeFlags((await auditGroups()).filter(({ name }) => isShown(name)));
