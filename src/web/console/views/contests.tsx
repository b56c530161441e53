/** What reviewers contest, newest first. */
import { useLocation } from "preact-iso";
import { ContestRows } from "../contest_rows.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import type { Contests } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/contests";
const PAGE = "50";

export function ContestsView() {
  const { query: { cursor = "" } } = useLocation();
  const asked = useAnswer<Contests>({ path: addressOf("/v1/contests", { cursor, limit: PAGE }) });
  return (
    <View title="Contests">
      <p>
        Reviewers write them on their own pages. Each is an entry of the chain; a person must look at it. A
        link to such a page is issued in the reviewer's view.
      </p>
      <Answered asked={asked}>
        {({ contests, next_cursor: next }) =>
          contests.length === 0 && next === null
            ? (
              <Empty>
                <p>{cursor === "" ? "Nobody has contested anything." : "That is all."}</p>
              </Empty>
            )
            : (
              <>
                <ContestRows contests={contests} />
                <Pages path={PATH} query={cursor === "" ? {} : { cursor }} next={next} />
              </>
            )}
      </Answered>
    </View>
  );
}
