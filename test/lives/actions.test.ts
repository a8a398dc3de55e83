import { asked } from "./corpora.ts";
import { suiteOf } from "./suite.ts";

suiteOf(asked);
