/** The service's name and the version of its interface. */

export const SERVICE_NAME = "jiss";

/** Version of the interface, in the OpenAPI document and `GET /v1`; the program has a version of its own. */
export const API_VERSION = "1.11.0";
