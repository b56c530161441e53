/** The console: one page for an organization's users, or its own key. Source: contract, section 7. */
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import type { Role } from "../../domain/access.ts";
import { ApiError, call } from "../shared/api.ts";
import { announceWait, Waiting } from "../shared/waiting.tsx";
import { ConnectionBar } from "./connection_bar.tsx";
import { forgetCounts } from "./counts.ts";
import { EmptyFrame, Frame } from "./frame.tsx";
import { Empty, Loading, View } from "./parts.tsx";
import { Boundary } from "./boundary.tsx";
import { LinkView, takeLinkToken } from "./link.tsx";
import { type Entry, entryOf, mayOpen, menuOf, ROOT } from "./menu.ts";
import {
  KEY_REFUSED,
  mayHaveSession,
  rememberSession,
  type Session,
  SESSION_OVER,
  SessionContext,
  type ShownOnce,
  type SignedIn,
  signedInAs,
  useCaller,
  useSession,
} from "./session.tsx";
import { Secrets } from "./shown_once.tsx";
import { SignIn } from "./sign_in.tsx";
import type { Me, SignedOut } from "./types.ts";
import { AccountView } from "./views/account.tsx";
import { AlertsView } from "./views/alerts.tsx";
import { AuditLogView } from "./views/audit_log.tsx";
import { CaseView } from "./views/case.tsx";
import { CasesView } from "./views/cases.tsx";
import { ContestsView } from "./views/contests.tsx";
import { DecisionsView } from "./views/decisions.tsx";
import { ExerciseSheetView } from "./views/exercise_sheet.tsx";
import { HomeView } from "./views/home.tsx";
import { KeyView } from "./views/key.tsx";
import { LabelsView } from "./views/labels.tsx";
import { OperatorView } from "./views/operator.tsx";
import { OperatorsView } from "./views/operators.tsx";
import { ReplayView } from "./views/replay.tsx";
import { ReportView } from "./views/report.tsx";
import { ReportsView } from "./views/reports.tsx";
import { TrendsView } from "./views/trends.tsx";
import { UsersView } from "./views/users.tsx";
import { VerifyView } from "./views/verify.tsx";
import { WebhookView } from "./views/webhook.tsx";
import { WebhooksView } from "./views/webhooks.tsx";

