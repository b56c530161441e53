/** Browsers in words. */
import assert from "node:assert/strict";
import { browserInWords } from "../../src/web/console/browser_words.ts";

const ENGINE = "AppleWebKit/537.36 (KHTML, like Gecko)";

Deno.test("a well-known browser has its name and its system's, and any other stays as it is", () => {
  for (
    const [agent, words] of [
      [`Mozilla/5.0 (X11; Linux x86_64) ${ENGINE} HeadlessChrome/141.0.0.0 Safari/537.36`, "Chrome on Linux"],
      [
        `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${ENGINE} Chrome/141.0 Safari/537.36 Edg/141.0`,
        "Edge on Windows",
      ],
      [
        `Mozilla/5.0 (Linux; Android 10; K) ${ENGINE} Chrome/141.0.0.0 Mobile Safari/537.36`,
        "Chrome on Android",
      ],
      ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
      [
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
        "Safari on macOS",
      ],
      [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
        "Safari on iPhone",
      ],
      ["curl/8.5.0", "curl/8.5.0"],
      ["Chrome/1", "Chrome/1"],
    ] as const
  ) assert.equal(browserInWords(agent), words);
});
