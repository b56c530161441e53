/** All pages in Debian's Firefox ESR, through WebDriver BiDi. */
import { testEngine } from "./engines.ts";
import { FIREFOX } from "./firefox.ts";

testEngine(FIREFOX);