function Console() {
  const [signedIn, setSignedIn] = useState<SignedIn | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [secrets, setSecrets] = useState<readonly ShownOnce[]>([]);
  const [obtaining, setObtaining] = useState(0);
  const [generation, setGeneration] = useState(0);
  // A call that is under way when the key changes must be compared with the key that is then in use.
  const current = useRef<SignedIn | null>(null);
  current.current = signedIn;
  const { path, route } = useLocation();
  useEffect(keepStrayFiles, []);
  // The identity provider has just sent the browser back, signed in: the address becomes that of the console.
  const isBackFromProvider = path === `${ROOT}/signed-in`;
  useEffect(() => {
    if (isBackFromProvider) route(ROOT, true);
  }, [isBackFromProvider]);
  const isOwed = obtaining > 0 || secrets.length > 0;
  useEffect(() => {
    if (!isOwed) return;
    // The browser asks before it leaves a page that holds the only copy of a secret, or is about to.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isOwed]);

  const signOut = (why: string | null) => {
    if (current.current?.key === null) rememberSession(false);
    forgetCounts();
    setSignedIn(null);
    setReason(why);
  };
  const signInAs = (signed: SignedIn) => {
    setReason(null);
    if (signed.key === null) rememberSession(true);
    setSignedIn(signed);
  };
  // A reload keeps a user's session, since its cookie outlives the page.
  const [isResuming, setResuming] = useState(() => mayHaveSession() || isBackFromProvider);
  useEffect(() => {
    if (!isResuming) return;
    call<Me>({ path: "/v1/me", withSession: true }, { onWait: announceWait })
      .then((me) => signInAs(signedInAs(me)), (error) => {
        if (error instanceof ApiError && error.status === 401) rememberSession(false);
        if (!(error instanceof ApiError)) throw error;
      })
      .finally(() => setResuming(false));
  }, []);
  const once = (
    <Secrets
      secrets={secrets}
      onKept={(kept) => setSecrets((all) => all.filter((secret) => secret !== kept))}
    />
  );
  // A visitor who verifies has a file, and need not have a key.
  const isVerifying = signedIn === null && path === `${ROOT}/verify`;
  useEffect(() => {
    // The service draws the site's header, and does not know which view the page shows.
    for (const [path, isHere] of [[ROOT, !isVerifying], [`${ROOT}/verify`, isVerifying]] as const) {
      const link = document.querySelector(`.site nav a[href="${path}"]`);
      if (isHere) link?.setAttribute("aria-current", "page");
      else link?.removeAttribute("aria-current");
    }
  }, [isVerifying]);
  if (signedIn === null) {
    const isLink = path === `${ROOT}/link`;
    return (
      <>
        <Waiting />
        {once}
        {isVerifying
          ? <VerifyView reason={reason} />
          : isLink
          ? <LinkView onSignedIn={signInAs} />
          : isResuming
          ? (
            <EmptyFrame>
              <main id="main">
                <Loading />
              </main>
            </EmptyFrame>
          )
          : <SignIn reason={reason} onSignedIn={signInAs} />}
      </>
    );
  }
  const session: Session = {
    signedIn,
    generation,
    takeKey: (key, old) => setSignedIn((before) => before?.key === old ? { ...before, key } : before),
    refuse(key, why = key === null ? SESSION_OVER : KEY_REFUSED) {
      if (current.current?.key === key) signOut(why);
    },
    signOut: isOwed ? null : () => {
      if (signedIn.key !== null) return signOut(null);
      // The cookie is taken back by the service; if it cannot be reached, the session stays open there.
      call<SignedOut>({ method: "POST", path: "/v1/sign-out", withSession: true }).then(
        ({ provider_logout_url }) => {
          signOut(null);
          if (provider_logout_url !== null) location.assign(provider_logout_url);
        },
        () => signOut(NOT_SIGNED_OUT),
      );
    },
    async obtain(act) {
      setObtaining((count) => count + 1);
      try {
        const secret = await act();
        setSecrets((all) => [...all, secret]);
      } finally {
        setObtaining((count) => count - 1);
      }
    },
  };
  const entry = entryOf(path);
  return (
    <SessionContext.Provider value={session}>
      <Frame
        path={path}
        root={ROOT}
        entries={menuOf(signedIn)}
        signedIn={signedIn}
        onRefresh={() => setGeneration(generation + 1)}
        onSignOut={session.signOut}
      >
        <ConnectionBar />
        <Waiting />
        {once}
        <Boundary key={path}>
          {!isReadable(path) ? <NothingView /> : entry !== null && !mayOpen(signedIn, entry)
            ? (
              <ClosedView
                entry={entry}
                role={signedIn.user!.role}
                onMe={(me) => setSignedIn((before) => before?.key === null ? signedInAs(me) : before)}
              />
            )
            : <Places />}
        </Boundary>
      </Frame>
    </SessionContext.Provider>
  );
}

/** Ignores a file that is dropped outside its field: the browser would leave the page, and lose the key. */
function keepStrayFiles(): () => void {
  const prevent = (event: DragEvent) => event.preventDefault();
  addEventListener("dragover", prevent);
  addEventListener("drop", prevent);
  return () => {
    removeEventListener("dragover", prevent);
    removeEventListener("drop", prevent);
  };
}

/** True if the router can read the address: it throws on a malformed percent escape. */
function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function Places() {
  return (
    <Router>
      <Route path={ROOT} component={HomeView} />
      <Route path={`${ROOT}/operators`} component={OperatorsView} />
      <Route path={`${ROOT}/trends`} component={TrendsView} />
      <Route path={`${ROOT}/operators/:id`} component={OperatorView} />
      <Route path={`${ROOT}/operators/:id/sheets/:exercise`} component={ExerciseSheetView} />
      <Route path={`${ROOT}/decisions`} component={DecisionsView} />
      <Route path={`${ROOT}/decisions/:id`} component={ReplayView} />
      <Route path={`${ROOT}/labels`} component={LabelsView} />
      <Route path={`${ROOT}/reports`} component={ReportsView} />
      <Route path={`${ROOT}/reports/:id`} component={ReportView} />
      <Route path={`${ROOT}/cases`} component={CasesView} />
      <Route path={`${ROOT}/cases/:id`} component={CaseView} />
      <Route path={`${ROOT}/alerts`} component={AlertsView} />
      <Route path={`${ROOT}/contests`} component={ContestsView} />
      <Route path={`${ROOT}/audit-log`} component={AuditLogView} />
      <Route path={`${ROOT}/webhooks`} component={WebhooksView} />
      <Route path={`${ROOT}/webhooks/:id`} component={WebhookView} />
      <Route path={`${ROOT}/users`} component={UsersView} />
      <Route path={`${ROOT}/key`} component={KeyView} />
      <Route path={`${ROOT}/account`} component={AccountView} />
      <Route path={`${ROOT}/link`} component={SignedInAlreadyView} />
      <Route path={`${ROOT}/verify`} component={VerifyView} />
      <Route default component={NothingView} />
    </Router>
  );
}

const NOT_SIGNED_OUT =
  "The service could not be reached, so the session goes on there until it ends by time. Sign in again to end it.";

/** A one-time link that was opened while somebody is signed in: it is not used up. */
function SignedInAlreadyView() {
  const [token] = useState(takeLinkToken);
  const { signOut, signedIn: { user, organization } } = useSession();
  return (
    <View title="You are signed in">
      <Empty>
        <p>
          As <bdi>{user?.name ?? organization}</bdi>. The link was not used. Sign out first to use it, or go
          {" "}
          <a href={ROOT}>home</a>.
        </p>
        <p>
          <button type="button" disabled={signOut === null} onClick={() => signOut?.()}>
            {token === "" ? "Sign out" : "Sign out and open the link"}
          </button>
        </p>
      </Empty>
    </View>
  );
}

/**
 * Stands in place of a view that the role may not use: the view's calls would be refused. It asks for the role once, since an
 * admin may have changed it since the sign-in.
 */
function ClosedView({ entry, role, onMe }: {
  readonly entry: Entry;
  readonly role: Role;
  readonly onMe: (me: Me) => void;
}) {
  const caller = useCaller();
  useEffect(() => {
    caller.json<Me>({ path: "/v1/me" }).then(onMe, (error) => {
      if (!(error instanceof ApiError)) throw error;
    });
  }, []);
  return (
    <View title={entry.label}>
      <Empty>
        <p>Your role, {role}, does not open this view. Ask an admin.</p>
      </Empty>
    </View>
  );
}

function NothingView() {
  return (
    <View title="There is nothing here">
      <Empty>
        <p>
          The console has no such view. Go <a href={ROOT}>home</a>.
        </p>
      </Empty>
    </View>
  );
}

const place = document.querySelector("#app")!;
place.replaceChildren();
render(
  <LocationProvider scope={ROOT}>
    <Console />
  </LocationProvider>,
  place,
);
