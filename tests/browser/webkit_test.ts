/** All pages in WebKitGTK, through its own WebDriver. */
import { testEngine } from "./engines.ts";
import { WEBKIT } from "./webkit.ts";

testEngine(WEBKIT);
