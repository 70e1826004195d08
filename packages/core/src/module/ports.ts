/**
 * What modules offer each other. A module provides a port in its contribution and others ask for it
 * by name; commercial packages meet here and nowhere else.
 */
export interface Ports {
  /** Measured spend in place of the ledger's own totals. */
  readonly spendSource: SpendSource
  /** Stops and releases single agents. */
  readonly agentSwitch: AgentSwitch
}

/** A window of spend: a UTC calendar day (`2026-11-20`) or month (`2026-11`). */
export interface SpendQuery {
  readonly orgId: string
  readonly agentId: string
  readonly window: string
}

/** Where spend is read from when it is not the ledger. */
export interface SpendSource {
  /** USD spent in the window, a finite number of at least 0. A rejection or an aborted signal denies. */
  spent(query: SpendQuery, signal: AbortSignal): Promise<number>
}

/** The operator's emergency stop of an agent. */
export interface AgentSwitch {
  suspend(orgId: string, agentId: string, reason: string): Promise<void>
  resume(orgId: string, agentId: string): Promise<void>
}
