/** The successful answers of handlers, before they are rendered. */
import type { Call } from "../operations/shared/call.ts";

/** A successful answer. */
export type Reply = JsonReply | WrittenReply | TextReply | StreamReply;

/** The envelope's `request_id` and `timestamp` are added when it is rendered. */
interface JsonReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The call that was answered first, if this one repeats it. */
  readonly call?: Call;
  readonly replayed?: boolean;
  /** Whether the body is a standard document: it carries no envelope. */
  readonly document?: boolean;
}

/** A reply whose body is serialized already, without the envelope. */
interface WrittenReply extends Pick<JsonReply, "status" | "call" | "replayed"> {
  /** The JSON text of an object. */
  readonly json: string;
}

/** A reply whose body is not JSON: a picture or a page. */
interface TextReply {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
  /** Whether nothing of it names an operator, so that a user may have it where operators are pseudonyms. */
  readonly namesNoOperator?: boolean;
}

/** A document of any length that is sent while it is made; it is cut short if making it fails. */
export interface StreamReply {
  readonly status: number;
  readonly pieces: AsyncGenerator<string>;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its Content-Security-Policy, if it is a page. */
  readonly policy?: string;
  /** As in {@link TextReply}. */
  readonly namesNoOperator?: boolean;
}
