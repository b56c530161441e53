/** Keeps a fault in one view away from the other views. */
import { Component, type ComponentChildren } from "preact";
import { View } from "./parts.tsx";

interface State {
  readonly error: Error | null;
}

export class Boundary extends Component<{ readonly children: ComponentChildren }, State> {
  override state: State = { error: null };

  static override getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <View title="This view cannot be shown">
        <div class="notice bad" role="alert">
          <p>
            The page could not make anything of what it has. That is a fault of this program; the service's
            data are as they were.
          </p>
          <p class="small">
            <code>{error.message}</code>
          </p>
        </div>
      </View>
    );
  }
}
