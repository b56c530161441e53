/** The console: one page for an organization's own key. Source: contract, section 7. */
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import { Waiting } from "../shared/waiting.tsx";
import { Empty, View } from "./parts.tsx";
import { Boundary } from "./boundary.tsx";
import { KEY_REFUSED, type Session, SessionContext, type ShownOnce, type SignedIn } from "./session.tsx";
import { Secrets } from "./shown_once.tsx";
import { SignIn } from "./sign_in.tsx";
import { AuditLogView } from "./views/audit_log.tsx";
import { DashboardView } from "./views/dashboard.tsx";
import { DecisionsView } from "./views/decisions.tsx";
import { KeyView } from "./views/key.tsx";
import { OperatorView } from "./views/operator.tsx";
import { OperatorsView } from "./views/operators.tsx";
import { ReplayView } from "./views/replay.tsx";
import { ReportView } from "./views/report.tsx";
import { ReportsView } from "./views/reports.tsx";
import { VerifyView } from "./views/verify.tsx";
import { WebhookView } from "./views/webhook.tsx";
import { WebhooksView } from "./views/webhooks.tsx";

const ROOT = "/console";

const VIEWS = [
  ["", "Dashboard"],
  ["/operators", "Operators"],
  ["/decisions", "Decisions"],
  ["/reports", "Reports"],
  ["/audit-log", "Audit log"],
  ["/webhooks", "Webhooks"],
  ["/key", "Key"],
  ["/verify", "Verify"],
] as const;

function Console() {
  const [signedIn, setSignedIn] = useState<SignedIn | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [secrets, setSecrets] = useState<readonly ShownOnce[]>([]);
  const [obtaining, setObtaining] = useState(0);
  const [generation, setGeneration] = useState(0);
  // A call that is under way when the key changes must be compared with the key that is then in use.
  const current = useRef<SignedIn | null>(null);
  current.current = signedIn;
  const { path } = useLocation();
  useEffect(keepStrayFiles, []);
  const isOwed = obtaining > 0 || secrets.length > 0;
  useEffect(() => {
    if (!isOwed) return;
    // The browser asks before it leaves a page that holds the only copy of a secret, or is about to.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isOwed]);

  const signOut = (why: string | null) => {
    setSignedIn(null);
    setReason(why);
  };
  const once = (
    <Secrets
      secrets={secrets}
      onKept={(kept) => setSecrets((all) => all.filter((secret) => secret !== kept))}
    />
  );
  if (signedIn === null) {
    // A visitor who verifies has a file, and need not have a key.
    const isVerifying = path === `${ROOT}/verify`;
    return (
      <>
        <Waiting />
        {once}
        {isVerifying ? <VerifyView reason={reason} /> : <SignIn reason={reason} onSignedIn={setSignedIn} />}
      </>
    );
  }
  const session: Session = {
    signedIn,
    generation,
    takeKey: (key, old) => setSignedIn((before) => before?.key === old ? { ...before, key } : before),
    refuse(key) {
      if (current.current?.key === key) signOut(KEY_REFUSED);
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
  return (
    <SessionContext.Provider value={session}>
      <Views
        path={path}
        organization={signedIn.organization}
        onRefresh={() => setGeneration(generation + 1)}
        onSignOut={isOwed ? null : () => signOut(null)}
      />
      <Waiting />
      {once}
      <Boundary key={path}>{isReadable(path) ? <Places /> : <NothingView />}</Boundary>
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
      <Route path={ROOT} component={DashboardView} />
      <Route path={`${ROOT}/operators`} component={OperatorsView} />
      <Route path={`${ROOT}/operators/:id`} component={OperatorView} />
      <Route path={`${ROOT}/decisions`} component={DecisionsView} />
      <Route path={`${ROOT}/decisions/:id`} component={ReplayView} />
      <Route path={`${ROOT}/reports`} component={ReportsView} />
      <Route path={`${ROOT}/reports/:id`} component={ReportView} />
      <Route path={`${ROOT}/audit-log`} component={AuditLogView} />
      <Route path={`${ROOT}/webhooks`} component={WebhooksView} />
      <Route path={`${ROOT}/webhooks/:id`} component={WebhookView} />
      <Route path={`${ROOT}/key`} component={KeyView} />
      <Route path={`${ROOT}/verify`} component={VerifyView} />
      <Route default component={NothingView} />
    </Router>
  );
}

function Views({ path, organization, onRefresh, onSignOut }: {
  readonly path: string;
  readonly organization: string;
  readonly onRefresh: () => void;
  /** null while something is shown once: it would be lost. */
  readonly onSignOut: (() => void) | null;
}) {
  const isOpen = (view: string) =>
    view === "" ? path === ROOT : path === ROOT + view || path.startsWith(`${ROOT + view}/`);
  return (
    <nav class="views" aria-label="Console">
      <ul>
        {VIEWS.map(([view, label]) => (
          <li key={view}>
            <a href={ROOT + view} aria-current={isOpen(view) ? "page" : undefined}>{label}</a>
          </li>
        ))}
      </ul>
      <div class="who">
        <bdi>{organization}</bdi>
        <button type="button" class="link" onClick={onRefresh}>Refresh</button>
        <button
          type="button"
          class="link"
          disabled={onSignOut === null}
          title={onSignOut === null ? "First keep what is shown once" : undefined}
          onClick={() => onSignOut?.()}
        >
          Sign out
        </button>
      </div>
    </nav>
  );
}

function NothingView() {
  return (
    <View title="There is nothing here">
      <Empty>
        <p>
          The console has no such view. Go to the <a href={ROOT}>dashboard</a>.
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
