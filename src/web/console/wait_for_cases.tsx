/** The time between a verdict and its case: the service looks for new cases once an hour. */
import { BELOW_PATH } from "./state_line.tsx";
import { useSession } from "./session.tsx";

/** Says how many are below the threshold while no case is open, and until when the cases come. */
export function WaitForCases({ below }: { readonly below: number }) {
  const { signedIn: { user } } = useSession();
  return (
    <p>
      <a href={BELOW_PATH}>{below} {below === 1 ? "is" : "are"} below the threshold</a>; the service opens
      {" "}
      {below === 1 ? "the case" : "their cases"}{" "}
      within an hour, but none in the 30 days after such a case ended
      {user === null && ", and none while nobody has an account that works on cases"}.
    </p>
  );
}
