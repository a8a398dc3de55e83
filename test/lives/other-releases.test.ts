import { asked, lives, members } from "./corpora.ts";
import { suiteOf } from "./suite.ts";

for (const corpus of [asked, lives, members]) suiteOf(corpus, "1.37");
