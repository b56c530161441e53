/** The key, the filter and the contents, beside the reference, or above it if there is little room. */
import type { Group, Operation } from "./document.ts";
import { SECTIONS } from "./introduction.tsx";

interface ToolsProps {
  readonly apiKey: string;
  readonly onKey: (apiKey: string) => void;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly shown: number;
  readonly all: number;
}

export function Tools({ apiKey, onKey, filter, onFilter, shown, all }: ToolsProps) {
  return (
    <form class="tools" autocomplete="off" onSubmit={(event) => event.preventDefault()}>
      <div class="field">
        <label for="api-key">Key for examples</label>
        <input
          id="api-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="api-key-hint"
          value={apiKey}
          onInput={(event) => onKey(event.currentTarget.value.trim())}
        />
        <p class="hint" id="api-key-hint">Stays in this tab's memory; gone when the page is.</p>
      </div>
      <div class="field">
        <label for="filter">Filter operations</label>
        <input
          id="filter"
          type="search"
          autocomplete="off"
          value={filter}
          onInput={(event) => onFilter(event.currentTarget.value)}
        />
        <p class="hint" role="status">
          {filter.trim() === "" ? `${all} operations` : `${shown} of ${all} operations`}
        </p>
      </div>
    </form>
  );
}

/** Window width with room for two columns. */
const WIDE = "(min-width: 64rem)";

export function Contents(
  { groups, isShown }: {
    readonly groups: readonly Group[];
    readonly isShown: (operationId: string) => boolean;
  },
) {
  const isListed = ({ method, operationId }: Operation) => method !== "OPTIONS" && isShown(operationId);
  return (
    <nav aria-label="On this page">
      <details class="contents" open={matchMedia(WIDE).matches}>
        <summary>On this page</summary>
        <ul>
          {SECTIONS.map(([id, title]) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ul>
        {groups.filter(({ operations }) => operations.some((one) => isShown(one.operationId))).map((
          { id, name, operations },
        ) => (
          <ul key={id} class="group">
            <li>
              <a href={`#${id}`}>{name}</a>
            </li>
            {operations.filter(isListed).map(({ operationId, summary }) => (
              <li key={operationId}>
                <a href={`#${operationId}`}>{summary}</a>
              </li>
            ))}
          </ul>
        ))}
        <ul class="group">
          <li>
            <a href="#webhooks">Webhooks</a>
          </li>
        </ul>
      </details>
    </nav>
  );
}
