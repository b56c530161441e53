/**
 * Pseudonyms for people: where the installation asks for it, a user's session sees and sends pseudonyms in the place of
 * operators' ids. Requests and replies are translated here and nowhere else. A key is of a program, which sends the ids
 * itself, and is not concerned. Source: oversight-loop design, section 6.
 */
import { type ErrorDetail, ServiceError } from "../domain/errors.ts";
import { operatorOf, pseudonymsOf } from "../operations/shared/pseudonyms.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { type Asked, validationFailed } from "./parse.ts";
import type { Reply } from "./reply.ts";

/** The member, the parameter and the part of a path that hold an operator's id. */
const MEMBER = "operator_id";

/** Stands for an operator who has no pseudonym any more. */
const ERASED = "erased";

/** The parts of a request that can name an operator. */
interface Named {
  readonly path: Readonly<Record<string, string>>;
  readonly request: Asked;
  readonly json: unknown;
}

/** The translation of one request of a user, and of its reply. */
export class Pseudonyms {
  readonly #dependencies: Dependencies;
  readonly #orgId: string;
  /** By the id of an operator whom the request names, the pseudonym by which it does. */
  readonly #named = new Map<string, string>();

  constructor(dependencies: Dependencies, orgId: string) {
    this.#dependencies = dependencies;
    this.#orgId = orgId;
  }

  /**
   * The request with ids in the place of pseudonyms. An id itself is refused like any other unknown pseudonym, so that nobody
   * learns by a guess which pseudonym a person has.
   * @throws {ServiceError} NOT_FOUND, VALIDATION_FAILED.
   */
  async request({ path, request, json }: Named): Promise<Named> {
    return {
      path: MEMBER in path ? { ...path, [MEMBER]: await this.#inPath(path[MEMBER]!) } : path,
      request: await this.#inQuery(request),
      json: await this.#inBody(json),
    };
  }

  async #inPath(pseudonym: string): Promise<string> {
    const id = await this.#idOf(pseudonym);
    if (id !== null) return id;
    throw new ServiceError("NOT_FOUND", `No operator has the pseudonym ${pseudonym}: check it.`);
  }

  async #inQuery(request: Asked): Promise<Asked> {
    const url = new URL(request.url);
    const given = url.searchParams.getAll(MEMBER);
    if (given.length === 0) return request;
    url.searchParams.delete(MEMBER);
    for (const pseudonym of given) {
      url.searchParams.append(MEMBER, pseudonym === "" ? "" : await this.#required(pseudonym));
    }
    return { url: url.href, headers: request.headers };
  }

  async #inBody(json: unknown): Promise<unknown> {
    if (typeof json !== "object" || json === null || !Object.hasOwn(json, MEMBER)) return json;
    const { [MEMBER]: given } = json as Record<string, unknown>;
    return typeof given === "string" ? { ...json, [MEMBER]: await this.#required(given) } : json;
  }

  async #required(pseudonym: string): Promise<string> {
    const id = await this.#idOf(pseudonym);
    if (id !== null) return id;
    throw validationFailed([{ path: MEMBER, message: "must be the pseudonym of an operator" }]);
  }

  async #idOf(pseudonym: string): Promise<string | null> {
    const id = await operatorOf(this.#dependencies, this.#orgId, pseudonym);
    if (id !== null) this.#named.set(id, pseudonym);
    return id;
  }

  /** The name under which an answer shows an operator whom the request named. */
  shown(operatorId: string): string {
    return this.#named.get(operatorId) ?? ERASED;
  }

  /** Rows by a figure, the highest first, and not by the id if it is the same: that would tell how the ids are ordered. */
  async ordered<Row extends { readonly operator_id: string }>(
    rows: readonly Row[],
    figureOf: (row: Row) => number,
  ): Promise<Row[]> {
    const known = await pseudonymsOf(
      this.#dependencies,
      this.#orgId,
      rows.map(({ operator_id }) => operator_id),
    );
    const shown = ({ operator_id }: Row) => known.get(operator_id) ?? ERASED;
    return rows.toSorted((one, other) =>
      figureOf(other) - figureOf(one) || (shown(one) < shown(other) ? -1 : 1)
    );
  }

  /**
   * The reply with pseudonyms in the place of ids.
   * @throws {TypeError} if the reply is no JSON and does not say that it names no operator.
   */
  async reply(reply: Reply): Promise<Reply> {
    if ("text" in reply || "pieces" in reply) {
      if (reply.namesNoOperator) return reply;
      throw new TypeError("a reply that may name operators must not be sent where they are pseudonyms");
    }
    if ("json" in reply) {
      const { json, ...rest } = reply;
      return { ...rest, body: await this.#body(JSON.parse(json)) };
    }
    return { ...reply, body: await this.#body(reply.body) };
  }

  async #body(body: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const ids = new Set<string>();
    mapped(body, (id) => {
      ids.add(id);
      return id;
    });
    const known = await pseudonymsOf(this.#dependencies, this.#orgId, ids);
    return mapped(body, (id) => known.get(id) ?? ERASED) as Record<string, unknown>;
  }

  /** The error with pseudonyms in the place of the ids that the request led to. */
  error(error: ServiceError): ServiceError {
    const { code, message, status, headers, details } = error;
    const shown = Array.isArray(details)
      ? details.map((detail: ErrorDetail) => ({ ...detail, message: this.#inText(detail.message) }))
      : details;
    return new ServiceError(code, this.#inText(message), {
      status,
      headers,
      ...(shown === undefined ? {} : { details: shown }),
    });
  }

  #inText(text: string): string {
    // An id consists of these characters: the whole word is replaced, and no part of another.
    const asWord = (id: string) => new RegExp(`(?<![\\w-])${id}(?![\\w-])`, "g");
    return [...this.#named].reduce((left, [id, pseudonym]) => left.replace(asWord(id), pseudonym), text);
  }
}

/**
 * A JSON value with each operator's id replaced. An evidence block of an entry about a person loses its salt: with it, anybody
 * could try which id leads to the commitment.
 */
function mapped(value: unknown, replace: (id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => mapped(one, replace));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== "salt" || !isAboutPerson(value));
  const isOfId = (value as { path?: unknown }).path === MEMBER;
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      typeof member === "string" && (name === MEMBER || (isOfId && COMPARED.has(name)))
        ? replace(member)
        : mapped(member, replace),
    ]),
  );
}

/** The members of a difference that hold the values of its path. */
const COMPARED = new Set(["recorded", "replayed"]);

function isAboutPerson(block: object): boolean {
  const { entry } = block as { entry?: { subject?: unknown } };
  return typeof entry === "object" && entry !== null && typeof entry.subject === "string";
}
