/** The console: one page for an organization's own key. Source: contract, section 7. */
import { render } from "preact";
import { useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import { Waiting } from "../shared/waiting.tsx";
import { Empty, View } from "./parts.tsx";
import { SessionContext, type SignedIn } from "./session.tsx";
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
  const { path } = useLocation();
  const signOut = (why: string | null) => {
    setSignedIn(null);
    setReason(why);
  };
  if (signedIn === null) {
    // Whoever verifies has a file, and need not have a key.
    const isVerifying = path === `${ROOT}/verify`;
    return (
      <>
        <Waiting />
        {isVerifying ? <VerifyView /> : <SignIn reason={reason} onSignedIn={setSignedIn} />}
      </>
    );
  }
  const takeKey = (key: string) => setSignedIn({ ...signedIn, key });
  return (
    <SessionContext.Provider value={{ signedIn, takeKey, signOut }}>
      <Views path={path} organization={signedIn.organization} signOut={() => signOut(null)} />
      <Waiting />
      {isReadable(path) ? <Places /> : <NothingView />}
    </SessionContext.Provider>
  );
}

/** The router cannot read an address whose percent signs stand for nothing, and throws. */
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

function Views({ path, organization, signOut }: {
  readonly path: string;
  readonly organization: string;
  readonly signOut: () => void;
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
        <span data-organization>{organization}</span>
        <button type="button" class="link" onClick={signOut}>Sign out</button>
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
