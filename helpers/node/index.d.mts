/** The server did not start, is not reachable, or refused an operation. */
export class GarthError extends Error {}

export interface StartOptions {
  /** The path of the binary. Otherwise it is that of the variable GARTH_BINARY, or garth on the PATH. */
  binary?: string;
  /** Additional arguments of `garth serve`, such as `['--chaos=light']`. */
  arguments?: string[];
}

/**
 * Starts a server with an empty temporary store on a free port of 127.0.0.1. It ends with `stop()`, or with the process.
 * Environment variables that begin with GARTH_ do not change the settings of the server.
 */
export function startGarth(options?: StartOptions): Promise<Server>;

/** Uses a server that already runs with `--test-control`, such as `http://127.0.0.1:8080`. */
export function connectGarth(url: string): Promise<Server>;

/** A running server with test control. */
export interface Server {
  /** The address without a path. */
  readonly url: string;
  /** The address for clients; it ends with `/v4`. */
  readonly apiUrl: string;
  /** The token of the user `admin`. It is undefined after `connectGarth`. */
  readonly token: string | undefined;
  /** Stops the server and deletes its store, if `startGarth` started it. `await using` calls it, too. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** Creates an account with an unrestricted user and a token with all scopes. */
  tenant(): Promise<Tenant>;
  /** Returns to the store of a first start. Deletes all tenants. */
  reset(): Promise<void>;
  /** Stores all rows in the memory of the server. An existing snapshot with this name is replaced. */
  snapshot(name?: string): Promise<Snapshot>;
  /** Replaces all rows with those of a snapshot. */
  restore(name: string): Promise<void>;
  /** The time of the server. */
  now(): Promise<Date>;
  /** Stops the clock, at this time or at the current one. A text such as `2024-06-01T12:00:00` is in UTC. */
  freeze(now?: Date | string): Promise<Date>;
  /** Lets a frozen clock run on from its time. */
  unfreeze(): Promise<void>;
  /** Advances the clock and waits for the jobs that become due. */
  advance(seconds: number): Promise<Date>;
  /** Lets the next matching requests fail. Earlier rules have precedence. */
  failNext(fault: Fault & { account?: number }): Promise<void>;
  /** The rules for failures, with the remaining number of requests. */
  faults(): Promise<Array<Record<string, unknown>>>;
  /** Deletes all rules for failures. */
  clearFaults(): Promise<void>;
  /** The requests that clients sent, newest last. */
  requests(): Promise<RecordedRequest[]>;
  /** Deletes the recorded requests. */
  clearRequests(): Promise<void>;
  /** Changes limits, such as `{ 'quota.vpcs_per_region': 3 }`. `null` restores the value of the server. */
  changeSettings(settings: Record<string, unknown>): Promise<void>;
}

/** An account that no other test sees, with a user and a token. */
export interface Tenant {
  readonly url: string;
  readonly apiUrl: string;
  readonly accountId: number;
  readonly username: string;
  readonly token: string;
  /** Like `failNext` of the server, but only for requests of this account. */
  failNext(fault: Fault): Promise<void>;
}

/** Rows in the memory of the server. */
export interface Snapshot {
  readonly name: string;
  /** Replaces all rows. Rows and tokens that are newer than the snapshot are deleted. */
  restore(): Promise<void>;
  delete(): Promise<void>;
}

/** Which requests fail, and how. */
export interface Fault {
  method?: string;
  /** A path without `/v4`, in which `*` stands for one segment. */
  path?: string;
  /** An `operationId` of the API description. */
  operation?: string;
  /** The number of requests; 1 if not set, `Infinity` for all. */
  times?: number;
  probability?: number;
  /** The request has no effect, and the response has this status. */
  status?: number;
  /** The connection is closed before or after the commit. */
  drop?: 'before' | 'after';
  delayMs?: number;
  /** The connection is closed after this number of bytes of the body. */
  truncate?: number;
}

export interface RecordedRequest {
  method: string;
  path: string;
  /** `null` if the connection was dropped. */
  status: number | null;
  /** The `operationId`, or `null` if the path belongs to no operation. */
  operation: string | null;
  /** The account of the token, or `null` without a valid token of an account. */
  account_id: number | null;
  /** Whether the server let the request fail. */
  fault: boolean;
}
