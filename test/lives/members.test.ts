import { members } from "./corpora.ts";
import { suiteOf } from "./suite.ts";

suiteOf(members);
